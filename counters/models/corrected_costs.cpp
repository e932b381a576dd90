#include "counters/models/corrected_costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "counters/data/name_words.h"
#include "counters/models/tensors.h"

namespace perfc {
namespace {

constexpr std::size_t kValidationTrees = 50, kValidationNetworks = 2, kValidationFolds = 4;
/// Where siblings are known, corrections are right more often than validation by few rows can tell.
constexpr std::array<double, 4> kEqualShares{0, 0.3, 0.6, 0.9};
/// What other shares have to gain of the error, and what words of names and the step.
constexpr double kClearlyLess = 0.1, kBetter = 0.02;
/// They order near ties better than the rest does, and are further off where they differ much from it.
constexpr NetworkOptions kDirect{.networks = 4, .hidden_layers = 3, .steps = 500, .weight_decay = 0.01};
constexpr std::array<const char*, 3> kWeightNames{"weight.trees", "weight.likeness", "weight.networks"};
constexpr const char *kStepShare = "step.share", *kStepLimit = "step.limit", *kRateShare = "rate.share";
constexpr double kHalf = 0.5;  ///< what `rate_share_` is, if not 0
constexpr std::array<std::size_t, 2> kLeastLeaves{1, 4};
/// Of the columns, tried at each node.
constexpr double kColumnShare = 0.5;

using Weights = std::array<double, 3>;

/// Thirds for each, at most 1 together; equal ones first, which others have to beat.
std::vector<Weights> candidates() {
  std::vector<Weights> all;
  all.reserve(kEqualShares.size());
  for (const double s : kEqualShares) all.push_back({s / 3, s / 3, s / 3});
  for (int a = 0; a <= 3; ++a) {
    for (int b = 0; a + b <= 3; ++b) {
      for (int c = 0; a + b + c <= 3; ++c) {
        if (a != b || b != c) all.push_back({a / 3.0, b / 3.0, c / 3.0});
      }
    }
  }
  return all;
}

/// costs + Σ weight × correction.
FeatureMatrix mixed(FeatureMatrix y, const std::array<FeatureMatrix, 3>& corrections, const Weights& weights) {
  for (std::size_t k = 0; k < weights.size(); ++k) {
    for (std::size_t i = 0; weights[k] > 0 && i < y.values.size(); ++i)
      y.values[i] += weights[k] * corrections[k].values[i];
  }
  return y;
}

}  // namespace

constexpr CorrectedCosts::Step CorrectedCosts::kStep{.share = 0.5, .limit = 0.1};

FeatureMatrix CorrectedCosts::stepped(FeatureMatrix y, const FeatureMatrix& direct, const Step& step) {
  for (std::size_t i = 0; i < y.values.size(); ++i)
    y.values[i] += std::clamp(step.share * (direct.values[i] - y.values[i]), -step.limit, step.limit);
  return y;
}

FeatureMatrix CorrectedCosts::by_costs(const Parts& parts, const CounterProblem& p, std::span<const std::size_t> rows) {
  return relative_to_base(p, rows, predict_log_seconds(parts.costs, p, rows));
}

FeatureMatrix CorrectedCosts::correction_inputs(const Parts& parts, const CounterProblem& p,
                                                std::span<const std::size_t> rows, const FeatureMatrix& costs) {
  const FeatureMatrix x = parts.inputs.rows(*p.data, rows);
  FeatureMatrix both{x.rows, x.columns + costs.columns, {}};
  for (std::size_t r = 0; r < x.rows; ++r) {
    const auto at = [](const FeatureMatrix& m, std::size_t row) {
      return m.values.begin() + static_cast<std::ptrdiff_t>(row * m.columns);
    };
    both.values.insert(both.values.end(), at(x, r), at(x, r + 1));
    both.values.insert(both.values.end(), at(costs, r), at(costs, r + 1));
  }
  return both;
}

std::array<FeatureMatrix, 3> CorrectedCosts::corrections(const Parts& parts, const CounterProblem& p,
                                                         std::span<const std::size_t> rows,
                                                         const FeatureMatrix& costs) {
  const FeatureMatrix x = correction_inputs(parts, p, rows, costs);
  return {parts.trees.predict(x), parts.likeness.predict(x), parts.networks.predict(x)};
}

Trees CorrectedCosts::fit_trees(const FeatureMatrix& x, const FeatureMatrix& left, const Choice& choice,
                                const Random& random) {
  return Trees::fit(x, left,
                    {.kind = TreeOptions::Kind::Extra,
                     .trees = choice.trees,
                     .least_leaf = choice.least_leaf,
                     .column_share = kColumnShare},
                    random);
}

Result<CorrectedCosts::Parts> CorrectedCosts::fit_parts(const CounterProblem& p, std::span<const std::size_t> rows,
                                                        const Choice& choice, const Random& random,
                                                        Diagnostics& diags) const {
  Parts parts{.costs = fit_machine_costs(p, rows, choice.sharpness, all_work(*p.data))};
  parts.inputs = CounterInputs::fit(*p.data, rows, choice.inputs);
  if (correction_ == Correction::None) return parts;
  const FeatureMatrix costs = by_costs(parts, p, rows);
  FeatureMatrix left = p.target(rows);
  for (std::size_t i = 0; i < left.values.size(); ++i) left.values[i] -= costs.values[i];
  const FeatureMatrix x = correction_inputs(parts, p, rows, costs);
  std::vector<Column> columns = parts.inputs.columns();
  std::vector<Normaliser::Scale> scales = parts.inputs.scales();
  for (const std::size_t m : p.machines) columns.push_back({"costs on " + p.data->machines[m], "1", {}});
  scales.resize(columns.size(), Normaliser::Scale::Linear);
  parts.trees = fit_trees(x, left, choice, random);
  parts.likeness = KernelRegression::fit(x, left, columns, scales);
  auto networks = Networks::fit(x, left, columns, scales, choice.networks, random.stream("networks"), diags);
  if (!networks) return Failure{};
  parts.networks = std::move(*networks);
  return parts;
}

Status CorrectedCosts::fit_direct(Parts& parts, const CounterProblem& p, std::span<const std::size_t> rows,
                                  const Random& random, Diagnostics& diags) {
  parts.counters = CounterInputs::fit(*p.data, rows, InputKind::Counters);
  auto networks = Networks::fit(parts.counters.rows(*p.data, rows), p.target(rows), parts.counters.columns(),
                                parts.counters.scales(), kDirect, random.stream("direct"), diags);
  if (!networks) return Failure{};
  parts.direct = std::move(*networks);
  return ok();
}

FeatureMatrix CorrectedCosts::by_direct(const Parts& parts, const CounterProblem& p,
                                        std::span<const std::size_t> rows) {
  return parts.direct.predict(parts.counters.rows(*p.data, rows));
}

struct CorrectedCosts::HeldBack {
  FeatureMatrix target, costs;
  std::array<std::array<FeatureMatrix, 3>, kLeastLeaves.size()> corrections;  ///< by the size of leaves
};

Result<CorrectedCosts::HeldBack> CorrectedCosts::hold_back(const CounterProblem& p, std::span<const std::size_t> rows,
                                                           const std::vector<std::vector<std::size_t>>& folds,
                                                           const Choice& chosen, const Random& random,
                                                           Diagnostics& diags) const {
  HeldBack out;
  for (const auto& part : folds) {
    const auto rest = without(rows, part);
    Choice choice = chosen;
    choice.least_leaf = kLeastLeaves[0], choice.trees = kValidationTrees,
    choice.networks.networks = kValidationNetworks;
    auto parts = fit_parts(p, rest, choice, random, diags);
    if (!parts) return Failure{};
    const FeatureMatrix costs = by_costs(*parts, p, part);
    append(out.target, p.target(part));
    append(out.costs, costs);
    if (correction_ == Correction::None) continue;
    const auto here = corrections(*parts, p, part, costs);
    for (auto& of_leaf : out.corrections) {
      for (std::size_t k = 1; k < here.size(); ++k) append(of_leaf[k], here[k]);
    }
    append(out.corrections[0][0], here[0]);
    const FeatureMatrix costs_rest = by_costs(*parts, p, rest), x_rest = correction_inputs(*parts, p, rest, costs_rest),
                        x = correction_inputs(*parts, p, part, costs);
    FeatureMatrix left = p.target(rest);
    for (std::size_t i = 0; i < left.values.size(); ++i) left.values[i] -= costs_rest.values[i];
    for (std::size_t l = 1; l < kLeastLeaves.size(); ++l) {
      choice.least_leaf = kLeastLeaves[l];
      append(out.corrections[l][0], fit_trees(x_rest, left, choice, random).predict(x));
    }
  }
  return out;
}

Status CorrectedCosts::consider_step(const CounterProblem& p, std::span<const std::size_t> rows, const Validation& v,
                                     FeatureMatrix& best, const Random& random, Diagnostics& diags) {
  FeatureMatrix direct;
  for (const auto& part : v.folds) {
    Parts of_fold;
    if (!fit_direct(of_fold, p, without(rows, part), random, diags)) return Failure{};
    append(direct, by_direct(of_fold, p, part));
  }
  FeatureMatrix y = stepped(best, direct, kStep);
  if (absolute_error(v.target, y) >= (1 + kBetter) * absolute_error(v.target, best)) return ok();
  best = std::move(y);
  step_ = kStep;
  return fit_direct(parts_, p, rows, random, diags);
}

void CorrectedCosts::consider_launch_and_rate(const CounterProblem& p, std::span<const std::size_t> rows,
                                              const Validation& v, FeatureMatrix& best) {
  FeatureMatrix by_rate;
  for (const auto& part : v.folds) {
    const auto rest = without(rows, part);
    const CounterInputs read = CounterInputs::fit(*p.data, rest, InputKind::CountersAndWork);
    append(by_rate, LaunchAndRate::fit(p, rest, read).predict(p, part, read));
  }
  FeatureMatrix y = between(best, by_rate, kHalf);
  if (absolute_error(v.target, y) >= absolute_error(v.target, best)) return;
  best = std::move(y);
  rate_share_ = kHalf;
  parts_.launch_and_rate = LaunchAndRate::fit(p, rows, parts_.inputs);
}

Status CorrectedCosts::fit(const CounterProblem& p, std::span<const std::size_t> rows, SplitKind kind,
                           const Random& random, Diagnostics& diags) {
  const auto folds = held_back(*p.data, rows, kind, kValidationFolds, random.stream("validation"));
  Choice choice{.sharpness = choose_sharpness(p, rows, folds, all_work(*p.data))};
  std::vector<InputKind> inputs{InputKind::CountersAndWork};
  if (correction_ != Correction::None && !shared_words(*p.data, rows).empty()) inputs.push_back(InputKind::All);
  FeatureMatrix target, best;
  double least = std::numeric_limits<double>::infinity();
  const auto take =
      [&](const HeldBack& held, FeatureMatrix y, double handicap, const Weights& weights, const Choice& made) {
    const double error = absolute_error(held.target, y) * handicap;
    if (error >= least) return;
    least = error;
    weights_ = weights;
    choice = made;
    target = held.target;
    best = std::move(y);
  };
  for (const InputKind read : inputs) {
    Choice made{.sharpness = choice.sharpness, .inputs = read};
    const auto held = hold_back(p, rows, folds, made, random, diags);
    if (!held) return Failure{};
    take(*held, held->costs, 1, {}, made);
    for (std::size_t l = 0; l < kLeastLeaves.size() && correction_ != Correction::None; ++l) {
      made.least_leaf = kLeastLeaves[l];
      for (const Weights& w : candidates()) {
        const bool equal = w[0] == w[1] && w[1] == w[2];
        const double handicap = (equal ? 1 : 1 + kClearlyLess) * (read == InputKind::All ? 1 + kBetter : 1);
        take(*held, mixed(held->costs, held->corrections[l], w), handicap, w, made);
      }
    }
  }
  auto parts = fit_parts(p, rows, choice, random, diags);
  if (!parts) return Failure{};
  parts_ = std::move(*parts);
  step_ = {};
  rate_share_ = 0;
  const Validation validation{folds, target};
  if (shrinkage() > 0 && !consider_step(p, rows, validation, best, random, diags)) return Failure{};
  if (correction_ != Correction::None) consider_launch_and_rate(p, rows, validation, best);
  interval_ = nine_of_ten(target, best);
  return ok();
}

void CorrectedCosts::save(Checkpoint& c) const {
  std::vector<NamedTensor>& tensors = c.tensors;
  FeatureMatrix costs{parts_.costs.size(), parts_.costs.front().log_cost.size(), {}};
  for (const MachineCosts& m : parts_.costs)
    costs.values.insert(costs.values.end(), m.log_cost.begin(), m.log_cost.end());
  tensors.push_back(matrix_tensor("costs", costs));
  tensors.push_back(vector_tensor("inputs.substitutes", parts_.inputs.substitutes()));
  tensors.push_back(vector_tensor("inputs.none", parts_.inputs.none()));
  tensors.push_back(vector_tensor("inputs.masked", parts_.inputs.mask()));
  c.vocabulary = parts_.inputs.words();
  if (shrinkage() > 0) {
    parts_.trees.save("trees.", tensors);
    parts_.likeness.save("likeness.", tensors);
    parts_.networks.save("networks.", tensors);
  }
  if (step_.share > 0) {
    parts_.direct.save("direct.", tensors);
    c.settings[kStepShare] = step_.share;
    c.settings[kStepLimit] = step_.limit;
  }
  if (rate_share_ > 0) {
    parts_.launch_and_rate.save("rate.", tensors);
    c.settings[kRateShare] = rate_share_;
  }
  for (std::size_t k = 0; k < weights_.size(); ++k) c.settings[kWeightNames[k]] = weights_[k];
  c.settings["sharpness"] = parts_.costs.front().sharpness;
}

Status CorrectedCosts::restore(const CounterDataset& names, std::size_t machines, const Checkpoint& c,
                               Diagnostics& diags) {
  const auto setting = [&](const char* name, double lowest, double highest, double& out) {
    const auto found = c.settings.find(name);
    if (found == c.settings.end() || !(found->second >= lowest && found->second <= highest)) return false;
    out = found->second;
    return true;
  };
  double sharpness = 1;
  for (std::size_t k = 0; k < weights_.size(); ++k) {
    if (!setting(kWeightNames[k], 0, 1, weights_[k]))
      return diags.error(fmt::format("checkpoint: {} is missing or out of range", kWeightNames[k]));
  }
  step_ = {};
  if (c.settings.contains(kStepShare) &&
      !(setting(kStepShare, 0, 1, step_.share) && setting(kStepLimit, 0, 10, step_.limit))) {
    return diags.error(fmt::format("checkpoint: {} or {} is out of range", kStepShare, kStepLimit));
  }
  rate_share_ = 0;
  if (c.settings.contains(kRateShare) && !setting(kRateShare, 0, 1, rate_share_))
    return diags.error(fmt::format("checkpoint: {} is out of range", kRateShare));
  if (!setting("sharpness", 1, 100, sharpness)) return diags.error("checkpoint: sharpness is missing or out of range");
  if (c.vocabulary.size() > kMostWords) return diags.error(fmt::format("checkpoint: more than {} words", kMostWords));
  TensorReader read(c.tensors, diags);
  const FeatureMatrix costs = read.matrix("costs", machines, names.work.size());
  const auto substitutes = read.vector("inputs.substitutes", names.counters.size()),
             none = read.vector("inputs.none", names.work.size()),
             mask = read.vector("inputs.masked", names.counters.size());
  if (!read.good()) return Failure{};
  parts_ = {};
  for (std::size_t m = 0; m < machines; ++m) {
    MachineCosts& of_machine = parts_.costs.emplace_back(MachineCosts{.sharpness = sharpness});
    for (std::size_t k = 0; k < costs.columns; ++k) of_machine.log_cost.push_back(costs.at(m, k));
  }
  parts_.inputs = CounterInputs::restore(names, InputKind::All, substitutes, mask, none, c.vocabulary);
  if (rate_share_ > 0) {
    auto launch_and_rate = LaunchAndRate::restore("rate.", c.tensors, names, parts_.inputs, machines, diags);
    if (!launch_and_rate) return Failure{};
    parts_.launch_and_rate = std::move(*launch_and_rate);
  }
  if (shrinkage() == 0) return ok();
  const std::size_t columns = parts_.inputs.columns().size() + machines;
  auto trees = Trees::restore("trees.", c.tensors, columns, machines, diags);
  auto likeness = trees ? KernelRegression::restore("likeness.", c.tensors, columns, machines, diags) : Failure{};
  auto networks =
      likeness ? Networks::restore("networks.", c.tensors, columns, NetworkOptions{}.hidden_layers, machines, diags)
               : Failure{};
  if (!networks) return Failure{};
  parts_.trees = std::move(*trees);
  parts_.likeness = std::move(*likeness);
  parts_.networks = std::move(*networks);
  if (step_.share == 0) return ok();
  parts_.counters = CounterInputs::restore(names, InputKind::Counters, substitutes, mask, {}, {});
  auto direct =
      Networks::restore("direct.", c.tensors, parts_.counters.columns().size(), kDirect.hidden_layers, machines, diags);
  if (!direct) return Failure{};
  parts_.direct = std::move(*direct);
  return ok();
}

FeatureMatrix CorrectedCosts::predict(const CounterProblem& p, std::span<const std::size_t> rows) const {
  FeatureMatrix y = by_costs(parts_, p, rows);
  if (shrinkage() > 0) y = mixed(y, corrections(parts_, p, rows, y), weights_);
  if (step_.share > 0) y = stepped(std::move(y), by_direct(parts_, p, rows), step_);
  return rate_share_ > 0 ? between(std::move(y), parts_.launch_and_rate.predict(p, rows, parts_.inputs), rate_share_)
                         : y;
}

std::vector<std::string> CorrectedCosts::words() const {
  return shrinkage() > 0 ? parts_.inputs.words() : std::vector<std::string>{};
}

std::string CorrectedCosts::findings() const {
  std::string found = fmt::format("the correction by likeness counts {:.0f} %", 100 * shrinkage());
  if (step_.share > 0)
    found += fmt::format(", networks on counters move predictions by up to {:.0f} %", 100 * std::expm1(step_.limit));
  if (rate_share_ > 0)
    found += fmt::format(", a launch and a rate per kernel count {:.0f} % of it all", 100 * rate_share_);
  if (!words().empty()) found += fmt::format(", and reads {} words of regions' names", words().size());
  return found;
}

double CorrectedCosts::base(const CounterProblem& p, std::size_t row) const {
  if (p.reference) return p.base(row);
  double mean = 0;
  for (const MachineCosts& c : parts_.costs)
    mean += predict_log_seconds(c, p.data->workloads[row].work) / static_cast<double>(parts_.costs.size());
  return mean;
}

std::unique_ptr<RelativeModel> make_costs_model() {
  return std::make_unique<CorrectedCosts>(CorrectedCosts::Correction::None);
}

}  // namespace perfc
