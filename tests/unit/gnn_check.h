#pragma once
/// Gradient checks: a layer's backward against central differences of its
/// forward, in double.
#include <gtest/gtest.h>

#include "gnn/module.h"

namespace perfc::testing {

/// Values in [-1, 1) from a stream that `what` names.
template <class T>
void randomise(Matrix<T>& m, std::string_view what) {
  const Random random = Random(7).stream(what);
  for (std::size_t i = 0; i < m.size(); ++i) m.data()[i] = static_cast<T>(random.uniform(i, -1, 1));
}

template <class T>
Matrix<T> random_matrix(std::size_t rows, std::size_t columns, std::string_view what) {
  Matrix<T> m(rows, columns);
  randomise(m, what);
  return m;
}

/// Three graphs: a diamond with a long edge, a single node, and a chain of three.
inline GraphBatch three_graphs() {
  const Adjacency diamond{5, {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {0, 3}, {3, 4}}};
  const Adjacency single{1, {}};
  const Adjacency chain{3, {{0, 1}, {1, 2}}};
  const Adjacency* all[] = {&diamond, &single, &chain};
  Diagnostics diags;
  return std::move(*GraphBatch::join(all, diags));
}

/// Checks d(sum of w ⊙ layer(x)) by x and by every parameter, w random. The
/// error allowed is 1e-6 of the gradient's largest entry.
inline void check_gradients(Module<double>& layer, Context& context, Matrix<double> x) {
  for (auto& [name, p] : parameters(layer)) randomise(p->value, name);
  const Matrix<double>& y = layer.forward(context, x);
  const Matrix<double> w = random_matrix<double>(y.rows(), y.columns(), "weights of the sum");
  zero_gradients(layer);
  const Matrix<double> dx = layer.backward(context, w);
  ASSERT_TRUE(dx.same_shape(x));

  const auto loss = [&] { return (layer.forward(context, x).flat() * w.flat()).sum(); };
  const auto check = [&](const std::string& name, Matrix<double>& value, const Matrix<double>& gradient) {
    constexpr double kStep = 1e-5;
    const double largest = std::max(gradient.flat().abs().maxCoeff(), 1e-3);
    for (std::size_t i = 0; i < value.size(); ++i) {
      const double kept = value.data()[i];
      value.data()[i] = kept + kStep;
      const double up = loss();
      value.data()[i] = kept - kStep;
      const double down = loss();
      value.data()[i] = kept;
      ASSERT_NEAR(gradient.data()[i], (up - down) / (2 * kStep), 1e-6 * largest) << name << " entry " << i;
    }
  };
  check("input", x, dx);
  for (auto& [name, p] : parameters(layer)) check(name, p->value, p->gradient);
}

}  // namespace perfc::testing
