#pragma once
/// What counters are called: one table from vendors' names to quantities, which
/// `counters/derive.h` makes the columns of Table I from.
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "counters/profile.h"

namespace perfc {

/// A counter of some tool and what it counts. Of several rows with the same
/// quantity the first whose counter was measured stands.
struct CounterName {
  std::string_view family;    ///< whose name it is: "intel", "papi", "ncu"
  std::string_view name;      ///< as the vendor spells it
  std::string_view quantity;  ///< a name of `quantity_table`
  double factor = 1;          ///< from one of what the counter counts to the quantity's unit
  std::string_view unit;      ///< what it counts in where the file tells no unit; "?": then it cannot be used
};
std::span<const CounterName> counter_names();

/// Something that can be counted. "thread.…" counts instructions of GPU threads,
/// "warp.…" those of warps; the two never meet in one ratio.
struct Quantity {
  std::string_view name;
  std::string_view unit;
  std::string_view meaning;
};
std::span<const Quantity> quantity_table();
const Quantity* find_quantity(std::string_view name);

/// One spelling of a name: without HPCToolkit's " (I)" and ":Sum", Caliper's
/// "sum#", "PMU/…/", ":u" and units in brackets; lower case, all else '_'.
std::string canonical_name(std::string_view);

/// The row of a counter, or null.
const CounterName* find_counter_name(std::string_view name);

/// A unit as files write it ("usecond", "Kbyte", "%", "GB/s") as a factor to s, B, 1 or B/s.
double base_unit(std::string_view unit);

/// How a counter's values over kernels or rows combine where its file does not
/// tell: rates, shares and settings do not add up.
Combine combine_of(std::string_view name, std::string_view unit);

/// A unit that the name itself tells: "sec" of "GXCOPY (sec)"; empty for none.
std::string_view unit_in_name(std::string_view name);

}  // namespace perfc
