#pragma once
/// A profile's counters as the columns of Table I, each with the counters that it
/// was made from, or with what it lacks.
#include "counters/profile.h"
#include "counters/record.h"

namespace perfc {

/// A quantity that the profile measured: `counters/names.h`.
struct Measured {
  std::string quantity;
  double value = 0;                    ///< in the quantity's unit
  std::string counter;                 ///< as in the file
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

/// Quantities that the formulas use; for tests of the tables.
std::vector<std::string> quantities_in_formulas();

}  // namespace perfc
