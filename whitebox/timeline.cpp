#include "whitebox/timeline.h"

#include <algorithm>
#include <cmath>

#include "whitebox/constants/runs.h"

namespace perfc {
namespace {

/// The kernels of a loop, or one that is in none.
struct Body {
  std::size_t first = 0, end = 0;
  double repeat = 1;
  double device_ms = 0;  ///< one trip
};

std::vector<Body> bodies(std::span<const Dispatched> kernels) {
  std::vector<Body> out;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const double repeat = kernels[i].repeat;
    if (repeat <= 0) continue;  // of a loop that makes no trip
    const bool goes_on = !out.empty() && repeat != 1 && out.back().repeat == repeat && out.back().end == i;
    if (!goes_on) out.push_back({i, i, repeat, 0});
    out.back().end = i + 1;
    out.back().device_ms += kernels[i].device_ms;
  }
  return out;
}

}  // namespace

Timeline Timeline::of(std::span<const Dispatched> kernels, double host_ms, Pacing pacing) {
  if (pacing == Pacing::Awaited) return awaited(kernels, host_ms);
  double device_ms = 0;
  for (const Dispatched& k : kernels) device_ms += k.device_ms * k.repeat;
  return queued(device_ms, host_ms);
}

Timeline Timeline::awaited(std::span<const Dispatched> kernels, double host_ms) {
  Timeline out({{host_ms, 0}});
  double after = 0;  // the device's time of what comes later
  const std::vector<Body> all = bodies(kernels);
  for (auto b = all.rbegin(); b != all.rend(); ++b) {
    const double before = b->first > 0 ? kernels[b->first - 1].host_ms : 0,
                 host_trip = (kernels[b->end - 1].host_ms - before) / b->repeat;
    for (const double trips_left : {0.0, b->repeat - 1}) {  // the last trip, the first
      double here = after + trips_left * b->device_ms;
      for (std::size_t i = b->end; i-- > b->first;) {
        here += kernels[i].device_ms;
        const double call = i == b->first ? before : kernels[i - 1].host_ms,
                     sent = std::lerp(call, kernels[i].host_ms, constants::kSentInCall);
        out.add({before + (b->repeat - 1 - trips_left) * host_trip + (sent - before) / b->repeat, here});
      }
      if (b->repeat == 1) break;
    }
    after += b->repeat * b->device_ms;
  }
  return out;
}

Timeline Timeline::queued(double device_ms, double host_ms) { return Timeline({{host_ms, 0}, {0, device_ms}}); }

/// Keeps the upper hull: a sum that is shorter in both, or below the line through its neighbours, is never the longest.
void Timeline::add(Sum s) {
  if (s.device_ms <= sums_.back().device_ms) return;
  while (sums_.size() >= 2) {
    const Sum &a = sums_[sums_.size() - 2], &b = sums_.back();
    if ((b.device_ms - a.device_ms) * (s.host_ms - a.host_ms) < (b.host_ms - a.host_ms) * (s.device_ms - a.device_ms))
      break;
    sums_.pop_back();
  }
  sums_.push_back(s);
}

const Timeline::Sum& Timeline::longest(double device_factor, double host_factor) const {
  return *std::ranges::max_element(sums_, {}, [=](const Sum& s) { return s.ms(device_factor, host_factor); });
}

double Timeline::ms(double device_factor, double host_factor) const {
  return longest(device_factor, host_factor).ms(device_factor, host_factor);
}

TimeInterval time_interval(const Timeline& t, double device_factor, double host_factor) {
  const double now = t.ms();
  if (now <= 0) return {};
  const auto moved = [&](double device, double host) {
    return std::exp(std::hypot(std::log(t.ms(device) / now), std::log(t.ms(1, host) / now)));
  };
  return {.down = moved(1 / device_factor, 1 / host_factor), .up = moved(device_factor, host_factor)};
}

}  // namespace perfc
