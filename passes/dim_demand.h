#pragma once
/// What a model says of dims that data decides, beside the rule of the operator whose results have them.
#include <map>
#include <optional>

#include "ir/graph.h"

namespace perfc::passes {

/// A graph, and where it stands: as a body of a call of another one, or (`owner` null) by itself.
struct Scope {
  const Graph& g;
  const Node* owner = nullptr;
  const Scope* outer = nullptr;
};

/// Where the entries of a dim go: to one of `parts` along an axis, of which the first `most` are taken.
struct Room {
  std::int64_t most = 0;
  std::int64_t parts = 1;
};

/// How many entries there are when each of some is there as often as a count between bounds says.
struct Repetitions {
  std::int64_t least = 0, most = 0;
};

/// Of one call.
struct DimDemand {
  /// How many calls, or rounds of a loop, select where one value equals another one of as many different values: no
  /// element equals two of them, so that all together select no more than there are (levels of a pyramid that boxes are
  /// taken from; classes, one after the other).
  std::int64_t shared_by = 1;
  /// Of a suppression: rows that the model takes of those that it keeps, best first, where every reader takes the first
  /// ones (`keep[:300]`).
  std::optional<std::int64_t> taken;
  /// Of a search for different values: how many its operand can have, by where its elements are from.
  std::optional<std::int64_t> values;
  /// By result and axis, of what has no rule of its own, and of slices: the room that there is for it (a mask that is
  /// brought to the size of its box and put between zeros, all of which together are as large as the image).
  std::map<std::pair<std::size_t, std::size_t>, Room> rooms;
  /// Of a range that counts repetitions, what their sum can be, by the bounds that the counts are clipped to
  /// (`repeat_interleave` by durations).
  std::optional<Repetitions> repetitions;
  /// What it gives is of boxes that a suppression compares.
  bool compared = false;
};

/// Of the calls of a graph that have open dims. `params`: what is settled of its own.
std::map<NodeId, DimDemand> dim_demands(const Scope&, const std::vector<ResultInfo>& params);

}  // namespace perfc::passes
