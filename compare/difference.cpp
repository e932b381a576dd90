#include "compare/difference.h"

#include <algorithm>
#include <cmath>

#include "whitebox/constants/runs.h"

namespace perfc {
namespace {

// From pairs of timm's labels, by studies/differences.py; judged on families that it did not fit (docs/judged.md).
/// Half width of ln(head ÷ base) that is always there: two runs of one network differ by so much.
constexpr double kDifferenceNoise = 0.02;
/// What is left of either version's half width where all of the time changed, and the power of the share that did.
constexpr double kDifferenceLeft = 0.8, kDifferenceBend = 0.35;
/// Tail of the errors where all of the time changed: 99 % lie within it and the half width, in squares. What strangers'
/// wider intervals add is not multiplied.
constexpr double kDifferenceTail = 0.25;

/// Of a step in memory, and of what either version needs beside the context where all of the time changed: 90 % of the
/// steps between MIGProfiler's networks, which are unlike each other, lie within (docs/judged.md).
constexpr double kMemoryStep = 0.15, kMemoryLeft = 0.2;

/// Sharpness of the larger of the device's and the host's time. (our choice)
constexpr double kOverlapSharpness = 8;

/// Share of a run's time that its host sets, roughly: a baseline says how long either is, not how they follow each
/// other.
double host_share(const FiguresOf& f) {
  const double device = std::pow(f.device_ms, kOverlapSharpness);
  const double host = std::pow(f.host_ms, kOverlapSharpness);
  return device + host > 0 ? host / (device + host) : 0;
}

/// Half width, in ln, of the time but for what the host's factor adds.
double device_width(const FiguresOf& f) {
  const double all = f.latency_ms > 0 && f.latency_hi_ms > 0 ? std::log(f.latency_hi_ms / f.latency_ms) : 0;
  const double of_host = host_share(f) * std::log(f.host_interval);
  return std::sqrt(std::max(all * all - of_host * of_host, 0.0));
}

double bent(double changed_share) { return std::pow(std::clamp(changed_share, 0.0, 1.0), kDifferenceBend); }

/// Of an error of this half width on either version, what is left in the difference.
double left_over(double width, double changed_share) { return width * kDifferenceLeft * bent(changed_share); }

}  // namespace

double latency_difference_width(const FiguresOf& base, const FiguresOf& head, double changed_share) {
  const double of_device = left_over(std::max(device_width(base), device_width(head)), changed_share);
  // The host is one and the same: its factor moves the ratio only as far as it sets more of one time than of the other.
  const double of_host =
      std::log(std::max(base.host_interval, head.host_interval)) * std::abs(host_share(base) - host_share(head));
  return std::hypot(kDifferenceNoise, of_device, of_host);
}

double energy_difference_width(const FiguresOf& base, const FiguresOf& head, double changed_share) {
  return std::hypot(latency_difference_width(base, head, changed_share),
                    left_over(std::log(constants::kPowerInterval), changed_share));
}

double difference_tail(double changed_share) { return kDifferenceTail * bent(changed_share); }

double memory_difference_width(const FiguresOf& base, const FiguresOf& head, double changed_share) {
  const double most = std::max(base.memory_mib - base.context_mib, head.memory_mib - head.context_mib);
  return std::hypot(kMemoryStep * (head.memory_mib - base.memory_mib),
                    kMemoryLeft * std::clamp(changed_share, 0.0, 1.0) * std::max(most, 0.0));
}

}  // namespace perfc
