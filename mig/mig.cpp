#include "mig/mig.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>

namespace perfc {

std::string dippm_profile(double memory_mb) {
  if (!(memory_mb > 0)) return "";
  if (memory_mb < 5000) return "1g.5gb";
  if (memory_mb < 10000) return "2g.10gb";
  if (memory_mb < 20000) return "3g.20gb";
  if (memory_mb < 40000) return "7g.40gb";
  return "";
}

MigDecision choose_profile(const PreparedModel& model, const Device& device, std::int64_t batch,
                           const MigGoals& goals) {
  MigDecision out;
  std::vector<std::size_t> order(device.mig.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const MigProfile& x = device.mig[a];
    const MigProfile& y = device.mig[b];
    return std::pair(x.compute_slices, x.memory_slices) < std::pair(y.compute_slices, y.memory_slices);
  });
  const MigProfile* same = nullptr;  // profiles that differ in media engines only follow each other
  Prediction p;
  for (std::size_t i : order) {
    const MigProfile& profile = device.mig[i];
    if (!same || std::tie(same->sms, same->memory_slices, same->memory_mib) !=
                     std::tie(profile.sms, profile.memory_slices, profile.memory_mib)) {
      p = model.on(slice(device, profile));
    }
    same = &profile;
    MigOption option{.profile = profile};
    option.memory_mib = p.memory.needed_mib();
    option.latency_ms = p.latency_ms;
    option.energy_j = p.energy_j;
    option.throughput_per_s =
        p.latency_ms > 0 ? static_cast<double>(batch) * profile.max_instances / p.latency_ms * 1e3 : 0;
    const double usable = profile.memory_mib * (1 - goals.headroom);
    option.fits = option.memory_mib < usable;
    if (!option.fits) {
      option.why = fmt::format("needs {:.0f} of {:.0f} MiB ({:.0f} % kept free)", option.memory_mib, profile.memory_mib,
                               goals.headroom * 100);
    } else if (goals.max_latency_ms && option.latency_ms > *goals.max_latency_ms) {
      option.why = fmt::format("{:.2f} ms exceeds {:g} ms", option.latency_ms, *goals.max_latency_ms);
    } else if (goals.min_throughput_per_s && option.throughput_per_s < *goals.min_throughput_per_s) {
      option.why = fmt::format("{:.0f}/s is below {:g}/s", option.throughput_per_s, *goals.min_throughput_per_s);
    } else if (!out.profile) {
      out.profile = profile.name;
    }
    out.options.push_back(std::move(option));
  }
  if (out.profile) {
    const auto chosen = std::find_if(out.options.begin(), out.options.end(),
                                     [&](const MigOption& o) { return o.profile.name == *out.profile; });
    out.why = fmt::format("smallest profile that fits {:.0f} MiB{}", chosen->memory_mib,
                          goals.max_latency_ms || goals.min_throughput_per_s ? " and meets the goals" : "");
  } else {
    out.why = out.options.empty() ? "the device has no MIG profiles" : "no profile fits and meets the goals";
  }
  return out;
}

}  // namespace perfc
