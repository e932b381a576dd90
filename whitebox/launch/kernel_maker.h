#pragma once
/// Kernels one at a time: what a call, a copy or a cast asks of the device. Who launches them, and when, is the
/// planners' business (eager.h, compiled.h).
#include "ir/ops/linear_attention.h"
#include "whitebox/launch/kernels.h"
#include "whitebox/launch/planned_graph.h"
#include "whitebox/launch/selection.h"

namespace perfc {

/// Of a call's operands, in the widths that they have under the precision.
struct UnreadBytes {
  double all = 0;
  double stored = 0;  ///< of that, what no kernel has just written
};

class KernelMaker {
 public:
  /// `repeat`: how often the graph runs; `owner`: of a body, the node that its kernels are reported under.
  KernelMaker(const PlannedGraph& graph, double repeat, const NodeId* owner)
      : of_(graph), repeat_(repeat), owner_(owner) {}

  /// A call's kernel, without its bytes; `cost` is the call's.
  Kernel of(NodeId, const OpCost& cost) const;
  /// What a call's cost rule says that it moves, in the widths that the values have under the precision.
  double bytes_of(NodeId, const OpCost& cost) const;
  /// A dense copy of an operand.
  Kernel copy_of(NodeId, ValueId, double element_bytes) const;
  /// An operand's cast between 32 and 16 bits, or for a product in 8 bits its quantisation.
  Kernel cast_of(NodeId, ValueId) const;

  /// What a call moves between its operands and results: a group norm's second look at its data, whose groups no cache
  /// holds; a selection's further passes; a recurrence's gates, in 32 bits, which the product with its input writes,
  /// that with its state adds to and the cell reads (cuDNN).
  double inner_bytes(NodeId) const;
  /// Bytes that a call reads of what no kernel has just written; `cost` is the call's.
  double stored_bytes(NodeId, const OpCost& cost) const;
  /// Bytes of its operands that it does not read (`OpCost::unread`); `once`: of a value that is two operands, one's.
  UnreadBytes unread_bytes(NodeId, const OpCost& cost, bool once) const;

 private:
  Kernel empty(NodeId) const;
  Selection selection(NodeId topk) const;
  Quantised eight_bits_of(NodeId) const;
  void be_convolution(NodeId, Kernel&) const;
  void be_grouped(NodeId, Kernel&) const;
  void be_product(NodeId, Kernel&) const;
  void be_linear_attention(NodeId, Kernel&) const;
  double wide_state_bytes(const LinearAttention&) const;
  Kernel quantisation_of(NodeId, ValueId) const;
  double gate_bytes(const Node& recurrence) const;

  const PlannedGraph& of_;
  const double repeat_;
  const NodeId* const owner_;
};

}  // namespace perfc
