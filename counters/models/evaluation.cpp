#include "counters/models/evaluation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include <fmt/format.h>

namespace perfc {
namespace {

using Shown = MetricRow::Shown;
constexpr std::array kMetrics{
    MetricRow{"R²", &RelativeMetrics::r2, Shown::Number},
    MetricRow{"ratio error", &RelativeMetrics::ratio_error, Shown::Percent},
    MetricRow{"order", &RelativeMetrics::order, Shown::Percent},
    MetricRow{"pairs", &RelativeMetrics::pairs, Shown::Percent},
    MetricRow{"AUC", &RelativeMetrics::auc, Shown::Number},
    MetricRow{"top-1", &RelativeMetrics::top1, Shown::Percent},
    MetricRow{"regret", &RelativeMetrics::regret, Shown::Percent},
};

/// A random split holds back one of so many parts.
constexpr std::size_t kEvaluationFolds = 5;

using Ranking = std::vector<std::size_t>;

/// Relative times of all machines of a row, the reference's last.
std::vector<double> times(const FeatureMatrix& m, std::size_t row, ReferenceColumn reference) {
  const auto begin = m.values.begin() + static_cast<std::ptrdiff_t>(row * m.columns);
  std::vector<double> t(begin, begin + static_cast<std::ptrdiff_t>(m.columns));
  if (reference == ReferenceColumn::Yes) t.push_back(0);
  return t;
}

/// Machines from the fastest to the slowest.
Ranking order_of(const std::vector<double>& t) {
  Ranking o(t.size());
  std::iota(o.begin(), o.end(), std::size_t{0});
  std::stable_sort(o.begin(), o.end(), [&](std::size_t a, std::size_t b) { return t[a] < t[b]; });
  return o;
}

Ranking majority_order(const FeatureMatrix& target, ReferenceColumn reference) {
  std::map<Ranking, std::size_t> counts;
  for (std::size_t r = 0; r < target.rows; ++r) ++counts[order_of(times(target, r, reference))];
  const auto most =
      std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == counts.end() ? Ranking{} : most->first;
}

/// How surely a prediction has an order: its smallest gap along it, negative if it has not.
double confidence(const std::vector<double>& t, const Ranking& order) {
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i + 1 < order.size(); ++i) least = std::min(least, t[order[i + 1]] - t[order[i]]);
  return least;
}

/// Probability that a positive scores above a negative, ties by half (Mann and Whitney 1947).
double area_under_curve(const std::vector<double>& positive, const std::vector<double>& negative) {
  double wins = 0;
  for (const double p : positive) {
    for (const double n : negative) wins += p > n ? 1 : p == n ? 0.5 : 0;
  }
  return wins / (static_cast<double>(positive.size()) * static_cast<double>(negative.size()));
}

/// Rows, and the parts of them that are predicted by what the others taught.
struct Folds {
  std::vector<std::size_t> rows;
  std::vector<std::vector<std::size_t>> parts;
};
Folds folds_of(const CounterProblem& p, const std::vector<std::size_t>& rows, const CounterEvalOptions& o,
               const Random& random) {
  const bool within = o.on == MeasuredOn::Training;
  const std::size_t folds = o.split == SplitKind::Random || within ? kEvaluationFolds : o.folds;
  auto parts = held_back(*p.data, rows, o.split, folds, random.stream("split"));
  if (within) {
    const auto training = without(rows, parts[0]);
    return {training, held_back(*p.data, training, o.split, kEvaluationFolds, random.stream("within"))};
  }
  if (o.split == SplitKind::Random) parts.resize(1);
  return {rows, std::move(parts)};
}

FeatureMatrix joined(const FeatureMatrix& a, const FeatureMatrix& b) {
  if (a.rows == 0) return b;
  FeatureMatrix both = a;
  both.rows += b.rows;
  both.values.insert(both.values.end(), b.values.begin(), b.values.end());
  return both;
}

}  // namespace

std::span<const MetricRow> metric_table() { return kMetrics; }

