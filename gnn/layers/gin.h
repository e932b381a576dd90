#pragma once
/// Graph isomorphism network (Xu, Hu, Leskovec, Jegelka, ICLR 2019, equation 4.1).
#include "gnn/layers/linear.h"
#include "gnn/layers/rowwise.h"

namespace perfc {

/// y_i = mlp((1 + ε) x_i + Σ x_j over edges j → i), mlp = linear, ReLU, linear.
/// ε is fixed.
template <class T>
class GinConv : public Module<T> {
 public:
  GinConv(std::size_t in, std::size_t out, double epsilon = 0);
  const Matrix<T>& forward(Context&, const Matrix<T>& x) override;
  const Matrix<T>& backward(Context&, const Matrix<T>& dy) override;
  void visit(const std::string& prefix, const ParameterVisitor<T>&) override;

 private:
  T self_;
  Linear<T> first_, second_;
  Activation<T> relu_{ActivationKind::Relu};
  Matrix<T> z_, dx_;
};

}  // namespace perfc
