#include "pipeline/largest_batch.h"

#include <algorithm>

namespace perfc {

const std::optional<NeedsOnDevices>& LargestBatch::needs_of(std::int64_t batch) {
  const auto [at, unasked] = needs_.try_emplace(batch);
  if (!unasked) return at->second;
  Diagnostics unsaid;
  Request there = at_batch(request_, batch);
  const auto graph = file_.at(there, unsaid);
  if (graph) at->second.emplace(*graph, there.exec);
  return at->second;
}

std::optional<std::int64_t> LargestBatch::below(std::int64_t too_large, const Device& device) {
  const auto need_mib = [&](std::int64_t batch) {
    const auto& needs = needs_of(batch);
    return needs ? std::optional(least_mib(needs->on(device), device)) : std::nullopt;
  };
  const auto most = need_mib(too_large), least = need_mib(1);
  if (!most || !least || *most <= device.memory_mib) return std::nullopt;
  if (*least > device.memory_mib) return 0;
  std::int64_t fits = 1, over = too_large;
  double fits_mib = *least, over_mib = *most;
  for (bool halve = false; over - fits > 1;) {
    const std::int64_t width = over - fits;
    const double share = halve ? 0.5 : (device.memory_mib - fits_mib) / (over_mib - fits_mib);
    const std::int64_t guess = fits + std::clamp<std::int64_t>(static_cast<std::int64_t>(share * width), 1, width - 1);
    const auto need = need_mib(guess);
    if (!need) return std::nullopt;
    if (*need <= device.memory_mib) {
      fits = guess;
      fits_mib = *need;
    } else {
      over = guess;
      over_mib = *need;
    }
    halve = (over - fits) > width / 2;
  }
  return fits;
}

std::optional<std::int64_t> LargestBatch::most(std::int64_t from, const Device& device) {
  constexpr std::int64_t kMost = std::int64_t{1} << 24;
  for (std::int64_t batch = std::max<std::int64_t>(from, 1); batch <= kMost; batch *= 2) {
    const auto& needs = needs_of(batch);
    if (!needs) return std::nullopt;
    if (least_mib(needs->on(device), device) > device.memory_mib) return below(batch, device);
  }
  return std::nullopt;
}

void add_largest_batches(std::vector<Report>& reports, ModelFile& file, const Request& request) {
  LargestBatch search(file, request);
  for (Report& r : reports) {
    if (r.fits()) continue;
    r.largest_batch = search.below(r.features.batch, r.device);
  }
}

}  // namespace perfc
