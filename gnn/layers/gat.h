#pragma once
/// Graph attention (Veličković et al., ICLR 2018, equations 3 and 4).
#include "gnn/layers/linear.h"

namespace perfc {

/// With h = lin(x), per head of `out / heads` columns, over j → i and j = i:
///   score(j, i) = leaky_relu(att_src · h_j + att_dst · h_i), slope 0.2
///   y_i = Σ softmax_j(score(j, i)) h_j + bias, heads side by side.
template <class T>
class GatConv : public Module<T> {
 public:
  /// `heads` must divide `out`.
  GatConv(std::size_t in, std::size_t out, std::size_t heads = 1);
  const Matrix<T>& forward(Context&, const Matrix<T>& x) override;
  const Matrix<T>& backward(Context&, const Matrix<T>& dy) override;
  void visit(const std::string& prefix, const ParameterVisitor<T>&) override;

 private:
  void attend(const GraphBatch&, std::size_t node);
  void attention_gradients(const GraphBatch&, std::size_t node, const Matrix<T>& dy);
  void node_gradient(const GraphBatch&, std::size_t node, const Matrix<T>& dy);

  std::size_t heads_, width_;  ///< width of one head
  Linear<T> linear_;
  Parameter<T> att_src_, att_dst_, bias_;  ///< att: heads × width
  const Matrix<T>* h_ = nullptr;
  Matrix<T> source_, target_;  ///< att_src · h, att_dst · h: nodes × heads
  /// Attention per edge (in the batch's order by receiver) and of each node to
  /// itself, × heads; and the gradient by the score before the leaky ReLU.
  Matrix<T> edge_attention_, self_attention_, edge_gradient_, self_gradient_;
  Matrix<T> source_gradient_, target_gradient_;
  Matrix<T> y_, dh_;
};

}  // namespace perfc
