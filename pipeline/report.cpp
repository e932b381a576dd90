/// What text and JSON both say of a prediction.
#include <fmt/format.h>

#include <algorithm>

#include "pipeline/pipeline.h"

namespace perfc {

double Report::throughput_per_s() const {
  return prediction.latency_ms > 0 ? static_cast<double>(features.batch) / prediction.latency_ms * 1e3 : 0;
}

double Report::energy_j_per_sample() const {
  return features.batch > 0 ? prediction.energy_j / static_cast<double>(features.batch) : 0;
}

double Report::waiting() const {
  return prediction.latency_ms > 0 ? std::clamp(1 - prediction.device_ms / prediction.latency_ms, 0.0, 1.0) : 0;
}

std::string memory_verdict(const Report& r) {
  std::string out = fmt::format("needs {:.0f} MiB, {} has {:.0f} MiB", r.prediction.memory.needed_mib(), r.device.name,
                                r.device.memory_mib);
  if (!r.largest_batch) return out;
  return out + (*r.largest_batch > 0 ? fmt::format("; the largest batch that fits is {}", *r.largest_batch)
                                     : "; not even one sample fits");
}

BoundShares bound_shares(const Report& r) {
  BoundShares out;
  for (const Report::HotOp& h : r.hot_ops) {
    (h.bound == Bound::Compute ? out.compute : h.bound == Bound::Memory ? out.memory : out.launch) += h.share;
  }
  return out;
}

}  // namespace perfc
