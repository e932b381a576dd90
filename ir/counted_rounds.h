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
  std::optional<std::int64_t> start;      ///< when it is one known integer
  std::optional<std::int64_t> step = {};  ///< of the count of rounds itself, which has no `next`
};

/// `while (condition) body`: `condition` is computed in the body from the params.
std::optional<std::int64_t> rounds_while(const GraphBuilder& body, const std::vector<Carried>& carried,
                                         ValueId condition);

/// `do body while (condition)`: `condition` is computed from the values before a round or those after it; the first
/// round is known to run.
std::optional<std::int64_t> rounds_until(const GraphBuilder& body, const std::vector<Carried>& carried,
                                         ValueId condition);
/// `standing`: the loop's own condition as a round sees it, which holds as long as there is another.
std::optional<std::int64_t> rounds_until(const Graph& body, const std::vector<Carried>& carried, ValueId condition,
                                         ValueId standing = {});

/// The integer or bool that a value is known to hold, if it holds just one.
std::optional<std::int64_t> known_integer(const Data*);
std::optional<std::int64_t> known_integer(const GraphBuilder&, ValueId);
std::optional<std::int64_t> known_integer(const Graph&, ValueId);

}  // namespace perfc
