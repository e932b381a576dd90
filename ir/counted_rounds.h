#pragma once
/// How often a loop runs, read off the body that was built for it: a conjunction
/// of comparisons of a counter, which the body advances by a constant, with a
/// limit that stays.
#include <cstdint>
#include <optional>
#include <vector>

#include "ir/builder.h"

namespace perfc {

/// A value that the loop carries: `param` before a round, `next` after it.
struct Carried {
  ValueId param, next;
  std::optional<std::int64_t> start;  ///< when it is one known integer
};

/// `while (condition) body`: `condition` is computed in the body from the params.
std::optional<std::int64_t> rounds_while(const GraphBuilder& body, const std::vector<Carried>& carried,
                                         ValueId condition);

/// `do body while (condition)`: `condition` is computed from the next values; the first round is known to run.
std::optional<std::int64_t> rounds_until(const GraphBuilder& body, const std::vector<Carried>& carried,
                                         ValueId condition);
std::optional<std::int64_t> rounds_until(const Graph& body, const std::vector<Carried>& carried, ValueId condition);

/// The integer that a value is known to hold, if it holds just one.
std::optional<std::int64_t> known_integer(const GraphBuilder&, ValueId);

}  // namespace perfc
