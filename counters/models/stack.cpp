/// The weighted mean of `perfc` and the networks on counters (Breiman 1996, "Stacked regressions": weights ≥ 0 that
/// sum to one, from predictions of what was held back within the training rows).
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "counters/models/relative_model.h"

namespace perfc {
namespace {

constexpr std::size_t kValidationFolds = 4;
/// Networks of each kind: they differ by where they began, and their mean errs less.
constexpr std::size_t kNetworks = 2;
/// Of the networks' mean; what is left is perfc's.
constexpr std::array<double, 6> kShares{0, 0.2, 0.35, 0.5, 0.65, 0.8};

class StackModel final : public RelativeModel {
 public:
  Status fit(const CounterProblem& p, std::span<const std::size_t> rows, SplitKind kind, const Random& random, Diagnostics& diags) override {
    std::array<double, kShares.size()> errors{};
    for (const auto& part : held_back(*p.data, rows, kind, kValidationFolds, random.stream("validation"))) {
      if (!fit_members(p, without(rows, part), kind, random, 1, diags)) return Failure{};
      const FeatureMatrix ours = ours_->predict(p, part), networks = by_networks(p, part), y = p.target(part);
      for (std::size_t s = 0; s < kShares.size(); ++s) {
        for (std::size_t i = 0; i < y.values.size(); ++i) {
          errors[s] += std::abs((1 - kShares[s]) * ours.values[i] + kShares[s] * networks.values[i] - y.values[i]);
        }
      }
    }
    share_ = kShares[static_cast<std::size_t>(std::min_element(errors.begin(), errors.end()) - errors.begin())];
    return fit_members(p, rows, kind, random, share_ > 0 ? kNetworks : 0, diags);
  }

  FeatureMatrix predict(const CounterProblem& p, std::span<const std::size_t> rows) const override {
    FeatureMatrix y = ours_->predict(p, rows);
    if (networks_.empty()) return y;
    const FeatureMatrix networks = by_networks(p, rows);
    for (std::size_t i = 0; i < y.values.size(); ++i) y.values[i] = (1 - share_) * y.values[i] + share_ * networks.values[i];
    return y;
  }

 private:
  Status fit_members(const CounterProblem& p, std::span<const std::size_t> rows, SplitKind kind, const Random& random, std::size_t networks, Diagnostics& diags) {
    ours_ = make_perfc_model();
    networks_.clear();
    if (!ours_->fit(p, rows, kind, random, diags)) return Failure{};
    for (std::size_t n = 0; n < networks; ++n) {
      for (auto make : {+[] { return make_dnn_model(); }, +[] { return make_vae_dnn_model({}); }}) {
        if (!networks_.emplace_back(make())->fit(p, rows, kind, random.stream(n), diags)) return Failure{};
      }
    }
    return ok();
  }

  FeatureMatrix by_networks(const CounterProblem& p, std::span<const std::size_t> rows) const {
    FeatureMatrix mean;
    for (const auto& model : networks_) {
      const FeatureMatrix one = model->predict(p, rows);
      if (mean.values.empty()) mean = {one.rows, one.columns, std::vector<double>(one.values.size(), 0)};
      for (std::size_t i = 0; i < one.values.size(); ++i) mean.values[i] += one.values[i] / static_cast<double>(networks_.size());
    }
    return mean;
  }

  double share_ = 0;
  std::unique_ptr<RelativeModel> ours_;
  std::vector<std::unique_ptr<RelativeModel>> networks_;
};

}  // namespace

std::unique_ptr<RelativeModel> make_stack_model() { return std::make_unique<StackModel>(); }

}  // namespace perfc
