#include "learning/evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace perfc {

namespace {

struct Head {
  std::string_view name;
  double Label::*measured;
  double Estimate::*predicted;
};
constexpr std::array<Head, 3> kHeads{{{"latency", &Label::latency_ms, &Estimate::latency_ms},
                                      {"memory", &Label::memory_mib, &Estimate::memory_mib},
                                      {"energy", &Label::energy_j, &Estimate::energy_j}}};

/// Ranks from 0; equal values share the mean of theirs.
std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> rank(values.size());
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (std::size_t i = begin; i < end; ++i) rank[order[i]] = 0.5 * static_cast<double>(begin + end - 1);
  }
  return rank;
}

/// Spearman's coefficient: Pearson's, of the ranks.
double rank_correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const std::vector<double> x = ranks(a), y = ranks(b);
  const double mean = 0.5 * (static_cast<double>(x.size()) - 1);
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean) * (y[i] - mean);
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : kNotMeasured;
}

std::string percent(double share) { return std::isnan(share) ? "-" : fmt::format("{:.1f}", 100 * share); }

}  // namespace

double median(std::vector<double> v) {
  const std::size_t middle = v.size() / 2;
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(middle), v.end());
  const double upper = v[middle];
  if (v.size() % 2 == 1) return upper;
  return 0.5 * (upper + *std::max_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(middle)));
}

Score score(std::span<const Comparison> all) {
  Score s{.count = all.size()};
  if (all.empty()) return s;
  std::vector<double> errors, truths, predictions;
  std::size_t intervals = 0, inside = 0;
  for (const Comparison& m : all) {
    errors.push_back(std::abs(m.predicted - m.truth) / m.truth);
    truths.push_back(m.truth);
    predictions.push_back(m.predicted);
    if (std::isnan(m.low) || std::isnan(m.high)) continue;
    ++intervals;
    inside += m.low <= m.truth && m.truth <= m.high;
  }
  const auto share = [&](double limit) {
    const auto n = std::count_if(errors.begin(), errors.end(), [&](double e) { return e <= limit; });
    return static_cast<double>(n) / static_cast<double>(errors.size());
  };
  s.mape = std::accumulate(errors.begin(), errors.end(), 0.0) / static_cast<double>(errors.size());
  s.median_ape = median(errors);
  s.within_10 = share(0.10);
  s.within_20 = share(0.20);
  s.spearman = rank_correlation(truths, predictions);
  s.coverage = intervals > 0 ? static_cast<double>(inside) / static_cast<double>(intervals) : kNotMeasured;
  return s;
}

std::vector<ScoreRow> evaluate(const Dataset& dataset, const Split& split, std::span<const Estimate> estimates) {
  std::vector<ScoreRow> rows;
  for (const Head& head : kHeads) {
    std::vector<Comparison> all;
    std::array<std::vector<Comparison>, kPartNames.size()> parts;
    std::map<std::string, std::vector<Comparison>> families;
    for (std::size_t i = 0; i < dataset.labels.size(); ++i) {
      const Label& l = dataset.labels[i];
      Comparison m{l.*head.measured, estimates[i].*head.predicted};
      if (std::isnan(m.truth) || std::isnan(m.predicted)) continue;
      if (head.measured == &Label::latency_ms) m.low = estimates[i].latency_lo_ms, m.high = estimates[i].latency_hi_ms;
      const auto part = split.find(l.architecture);
      all.push_back(m);
      if (part == split.end()) continue;
      parts[static_cast<std::size_t>(part->second)].push_back(m);
      if (part->second == Part::Test) families[l.family].push_back(m);
    }
    if (all.empty()) continue;
    const std::string name(head.name);
    rows.push_back({name, "all", score(all)});
    for (std::size_t p = 0; p < parts.size(); ++p) {
      if (!parts[p].empty()) rows.push_back({name, std::string(kPartNames[p]), score(parts[p])});
    }
    for (const auto& [family, measured] : families) rows.push_back({name, "test, family " + family, score(measured)});
  }
  return rows;
}

std::string to_table(std::span<const ScoreRow> rows, TableStyle style) {
  using Cells = std::array<std::string, 9>;
  std::vector<Cells> cells{
      {"head", "labels", "n", "MAPE %", "median %", "within 10 %", "within 20 %", "Spearman", "coverage %"}};
  for (const ScoreRow& r : rows) {
    const Score& s = r.score;
    cells.push_back({r.head, r.group, fmt::format("{}", s.count), percent(s.mape), percent(s.median_ape),
                     percent(s.within_10), percent(s.within_20),
                     std::isnan(s.spearman) ? "-" : fmt::format("{:.3f}", s.spearman), percent(s.coverage)});
  }
  std::array<std::size_t, 9> width{};
  for (const Cells& row : cells) {
    for (std::size_t c = 0; c < row.size(); ++c) width[c] = std::max(width[c], row[c].size());
  }
  const std::string_view gap = style == TableStyle::Markdown ? " | " : "  ";
  std::string out;
  for (std::size_t r = 0; r < cells.size(); ++r) {
    std::string line;
    for (std::size_t c = 0; c < cells[r].size(); ++c) {
      line += c < 2 ? fmt::format("{:<{}}", cells[r][c], width[c]) : fmt::format("{:>{}}", cells[r][c], width[c]);
      if (c + 1 < cells[r].size()) line += gap;
    }
    out += style == TableStyle::Markdown ? fmt::format("| {} |\n", line) : line + "\n";
    if (r == 0 && style == TableStyle::Markdown) out += "|---|---|---:|---:|---:|---:|---:|---:|---:|\n";
  }
  return out;
}

}  // namespace perfc
