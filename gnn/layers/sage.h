#pragma once
/// GraphSAGE with mean aggregation (Hamilton, Ying, Leskovec, NeurIPS 2017,
/// algorithm 1, undirected sampling left out).
#include "gnn/layers/linear.h"

namespace perfc {

enum class RowNorm : unsigned char { None, L2 };

/// y_i = lin_l(mean of x_j over edges j → i) + lin_r(x_i), then divided by its
/// length where RowNorm::L2 is asked for. lin_r has no bias. Nodes without
/// incoming edges have mean 0. Parameter names are PyTorch Geometric's.
template <class T>
class SageConv : public Module<T> {
 public:
  SageConv(std::size_t in, std::size_t out, RowNorm);
  const Matrix<T>& forward(Context&, const Matrix<T>& x) override;
  const Matrix<T>& backward(Context&, const Matrix<T>& dy) override;
  void visit(const std::string& prefix, const ParameterVisitor<T>&) override;

 private:
  RowNorm norm_;
  Linear<T> neighbours_, self_;
  const Matrix<T>* x_ = nullptr;
  Matrix<T> mean_, y_, dz_, dmean_, dx_;
  std::vector<T> inverse_length_;
};

extern template class SageConv<float>;
extern template class SageConv<double>;

}  // namespace perfc
