#pragma once
/// How reports for people write figures and colours.
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "pipeline/pipeline.h"

namespace perfc {

struct Style {
  Colour colour;
  std::string bold(std::string_view s) const { return paint("1", s); }
  std::string dim(std::string_view s) const { return paint("2", s); }
  std::string warn(std::string_view s) const { return paint("33", s); }
  std::string alarm(std::string_view s) const { return paint("1;31", s); }
  std::string paint(const char* code, std::string_view s) const {
    return colour == Colour::Yes ? fmt::format("\x1b[{}m{}\x1b[0m", code, s) : std::string(s);
  }
};

/// Four significant digits and a suffix: "4.089G".
std::string scaled(double);
/// "3.258 ms", "43.66 ms".
std::string in_ms(double);

/// Several reports as a table, with what they have in common below it.
std::string table_text(const std::vector<Report>&, const Style&);
/// Whether reports are of one model on one device at several batches: these are told by the table alone.
bool is_sweep(const std::vector<Report>&);

}  // namespace perfc
