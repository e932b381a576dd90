#include "counters/models/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "counters/data/name_words.h"

namespace perfc {
namespace {

/// Counters up to this are read as they are.
constexpr double kMagnitudes = 1000;
/// ln of no work: this much below the least that training has.
constexpr double kBelowLeast = 3;

}  // namespace

CounterInputs CounterInputs::fit(const CounterDataset& d, std::span<const std::size_t> rows, InputKind kind) {
  CounterInputs in;
  in.kind_ = kind;
  for (std::size_t c = 0; c < d.counters.size(); ++c) {
    double sum = 0;
    std::size_t known = 0;
    for (const std::size_t r : rows) {
      const double v = d.workloads[r].counters[c];
      if (!std::isnan(v)) sum += v, ++known;
    }
    in.substitutes_.push_back(known > 0 ? sum / static_cast<double>(known) : 0);
    if (known < rows.size()) in.masked_.push_back(c);
  }
  for (std::size_t k = 0; k < d.work.size() && kind != InputKind::Counters; ++k) {
    double least = 1e300;
    for (const std::size_t r : rows) {
      if (d.workloads[r].work[k] > 0) least = std::min(least, d.workloads[r].work[k]);
    }
    in.none_.push_back(least == 1e300 ? 0 : std::log(least) - kBelowLeast);
  }
  if (kind == InputKind::All) in.words_ = shared_words(d, rows);
  in.name_columns(d, rows);
  return in;
}

CounterInputs CounterInputs::restore(const CounterDataset& names, InputKind kind, std::vector<double> substitutes,
                                     std::span<const double> mask, std::vector<double> none,
                                     std::vector<std::string> words) {
  CounterInputs in;
  in.kind_ = kind;
  in.substitutes_ = std::move(substitutes);
  for (std::size_t c = 0; c < mask.size(); ++c) {
    if (mask[c] != 0) in.masked_.push_back(c);
  }
  in.none_ = std::move(none);
  in.words_ = std::move(words);
  in.name_columns(names, {});
  return in;
}

std::vector<double> CounterInputs::mask() const {
  std::vector<double> mask(substitutes_.size(), 0);
  for (const std::size_t c : masked_) mask[c] = 1;
  return mask;
}

void CounterInputs::name_columns(const CounterDataset& d, std::span<const std::size_t> rows) {
  for (std::size_t c = 0; c < d.counters.size(); ++c) {
    columns_.push_back(d.counters[c]);
    double low = 0, high = 0;
    for (const std::size_t r : rows) {
      const double v = d.workloads[r].counters[c];
      if (!std::isnan(v)) low = std::min(low, v), high = std::max(high, v);
    }
    scales_.push_back(low >= 0 && high > kMagnitudes ? Normaliser::Scale::Log : Normaliser::Scale::Linear);
  }
  for (const std::size_t c : masked_) columns_.push_back({"missing " + d.counters[c].name, "1", {}});
  if (kind_ != InputKind::Counters) {
    for (std::size_t k = 0; k < d.work.size(); ++k) columns_.push_back({"ln " + d.work[k].name, "1", {}});
    for (std::size_t k = 0; k < d.work.size(); ++k) {
      for (std::size_t j = 0; j < k; ++j)
        columns_.push_back({fmt::format("ln {} / {}", d.work[k].name, d.work[j].name), "1", {}});
    }
  }
  for (const std::string& word : words_) columns_.push_back({"word " + word, "1", {}});
  scales_.resize(columns_.size(), Normaliser::Scale::Linear);
}

FeatureMatrix CounterInputs::rows(const CounterDataset& d, std::span<const std::size_t> rows) const {
  FeatureMatrix x{rows.size(), columns_.size(), {}};
  x.values.reserve(x.rows * x.columns);
  for (const std::size_t r : rows) {
    const CounterDataset::Workload& w = d.workloads[r];
    for (std::size_t c = 0; c < w.counters.size(); ++c)
      x.values.push_back(std::isnan(w.counters[c]) ? substitutes_[c] : w.counters[c]);
    for (const std::size_t c : masked_) x.values.push_back(std::isnan(w.counters[c]) ? 1 : 0);
    std::vector<double> logs;
    for (std::size_t k = 0; k < none_.size(); ++k) logs.push_back(w.work[k] > 0 ? std::log(w.work[k]) : none_[k]);
    x.values.insert(x.values.end(), logs.begin(), logs.end());
    for (std::size_t k = 0; k < logs.size(); ++k) {
      for (std::size_t j = 0; j < k; ++j) x.values.push_back(logs[k] - logs[j]);
    }
    const auto named = words_.empty() ? std::vector<std::string>{} : words_of(w.region);
    for (const std::string& word : words_)
      x.values.push_back(std::binary_search(named.begin(), named.end(), word) ? 1 : 0);
  }
  return x;
}

FeatureMatrix work_rows(const CounterDataset& d, std::span<const std::size_t> rows) {
  FeatureMatrix w{rows.size(), d.work.size(), {}};
  for (const std::size_t r : rows)
    w.values.insert(w.values.end(), d.workloads[r].work.begin(), d.workloads[r].work.end());
  return w;
}

}  // namespace perfc
