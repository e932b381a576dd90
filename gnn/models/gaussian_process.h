#pragma once
/// What a model got wrong on things like this one: a Gaussian process on residuals.
///
/// Regression with a squared-exponential kernel on points in feature space, by a
/// subset of regressors (Rasmussen and Williams, "Gaussian Processes for Machine
/// Learning", MIT Press 2006, section 8.3.1): some training points carry weights,
/// all training points fit them. Points come in groups (devices); a point of another
/// group counts half. A group without points gets the mean of the others' answers. Far from
/// all points the answer falls to 0, and `similarity` says how far.
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "gnn/matrix.h"
#include "gnn/random.h"
#include "gnn/threads.h"
#include "ir/support/diagnostics.h"

namespace perfc {

struct GaussianProcessOptions {
  double length = 2.5;             ///< of the kernel, in standard deviations of the columns
  double noise = 0.1;              ///< variance of a target relative to the process's
  std::size_t most_points = 3000;  ///< that carry weights
};

class GaussianProcess {
 public:
  /// Weight of a point of another group.
  static constexpr double kOtherGroup = 0.5;
  /// A group without points.
  static constexpr int kNoGroup = -1;

  struct Estimate {
    double mean = 0;
    double similarity = 0;    ///< to the nearest point, 1 (equal) to 0 (nothing like it)
    std::size_t nearest = 0;  ///< its row in `points`
  };

  GaussianProcess() = default;
  /// As stored in a checkpoint: points × columns in units of `scale`.
  GaussianProcess(double length, std::vector<float> scale, Matrix<float> points, std::vector<float> weights,
                  std::vector<int> groups);

  /// `x`: samples × columns; `y` and `groups`: one per sample. The same seed chooses
  /// the same points. Fails when the equations have no solution: `y` is not finite.
  static Result<GaussianProcess> fit(const Matrix<float>& x, std::span<const double> y, std::span<const int> groups,
                                     const GaussianProcessOptions&, Random, ThreadPool&, Diagnostics&);

  /// `x`: as given to `fit`, not scaled.
  Estimate at(std::span<const float> x, int group) const { return at(x, std::span(&group, 1)).front(); }
  /// The same for several groups, in one walk over the points.
  std::vector<Estimate> at(std::span<const float> x, std::span<const int> groups) const;

  bool empty() const { return weights_.empty(); }
  double length() const { return length_; }
  const std::vector<float>& scale() const { return scale_; }
  const Matrix<float>& points() const { return points_; }
  const std::vector<float>& weights() const { return weights_; }
  const std::vector<int>& groups() const { return groups_; }
  /// Of each point, the sample of `fit` that it was; empty after loading.
  const std::vector<std::size_t>& chosen() const { return chosen_; }

 private:
  double length_ = 1;
  std::vector<float> scale_;  ///< per column
  Matrix<float> points_;
  std::vector<float> weights_;
  std::vector<int> groups_;  ///< of each point
  std::set<int> known_;      ///< groups that have points
  std::vector<std::size_t> chosen_;
};

}  // namespace perfc
