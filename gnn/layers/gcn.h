#pragma once
/// Graph convolution (Kipf and Welling, ICLR 2017, equation 2).
#include "gnn/layers/linear.h"

namespace perfc {

/// y_i = Σ over j → i and j = i of lin(x_j) / √(d_j d_i) + bias, where d counts
/// incoming edges and the node itself.
template <class T>
class GcnConv : public Module<T> {
 public:
  GcnConv(std::size_t in, std::size_t out);
  const Matrix<T>& forward(Context&, const Matrix<T>& x) override;
  const Matrix<T>& backward(Context&, const Matrix<T>& dy) override;
  void visit(const std::string& prefix, const ParameterVisitor<T>&) override;

 private:
  Linear<T> linear_;
  Parameter<T> bias_;
  std::vector<T> scale_;  ///< 1 / √d
  Matrix<T> y_, dh_;
};

}  // namespace perfc
