#include "pipeline/largest_batch.h"

#include <algorithm>

#include "whitebox/constants.h"
#include "whitebox/memory/memory.h"

namespace perfc {

std::optional<double> LargestBatch::held_mib(std::int64_t batch) {
  const auto [at, unasked] = held_.try_emplace(batch);
  if (!unasked) return at->second;
  request_.batch = batch;
  Diagnostics unsaid;
  const auto graph = file_.at(request_, unsaid);
  if (graph) at->second = memory_needs(*graph, request_.exec).allocated / constants::kBytesPerMib;
  return at->second;
}

std::optional<std::int64_t> LargestBatch::below(std::int64_t too_large, double capacity_mib) {
  const auto most = held_mib(too_large), least = held_mib(1);
  if (!most || !least || *most <= capacity_mib) return std::nullopt;
  if (*least > capacity_mib) return 0;
  std::int64_t fits = 1, over = too_large;
  double fits_mib = *least, over_mib = *most;
  for (bool halve = false; over - fits > 1;) {
    const std::int64_t width = over - fits;
    const double share = halve ? 0.5 : (capacity_mib - fits_mib) / (over_mib - fits_mib);
    const std::int64_t guess = fits + std::clamp<std::int64_t>(static_cast<std::int64_t>(share * width), 1, width - 1);
    const auto held = held_mib(guess);
    if (!held) return std::nullopt;
    if (*held <= capacity_mib) fits = guess, fits_mib = *held;
    else over = guess, over_mib = *held;
    halve = (over - fits) > width / 2;
  }
  return fits;
}

void add_largest_batches(std::vector<Report>& reports, ModelFile& file, const Request& request) {
  LargestBatch search(file, request);
  for (Report& r : reports) {
    if (r.fits()) continue;
    r.largest_batch = search.below(r.features.batch, r.device.memory_mib - r.prediction.memory.context_mib);
  }
}

}  // namespace perfc
