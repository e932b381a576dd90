#pragma once
/// A profile's counters as the columns of Table I, each with the counters that it
/// was made from, or with what it lacks.
#include <array>
#include <span>

#include "counters/profile.h"
#include "counters/record.h"

namespace perfc {

/// A quantity that the profile measured: `counters/names.h`.
struct Measured {
  std::string quantity;
  double value = 0;     ///< in the quantity's unit
  std::string counter;  ///< as in the file
};

struct Derived {
  CounterRecord record;
  /// Per column: "branch-misses / branches", or, where missing, what would give it.
  std::array<std::string, kCounterCount> how;
  /// Everything that the table of names knows, whether a column uses it or not.
  std::vector<Measured> measured;
};

/// Looks at the whole run.
Derived derive(const Profile&);

/// A column as a quotient of sums of quantities; no denominator: 1. "-x": minus x,
/// "?x": x where it was measured, "1": one. The first row of a column that can be
/// computed stands.
struct Formula {
  Counter column;
  std::string_view numerator;
  std::string_view denominator;
};
std::span<const Formula> formulas();

}  // namespace perfc
