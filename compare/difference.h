#pragma once
/// How uncertain the difference of two predictions is. Errors of two versions of one model on one device are nearly
/// equal and cancel, the more the less of the time changed (studies/differences.py fits and judges; docs/judged.md).
#include "compare/comparison.h"

namespace perfc {

/// Half the 90 % interval of ln(head ÷ base) of latency. `changed_share`: of the time, in operators that differ.
double latency_difference_width(const FiguresOf& base, const FiguresOf& head, double changed_share);
/// The same of energy: power's error is shared like the time's.
double energy_difference_width(const FiguresOf& base, const FiguresOf& head, double changed_share);
/// What the half 99 % interval of either has beside that of 90 %, in squares.
double difference_tail(double changed_share);
/// Half the 90 % interval of head − base of memory, in MiB. The context is the same in both.
double memory_difference_width(const FiguresOf& base, const FiguresOf& head, double changed_share);

}  // namespace perfc
