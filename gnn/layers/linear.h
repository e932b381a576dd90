#pragma once
/// Layers that look at one row at a time and multiply it by a matrix.
#include "gnn/gemm.h"
#include "gnn/module.h"

namespace perfc {

enum class Bias : unsigned char { No, Yes };
/// Of a first layer nobody reads the gradient of its input: `backward` then returns an empty matrix.
enum class InputGradient : unsigned char { Unused, Wanted };

/// y = x Wᵀ + b; weight is out × in and bias has out entries, as in PyTorch.
template <class T>
class Linear : public Module<T> {
 public:
  Linear(std::size_t in, std::size_t out, Bias = Bias::Yes, InputGradient = InputGradient::Wanted);
  const Matrix<T>& forward(Context&, const Matrix<T>& x) override;
  const Matrix<T>& backward(Context&, const Matrix<T>& dy) override;
  void visit(const std::string& prefix, const ParameterVisitor<T>&) override;

  /// The parts of backward, for layers that are built from this one. The second may change the weight
  /// (`Context::update`).
  void input_gradient(Context&, const Matrix<T>& dy, Matrix<T>& dx, Store);
  void take_gradients(Context&, const Matrix<T>& x, const Matrix<T>& dy);

  std::size_t in() const { return weight.value.columns(); }
  std::size_t out() const { return weight.value.rows(); }
  Parameter<T> weight, bias;

 private:
  Bias with_bias_;
  InputGradient wanted_;
  const Matrix<T>* x_ = nullptr;
  Matrix<T> y_, dx_;
};

/// Sum of a matrix's rows, added to `sums` (1 × columns).
template <class T>
void add_column_sums(Context&, const Matrix<T>&, Matrix<T>& sums);

extern template class Linear<float>;
extern template class Linear<double>;

}  // namespace perfc
