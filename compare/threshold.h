#pragma once
/// Which changes fail a pipeline, and which of these are meant.
#include <optional>
#include <string>
#include <vector>

#include "compare/comparison.h"

namespace perfc {

/// How far a figure may move towards the worse: "+5%" of the base, or "+100" in the figure's unit.
struct Step {
  double amount = 0;  ///< not negative
  bool relative = true;
  std::string text = "none";
};

struct Threshold {
  std::optional<Figure> figure;  ///< none: the device held the base and does not hold the head ("oom")
  Step step;
};
/// "latency=+5%,memory=+100,largest-batch=-10%,mig,oom". A figure alone: any step towards the worse.
Result<std::vector<Threshold>> parse_thresholds(std::string_view, Diagnostics&);

/// A change beyond a threshold.
struct Finding {
  std::string model, device;
  std::int64_t batch = 0;
  std::optional<Figure> figure;
  std::string what;   ///< "latency 20.1 ms → 22.4 ms, +11.4 % (90 %: +9.8 … +13.1 %)"
  std::string limit;  ///< "+5%"
  double relative = 0, absolute = 0;
  std::string acknowledged;  ///< why it is meant; empty: it is not
  std::string_view key() const { return figure ? def(*figure).key : "oom"; }
};
/// Only what is certain: the whole 99 % interval of the difference is towards the worse, and the change predicted is
/// beyond the threshold.
std::vector<Finding> findings(const Comparisons&, const std::vector<Threshold>&);

/// A regression that is meant. Empty: any model, any device; its reason is never empty.
struct Acknowledgement {
  std::string model, device, figure, reason;
  std::optional<Step> up_to;  ///< beyond it nobody meant it
  std::string place;          ///< "acknowledged.yaml:3"
};
/// "+8%" or "+100"; the sign may be left out.
std::optional<Step> parse_step(std::string_view);
/// Marks what is meant; returns the places of those that nothing matched.
std::vector<std::string> acknowledge(std::vector<Finding>&, const std::vector<Acknowledgement>&);

}  // namespace perfc
