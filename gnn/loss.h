#pragma once
/// Losses over a matrix of predictions, samples × outputs.
///
/// A target that is NaN is not known: it adds nothing to the loss or its
/// gradient, so that one batch can mix samples with different labels.
#include <vector>

#include "gnn/matrix.h"

namespace perfc {

enum class LossKind : unsigned char {
  Huber,     ///< e²/2 for |e| ≤ delta, delta (|e| − delta/2) beyond; e = prediction − target (Huber 1964)
  LogRatio,  ///< Huber of ln(prediction / target): relative errors, both ways alike. Wants both > 0.
  Pinball,   ///< quantile regression: q e⁻ + (1 − q) e⁺ (Koenker and Bassett 1978)
};

struct Loss {
  LossKind kind = LossKind::Huber;
  double delta = 1;                    ///< Huber, LogRatio
  std::vector<double> quantiles;       ///< Pinball: one per output
  std::vector<double> output_weights;  ///< one per output; empty: all 1
};

/// Predictions below this count as this one in LogRatio.
inline constexpr double kSmallestRatio = 1e-12;

/// scale × the sum over all elements; `gradient` becomes its derivative by the
/// predictions. For the mean over a batch, scale is 1 / (samples × outputs) of the
/// *whole* batch, of which `prediction` may be one rank's share.
template <class T>
double evaluate(const Loss&, const Matrix<T>& prediction, const Matrix<T>& target, double scale, Matrix<T>& gradient);

}  // namespace perfc
