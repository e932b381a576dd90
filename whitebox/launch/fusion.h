#pragma once
/// What a compiler runs as one kernel (TorchInductor: Ansel et al., ASPLOS 2024):
/// matrix products and convolutions stay alone, the rest is fused with what feeds it.
#include <vector>

#include "ir/graph.h"

namespace perfc {

struct FusedGroup {
  std::vector<NodeId> members;  ///< in execution order
  /// The member that shapes the kernel: its reduction, else what computes rather
  /// than moves, then whatever has the largest result. A view if all are views.
  NodeId leader = 0;
};

/// A concatenation of so many parts that TorchInductor fuses it with nothing and copies them into place.
bool is_long_concatenation(const Node&);

/// Every call without bodies is in one group. Greedy, in execution order: a call
/// that fuses joins the group of one of its producers, as long as the group keeps
/// at most one reduction and reads nothing that waits for it; producers' groups
/// that nothing else reads so far come along. Pooling by windows begins a group:
/// each element of its operand is read several times, and so kept. `alone`: by node, what fuses with nothing; empty:
/// none.
std::vector<FusedGroup> fused_groups(const Graph&, std::vector<bool> alone = {});

}  // namespace perfc
