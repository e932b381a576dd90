#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "counters/models/counter_predictor.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  perfc::Diagnostics diags("fuzz.safetensors");
  const auto model = perfc::CounterPredictor::parse({reinterpret_cast<const char*>(data), size}, diags);
  if (!model && diags.errors() == 0) std::abort();
  if (!model) return 0;
  // What was accepted predicts, from everything and from nothing.
  perfc::CounterDataset d = model->names();
  for (const double value : {1.0, 0.0, std::numeric_limits<double>::quiet_NaN()}) {
    perfc::CounterDataset::Workload& w = d.workloads.emplace_back();
    w.counters.assign(d.counters.size(), value);
    w.work.assign(d.work.size(), value);
    w.seconds.assign(d.machines.size(), value > 0 ? value : std::numeric_limits<double>::quiet_NaN());
  }
  for (const auto& p : model->predict(d)) {
    if (p.machines.size() != d.machines.size()) std::abort();
  }
  return 0;
}
