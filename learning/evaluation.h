#pragma once
/// How good predictions are: the numbers of docs/accuracy.md.
#include "learning/dataset.h"

namespace perfc {

/// A prediction of one label. NaN: this predictor does not predict it.
struct Estimate {
  double latency_ms = kNotMeasured, memory_mib = kNotMeasured, energy_j = kNotMeasured;
  double latency_lo_ms = kNotMeasured, latency_hi_ms = kNotMeasured;  ///< 90 % interval
};

double median(std::vector<double>);  ///< of at least one

/// Errors of `count` predictions, relative to the measured value.
struct Score {
  std::size_t count = 0;
  double mape = 0;  ///< mean of |predicted − measured| / measured
  double median_ape = 0;
  double within_10 = 0, within_20 = 0;  ///< share of predictions at most 10 % and 20 % off
  double spearman = 0;                  ///< rank correlation, ties averaged; NaN for fewer than 2 distinct values
  double coverage = 0;                  ///< share of measured values inside the interval; NaN without intervals
};

/// A prediction, its interval and the truth.
struct Comparison {
  double truth = 0, predicted = 0;
  double low = kNotMeasured, high = kNotMeasured;
};
Score score(std::span<const Comparison>);

/// One row of the result: a head ("latency"), a group of labels ("test",
/// "family resnet") and its score.
struct ScoreRow {
  std::string head, group;
  Score score;
};

/// For every head: all labels, each part of the split, then each family of the
/// test part. `estimates` are by index of the labels; those without a
/// prediction or a measurement do not count.
std::vector<ScoreRow> evaluate(const Dataset&, const Split&, std::span<const Estimate> estimates);

enum class TableStyle : unsigned char { Text, Markdown };
std::string to_table(std::span<const ScoreRow>, TableStyle);

/// Comparison against predicted latency as an SVG picture, both logarithmic, coloured by
/// part of the split; a point tells its model when pointed at.
std::string to_svg(const Dataset&, const Split&, std::span<const Estimate> estimates);

}  // namespace perfc
