#include "learning/held_out.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>

#include "ir/support/csv.h"
#include "learning/evaluation.h"

namespace perfc {
namespace {

/// Fewer errors than this make no quantile of their own.
constexpr std::size_t kFewest = 20;
constexpr double kUnjudged = 2;  ///< where no family was ever left out: single operators alone

/// Split conformal quantile (Lei et al., JASA 2018); 0 without errors.
double width(std::vector<double> errors) {
  if (errors.empty()) return 0;
  std::sort(errors.begin(), errors.end());
  const auto rank = static_cast<std::size_t>(std::ceil(kIntervalShare * static_cast<double>(errors.size() + 1)));
  return errors[std::min(rank, errors.size()) - 1];
}

}  // namespace

std::vector<LeftOut> what_to_leave_out(const CorrectedData& data, LeaveOutBoth both) {
  std::vector<LeftOut> out;
  for (std::size_t f = 0; f < data.folds(); ++f) out.push_back({.kind = LeftOut::Family, .fold = f});
  std::set<std::size_t> chips, with_models;
  for (const CorrectedItem& i : data.items()) {
    chips.insert(i.chip);
    if (i.is_model()) with_models.insert(i.chip);
  }
  if (chips.size() < 2) return out;
  // Single operators alone do not say how wide a model's interval is.
  for (const std::size_t c : with_models.empty() ? chips : with_models)
    out.push_back({.kind = LeftOut::Device, .chip = c});
  if (both == LeaveOutBoth::No) return out;
  for (const std::size_t c : with_models) {
    for (std::size_t f = 0; f < data.folds(); ++f) out.push_back({LeftOut::Both, f, c});
  }
  return out;
}

void HeldOut::add(const CorrectedItem& i, const LeftOut& left_out, std::size_t network, const Verdict& v,
                  const Residuals& residuals) {
  const Label& l = *i.label;
  // Nobody's group where the device was not seen.
  const std::string device = left_out.kind == LeftOut::Family ? l.device : "";
  const Residuals::Estimate e = residuals.at(v.fingerprint, device, l.exec.mode);
  const double believed = std::log(v.network_ms / v.whitebox_ms) * belief_in_networks(e.similarity) + e.log_factor;
  const double on_device = left_out.kind == LeftOut::Family ? 1 : kBeliefElsewhere;
  const double predicted_ms = v.whitebox_ms * std::exp(believed * on_device);
  const double log_ratio = std::log(predicted_ms / l.latency_ms), error = std::abs(log_ratio);
  const auto mode = static_cast<std::size_t>(l.exec.mode);
  if (i.is_model() && left_out.kind == LeftOut::Family)
    known_[mode][static_cast<std::size_t>(similarity_bin(e.similarity))][i.chip].push_back(error);
  if (i.is_model() && left_out.kind == LeftOut::Device) other_[{i.chip, l.exec.mode}].push_back(log_ratio);
  double kernels = 0, macs = 0, bytes = 0;
  for (std::size_t k = 0; k < i.graph->kernels.size(); ++k) {
    kernels += i.graph->count[k];
    macs += i.graph->count[k] * i.graph->kernels[k].work.macs;
    bytes += i.graph->count[k] * i.graph->kernels[k].traffic.bytes;
  }
  csv_ += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.3f}\n",
                      kLeftOutNames[left_out.kind], network, csv_field(l.model), csv_field(l.architecture),
                      csv_field(l.family), csv_field(i.group), l.batch.value_or(0), csv_field(l.device),
                      name(l.exec.precision), name(l.exec.mode), name(l.exec.layout), name(l.exec.norms), kernels, macs,
                      bytes, l.latency_ms, predicted_ms, v.network_ms, v.whitebox_ms, e.similarity);
}

std::array<double, kSimilarityBinNames.size()> HeldOut::widths(ExecMode mode, std::size_t without) const {
  const auto of_bin = [&](std::size_t m, std::size_t bin) {
    std::vector<double> all;
    for (const auto& [chip, errors] : known_[m][bin]) {
      if (chip != without) all.insert(all.end(), errors.begin(), errors.end());
    }
    return all;
  };
  const auto pool = [&](std::size_t m) {
    std::vector<double> all;
    for (std::size_t bin = 0; bin < known_[m].size(); ++bin) {
      const std::vector<double> errors = of_bin(m, bin);
      all.insert(all.end(), errors.begin(), errors.end());
    }
    return all;
  };
  const auto m = static_cast<std::size_t>(mode);
  std::vector<double> all = pool(m);
  if (all.size() < kFewest) {
    const std::vector<double> others = pool(1 - m);
    all.insert(all.end(), others.begin(), others.end());
  }
  std::array<double, kSimilarityBinNames.size()> out{};
  if (all.empty()) {
    out.fill(std::log(kUnjudged));
    return out;
  }
  // Bins whose errors are out of order are one (pool adjacent violators: Barlow et al. 1972).
  struct Pool {
    std::vector<double> errors;
    std::size_t bins = 1;
    double wide(const std::vector<double>& all) const { return width(errors.size() < kFewest ? all : errors); }
  };
  std::vector<Pool> pools;  // the most alike first
  for (std::size_t b = out.size(); b-- > 0;) {
    pools.push_back({.errors = of_bin(m, b)});
    while (pools.size() > 1 && pools.back().wide(all) < pools[pools.size() - 2].wide(all)) {
      const Pool last = std::move(pools.back());
      pools.pop_back();
      pools.back().errors.insert(pools.back().errors.end(), last.errors.begin(), last.errors.end());
      pools.back().bins += last.bins;
    }
  }
  std::size_t b = out.size();
  for (const Pool& p : pools) {
    for (std::size_t i = 0; i < p.bins; ++i) out[--b] = p.wide(all);
  }
  return out;
}

double HeldOut::other_device_width(std::size_t without) const {
  std::map<std::size_t, std::vector<double>> of_chips;  // squares of what each mode is off by
  for (const auto& [of, errors] : other_) {
    if (of.first == without) continue;
    const double off = median(errors);
    of_chips[of.first].push_back(off * off);
  }
  if (of_chips.empty())
    return std::min(widths(ExecMode::Eager, without).back(), widths(ExecMode::Compiled, without).back());
  double squares = 0;
  for (const auto& [chip, modes] : of_chips)
    squares += std::accumulate(modes.begin(), modes.end(), 0.0) / static_cast<double>(modes.size());
  using namespace boost::math;
  const auto devices = static_cast<double>(of_chips.size());
  return quantile(students_t(devices), (1 + kIntervalShare) / 2) * std::sqrt(squares / devices);
}

}  // namespace perfc
