#pragma once
/// How all formats spell figures and changes.
#include <string>

#include "compare/comparison.h"

namespace perfc::words {

std::string base(const FigureChange&);  ///< "20.1 ms"; "–" where there is none
std::string head(const FigureChange&);
std::string percent(double relative);         ///< "+7.2 %"
std::string relative(const FigureChange&);    ///< "+7.2 %", "=" where equal, "" where there is no such number
std::string interval(const FigureChange&);    ///< "+5.9 … +8.5 %"; "" where nothing is uncertain
std::string step(const FigureChange&);        ///< "20.1 ms → 21.5 ms, +7.2 % (90 %: +5.9 … +8.5 %)"
std::string verdict(const FigureChange&);     ///< "worse", "within the error of the difference"
std::string us(double);                       ///< a step in time: "+12.3 µs", "+1.23 ms"
std::string signed_count(double);             ///< "+1.2M"; "" where 0
std::string heading(const ModelComparison&);  ///< "batch 32, PyTorch eager, amp nchw"
/// "a, b, … and 3 more"
std::string names(const Change&, std::size_t most);
/// What the changes of a model do not list: "unchanged operators".
double unchanged_step_us(const OnDevice&);

}  // namespace perfc::words
