#pragma once
/// Operators that exporters write out as several: the table of patterns, and
/// attention, whose spellings are too many for one.
#include <cstdint>
#include <span>

#include "passes/atoms.h"
#include "passes/pattern.h"

namespace perfc::passes {

/// One operator to put in place of a match.
struct Recognised {
  OpId op;
  /// Of the old graph. Vectors (see below) may be missing where the source left
  /// out a scale of 1 or a shift of 0; at least one is there.
  std::vector<ValueId> operands;
  Attrs attrs;
  /// Operands from this one on are per-channel weights and become vectors.
  std::size_t vectors_from = SIZE_MAX;
  /// nn.sdpa: the keys are operand 1 with this permutation applied; empty: as they are.
  std::vector<std::int64_t> key_perm;
  /// nn.sdpa: views that stand on the queries, from the innermost: calls of the old graph whose first operand was
  /// scaled.
  std::vector<NodeId> query_views;
  /// Views on operands, by position, and on the result; none where the vector is shorter.
  std::vector<Rearranged> arranged;
  Rearranged result;
  /// nn.sdpa: how often each head of keys and values is repeated, for the queries' heads of a group.
  std::int64_t repeats = 1;
  /// nn.sdpa: the mask is a constant of numbers that an exporter computed from one of bools.
  bool mask_of_bools = false;
  std::vector<NodeId> interior;  ///< calls that go away besides the root
  std::optional<NodeId> named;   ///< whose name and place the new call has; else the root's
};

/// What calls that match a pattern may stand for. Where several of PyTorch's operators compute the same, the spelling
/// tells: an exporter writes tanh-GELU as 0.5 · (x · gate), transformers' NewGELU as (0.5 · x) · gate.
enum class SpeltBy : std::uint8_t {
  Exporters,  ///< they write one operator so
  Programs    ///< they compute it so themselves, by calls of their own
};

/// What is replaced.
enum class Recognise : std::uint8_t {
  Operators,   ///< what exporters write for one operator
  Everything,  ///< as compilers do, which make one kernel of it whoever wrote it
  Lowered      ///< the same, and attention is the call of a library: the format has no calls but arithmetic
};

/// A row of the table. `accept` looks at attributes and types, which patterns
/// do not, and sets the attributes of the new call.
struct DecomposedOp {
  std::string_view op;
  std::string_view operands;  ///< names of the pattern, space-separated; what is called x has the result's type
  bool (*accept)(const MatchGraph&, const Match&, Attrs&);
  std::size_t vectors_from;
  SpeltBy spelt_by;
  std::string_view pattern;
};
std::span<const DecomposedOp> decomposed_ops();

/// softmax(q·kᵀ·scale + mask)·v with its root, the second product, at `root`.
/// Scales may stand on q, on k, on the scores or on several of them; the mask
/// may be missing; casts, copies and dropout may stand between.
bool recognise_attention(const MatchGraph&, NodeId root, Recognise, Recognised&);

/// The same where views stand anywhere between, as nn.sdpa or, of heads that share keys, nn.attention, of four dims
/// each. Moves `root` on to the last of the views that follow the second product.
bool recognise_lowered_attention(const MatchGraph&, NodeId& root, Recognised&);

/// The mask of bools that an additive one was made from, where(keep, 0, −∞); else the mask. Calls that go away with it
/// are noted in `interior`.
ValueId chosen_by(const MatchGraph&, ValueId mask, std::vector<NodeId>& interior);

/// Is it a mask of positions alone, (queries, keys) in its last two dims, that hides the keys behind each query's
/// place?
bool is_causal(const MatchGraph&, ValueId mask);

/// The calls of a graph that stand for one operator each, by root. Every node
/// is part of one at most; larger patterns go first.
class Decompositions {
 public:
  Decompositions();
  std::vector<std::pair<NodeId, Recognised>> find(const MatchGraph&, Recognise) const;

 private:
  struct Row {
    const DecomposedOp* op;
    Pattern pattern;
  };
  std::vector<Row> rows_;
  std::vector<std::vector<const Row*>> by_root_;  // by operator
};

}  // namespace perfc::passes
