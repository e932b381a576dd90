#include "gnn/loss.h"

#include <cassert>
#include <cmath>

namespace perfc {

namespace {

struct Point {
  double value, slope;
};

Point huber(double e, double delta) {
  if (std::abs(e) <= delta) return {0.5 * e * e, e};
  return {delta * (std::abs(e) - 0.5 * delta), std::copysign(delta, e)};
}

Point at(const Loss& loss, double prediction, double target, std::size_t output) {
  switch (loss.kind) {
    case LossKind::Huber:
      return huber(prediction - target, loss.delta);
    case LossKind::LogRatio: {
      const double p = std::max(prediction, kSmallestRatio);
      const Point h = huber(std::log(p) - std::log(std::max(target, kSmallestRatio)), loss.delta);
      return {h.value, h.slope / p};
    }
    case LossKind::Pinball: {
      const double q = loss.quantiles[output], e = prediction - target;
      return e < 0 ? Point{-q * e, -q} : Point{(1 - q) * e, e > 0 ? 1 - q : 0};
    }
  }
  return {0, 0};
}

}  // namespace

template <class T>
double evaluate(const Loss& loss, const Matrix<T>& prediction, const Matrix<T>& target, double scale,
                Matrix<T>& gradient) {
  assert(prediction.same_shape(target));
  assert(loss.kind != LossKind::Pinball || loss.quantiles.size() == prediction.columns());
  gradient.resize(prediction.rows(), prediction.columns());
  double sum = 0;
  for (std::size_t r = 0; r < prediction.rows(); ++r) {
    for (std::size_t c = 0; c < prediction.columns(); ++c) {
      gradient(r, c) = 0;
      if (std::isnan(target(r, c))) continue;
      const double weight = scale * (loss.output_weights.empty() ? 1 : loss.output_weights[c]);
      const Point p = at(loss, prediction(r, c), target(r, c), c);
      sum += weight * p.value;
      gradient(r, c) = static_cast<T>(weight * p.slope);
    }
  }
  return sum;
}

template double evaluate(const Loss&, const Matrix<float>&, const Matrix<float>&, double, Matrix<float>&);
template double evaluate(const Loss&, const Matrix<double>&, const Matrix<double>&, double, Matrix<double>&);

}  // namespace perfc
