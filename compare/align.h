#pragma once
/// What changed between two versions of a graph: their operators aligned by structure, not by name. Of alignments that
/// are equally good, the one with more equal names is taken.
#include <string>
#include <vector>

#include "ir/graph.h"

namespace perfc {

enum class ChangeKind : unsigned char {
  None,      ///< same operator, attributes and types of operands and results
  Reshaped,  ///< other types of operands or results
  Altered,   ///< other attributes
  Rewired,   ///< operands that are other operators' results
  Added,
  Removed,
};
std::string_view name(ChangeKind);

/// An input or an operator of one version or of both.
struct AlignedNode {
  ChangeKind kind = ChangeKind::None;
  NodeId base = ValueId::kNone, head = ValueId::kNone;  ///< kNone: not in that version
};

/// Inputs and operators of both graphs in an order that is the execution order of either. Contents of weights do not
/// count; a body counts as a part of its operator. Time and memory grow with the number of nodes, not with its square.
std::vector<AlignedNode> align(const Graph& base, const Graph& head);

/// What an operator is and works on, so that equal texts cost the same: its name, attributes, the types of operands and
/// results, in bodies too. By node; empty for constants.
std::vector<std::string> signatures(const Graph&);

/// A change in words: "(1, 64, 56, 56) → (1, 96, 56, 56)", "strides: [1, 1] → [2, 2]".
std::string describe(const AlignedNode&, const Graph& base, const Graph& head);

}  // namespace perfc
