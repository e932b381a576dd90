#pragma once
/// Calls that carry the old batch in a constant: shapes to reshape, expand or
/// resize to, ranges to slice, and operands made for the old batch (class
/// tokens, masks, zero states).
#include "ir/rewriter.h"
#include "passes/batch_demand.h"
#include "passes/batch_dim.h"

namespace perfc::passes {

/// Old value → where its batch is, for values that have one.
class BatchDims {
 public:
  explicit BatchDims(const Graph& graph);
  const std::optional<BatchDim>& operator[](ValueId old) const { return dims_[first_[old.node] + old.result]; }
  void set(ValueId old, BatchDim dim) { dims_[first_[old.node] + old.result] = dim; }

 private:
  std::vector<std::uint32_t> first_;
  std::vector<std::optional<BatchDim>> dims_;
};

/// A call about to be added to the rebatched graph. Fixes change `operands`
/// and `attrs`; types and numbering of the old graph are reached by `old`.
struct BatchedCall {
  Rewriter& rewriter;
  const BatchDims& batch;
  const BatchChange& change;
  BatchDemands& demands;
  NodeId id;
  std::vector<ValueId> operands;
  Attrs attrs;
  std::vector<bool>& of_one;  ///< by old node: computed of one sample, whatever the batch is

  const Graph& graph() const { return rewriter.source(); }
  const Node& node() const { return graph().node(id); }
  bool has(std::size_t i) const { return i < node().operands.size() && node().operands[i]; }
  const Type& old_type(std::size_t i) const { return graph().type(node().operands[i]); }
  const Type& new_type(std::size_t i) const { return rewriter.builder().type(operands[i]); }
  const Type& old_result() const { return node().results[0].type; }
  std::optional<BatchDim> batch_of(std::size_t i) const { return has(i) ? batch[node().operands[i]] : std::nullopt; }

  /// Contents of operand i when they are known integers and the change of the
  /// batch did not reach them: then they were hard-coded for the old one.
  std::optional<std::vector<std::int64_t>> hard_coded(std::size_t i) const;
  void replace(std::size_t i, const std::vector<std::int64_t>& contents);
  /// Makes operand i, which does not depend on the batch, fit the new one: its dim `at` grows or shrinks to `extent` by
  /// repeating or cutting. Demands that whatever made it follows the batch next time.
  Status fit(std::size_t i, BatchDim at, std::int64_t extent);

  /// "cannot change the batch from 1 to 32: …", located at the call.
  Failure error(const std::string& reason) const;
};

/// Extent of a dim; 0 when it is not known.
std::int64_t extent(const Type&, std::size_t axis);
/// Of a tensor whose dims are all known.
std::optional<std::vector<std::int64_t>> static_shape(const Type&);

/// Adjusts what was hard-coded in a call whose operands changed shape.
Status fix_for_batch(BatchedCall&);

/// Of a concatenation of what a program computed of each sample of its example by calls of their own: one operand per
/// sample of the new batch; `of_one` notes what is computed of each. False: it is none.
Result<bool> unroll_samples(BatchedCall&);

/// Where the call itself states the old batch, as the end of `arange`, the target of `broadcast_to` or the repeats of
/// `tile`, states the new one, so that its result has it in dim `at`. False: it states none.
bool restate_batch(BatchedCall&, BatchDim at);
/// Grows or shrinks dim `at` of the call's result `r`, which was added, to the new batch by repeating or cutting.
Status fit_result(BatchedCall&, std::uint32_t r, BatchDim at);

}  // namespace perfc::passes
