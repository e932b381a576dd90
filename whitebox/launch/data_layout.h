#pragma once
/// How values lie in memory when PyTorch runs a graph: where views are free, and where
/// data has to be copied first.
#include "ir/graph.h"
#include "ir/strides.h"
#include "whitebox/launch/value_strides.h"
#include "whitebox/predictor.h"

namespace perfc {

/// A slice, or one of the parts that a value is split into.
bool is_part(const Node&);
/// A reshape that only splits dims: a view of whatever lies below.
bool only_splits(const Graph&, const Node&);
/// Whether torch.matmul copies an operand of a batched product that lies permuted in
/// memory: it flattens the leading dims to one, which a view cannot do for several.
bool batched_product_copies(const Type&);
/// Whether a graph's convolutions run channels-last: the user asked for it, or the compiler prefers it.
bool convolves_channels_last(const Graph&, const ExecConfig&);
/// Which nodes' results lie channels-last in memory: a convolution's if its data
/// does or the user asked for it, views that permute to it, and what follows.
std::vector<bool> channels_last(const Graph&, const ExecConfig&);

/// By node.
struct DataLayout {
  std::vector<bool> channels_last;  ///< see above
  std::vector<bool> strided;        ///< its result is a strided view, or written in the order of one
  std::vector<bool> columns;        ///< … and strided along its last axis
  std::vector<bool> copied;         ///< a reshape that has to copy
  std::vector<Strides> strides;     ///< of the first result; eager execution only
  CastOperands cast;                ///< likewise
  /// A dense layer that is a product per matrix of its data, which is none of all its rows as it lies: torch.matmul
  /// copies it where the weight wants a gradient, which one that autocast casts for inference does not
  /// (aten/src/ATen/native/LinearAlgebra.cpp, should_fold).
  std::vector<bool> stacked;
};
/// Whether a value lies in row-major order.
bool lies_in_order(const Graph&, ValueId, const DataLayout&);
/// Whether an operand does when eager PyTorch reads it.
bool reads_in_order(const Graph&, NodeId user, std::size_t operand, const DataLayout&);
/// Whether its matrices, once for each of the leading dims of `result`, are a view of three dims: what torch.matmul
/// makes of its operands.
bool is_stack_of_matrices(const Graph&, ValueId, const Type& result, const DataLayout&);
/// `weight`: which nodes are computed from weights alone. `cast`: `Widths::cast_operands`.
DataLayout data_layout(const Graph&, const ExecConfig&, const std::vector<bool>& weight, CastOperands cast = {});

/// Whether eager PyTorch copies what a call works on first: dense layers and layer norms want
/// rows, softmax, group norms and convolutions (in their own order of channels) dense data.
/// `weight` as above.
bool copies_data(const Graph&, NodeId, const DataLayout&, const std::vector<bool>& weight);
/// Compilers write data as its reader wants it, but for parts of a value that convolutions read.
bool compiled_copies_data(const Graph&, NodeId, const DataLayout&, const std::vector<bool>& weight);

}  // namespace perfc