RelativeMetrics measure(const FeatureMatrix& p, const FeatureMatrix& y, const FeatureMatrix& majority,
                        ReferenceColumn reference) {
  RelativeMetrics m;
  const auto rows = static_cast<double>(y.rows);
  double error = 0, spread = 0;
  std::vector<double> ratios;
  for (std::size_t k = 0; k < y.columns; ++k) {
    double mean = 0;
    for (std::size_t r = 0; r < y.rows; ++r) mean += y.at(r, k) / rows;
    for (std::size_t r = 0; r < y.rows; ++r) {
      error += std::pow(p.at(r, k) - y.at(r, k), 2);
      spread += std::pow(y.at(r, k) - mean, 2);
      ratios.push_back(std::abs(std::expm1(p.at(r, k) - y.at(r, k))));
    }
  }
  m.r2 = 1 - error / spread;
  std::sort(ratios.begin(), ratios.end());
  m.ratio_error = ratios.empty() ? 0 : (ratios[ratios.size() / 2] + ratios[(ratios.size() - 1) / 2]) / 2;
  const Ranking usual = majority_order(majority, reference);
  std::vector<double> positive, negative;
  double pairs = 0;
  for (std::size_t r = 0; r < y.rows; ++r) {
    const auto predicted = times(p, r, reference), measured = times(y, r, reference);
    const Ranking guess = order_of(predicted), truth = order_of(measured);
    m.order += guess == truth ? 1 / rows : 0;
    m.top1 += guess.front() == truth.front() ? 1 / rows : 0;
    m.regret += std::expm1(measured[guess.front()] - measured[truth.front()]) / rows;
    for (std::size_t a = 0; a < measured.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        pairs += 1;
        m.pairs += (predicted[a] < predicted[b]) == (measured[a] < measured[b]) ? 1 : 0;
      }
    }
    (truth == usual ? positive : negative).push_back(confidence(predicted, usual));
  }
  m.pairs /= pairs;
  m.auc = positive.empty() || negative.empty() ? std::numeric_limits<double>::quiet_NaN()
                                               : area_under_curve(positive, negative);
  return m;
}

MeanOverSeeds mean_over_seeds(std::span<const double> values) {
  // 97.5 % quantiles of Student's t by degrees of freedom, from 1.
  constexpr std::array kQuantiles{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                                  2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093};
  std::vector<double> known;
  for (const double v : values) {
    if (!std::isnan(v)) known.push_back(v);
  }
  const auto n = static_cast<double>(known.size());
  if (known.empty()) return {std::numeric_limits<double>::quiet_NaN(), 0};
  MeanOverSeeds e{.mean = std::accumulate(known.begin(), known.end(), 0.0) / n};
  if (known.size() < 2) return e;
  double squares = 0;
  for (const double v : known) squares += std::pow(v - e.mean, 2);
  e.half_width = kQuantiles[std::min(known.size() - 2, kQuantiles.size() - 1)] * std::sqrt(squares / (n - 1) / n);
  return e;
}

Result<std::vector<std::vector<MeanOverSeeds>>> evaluate_counters(const CounterProblem& problem,
                                                                  const CounterEvalOptions& o, Diagnostics& diags,
                                                                  std::vector<HeldBackPrediction>* predictions) {
  std::vector<std::size_t> rows = problem.measured();
  for (const std::string& name : o.without) {
    if (std::erase_if(rows, [&](std::size_t r) { return problem.data->workloads[r].application == name; }) == 0) {
      return diags.error(fmt::format("no measured workload is of the application '{}'", name.substr(0, 80)));
    }
  }
  if (rows.empty()) return diags.error("no workload is left to train on");
  if (!check_split(*problem.data, o.split, diags)) return Failure{};
  const FeatureMatrix all = problem.target(rows);
  const auto reference = problem.reference ? ReferenceColumn::Yes : ReferenceColumn::No;
  std::vector<std::vector<MeanOverSeeds>> table;
  for (const std::string& name : o.models) {
    const RelativeModelRow* row = find_relative_model(name);
    if (!row) return diags.error(fmt::format("no model is called '{}'", name));
    std::vector<std::vector<double>> values(kMetrics.size());
    for (std::uint64_t seed = o.first_seed; seed < o.first_seed + o.seeds; ++seed) {
      const Random random(seed);
      const Folds of_seed = folds_of(problem, rows, o, random);
      FeatureMatrix predicted, measured;
      const auto& parts = of_seed.parts;
      for (std::size_t i = 0; i < parts.size(); ++i) {
        const auto rest = without(of_seed.rows, parts[i]);
        if (rest.empty()) return diags.error("one kernel, application or suite alone cannot be left out");
        const auto model = row->make(o.vae);
        if (!model->fit(problem, rest, o.split, random.stream(i), diags)) return Failure{};
        const FeatureMatrix y = problem.target(parts[i]), p = model->predict(problem, parts[i]);
        for (std::size_t r = 0; predictions && r < y.rows; ++r) {
          const auto row_of = [&](const FeatureMatrix& m) {
            const auto begin = m.values.begin() + static_cast<std::ptrdiff_t>(r * m.columns);
            return std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(m.columns));
          };
          predictions->push_back({row->name, seed, parts[i][r], row_of(p), row_of(y)});
        }
        predicted = joined(predicted, p);
        measured = joined(measured, y);
      }
      const RelativeMetrics m = measure(predicted, measured, all, reference);
      for (std::size_t k = 0; k < kMetrics.size(); ++k) values[k].push_back(m.*kMetrics[k].value);
    }
    auto& estimates = table.emplace_back();
    for (const auto& v : values) estimates.push_back(mean_over_seeds(v));
  }
  return table;
}

}  // namespace perfc
