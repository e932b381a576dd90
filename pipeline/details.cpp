#include "pipeline/details.h"

#include <algorithm>

namespace perfc {
namespace {

Report::Figures figures(const Prediction& p, const Device& device, std::int64_t batch) {
  return {.batch = batch,
          .device = device.name,
          .title = device.title,
          .latency_ms = p.latency_ms,
          .latency_lo_ms = p.latency_lo_ms,
          .latency_hi_ms = p.latency_hi_ms,
          .memory_mib = p.memory.total_mib(),
          .memory_lo_mib = p.memory_lo_mib,
          .memory_hi_mib = p.memory_hi_mib,
          .energy_j = p.energy_j,
          .device_memory_mib = device.memory_mib,
          .host_bound = p.host_bound(),
          .fits = p.memory.needed_mib() <= device.memory_mib};
}

void add_other_batches(std::vector<Report>& reports, std::size_t nodes, ModelFile& file, const Predictor& predictor,
                       const Request& request) {
  const std::int64_t own = reports.front().features.batch;
  for (const std::int64_t batch : batches_around(own, nodes)) {
    if (batch == own) {
      for (Report& r : reports) r.batches.push_back(figures(r.prediction, r.device, own));
      continue;
    }
    Diagnostics unsaid;
    const auto graph = file.at(at_batch(request, batch), unsaid);
    const auto model = graph ? predictor.prepare(*graph, request.exec, unsaid) : Failure{};
    if (!model) continue;
    for (Report& r : reports) r.batches.push_back(figures((*model)->on(r.device), r.device, batch));
  }
}

void add_other_devices(std::vector<Report>& reports, const Graph& graph, const Predictor& predictor,
                       const Request& request) {
  Diagnostics unsaid;
  const auto model = predictor.prepare(graph, request.exec, unsaid);
  if (!model) return;
  std::vector<Device> devices = DeviceTable::builtin().all();
  if (!set_surroundings(request, devices, unsaid)) return;
  std::vector<Report::Figures> all;
  const std::int64_t batch = reports.front().features.batch;
  for (const Device& d : devices) {
    if (runs_on(def(request.exec.runtime), d)) all.push_back(figures((*model)->on(d), d, batch));
  }
  for (Report& r : reports) {
    r.devices = all;
    const auto same = std::ranges::find(r.devices, r.device.name, &Report::Figures::device);
    const Report::Figures own = figures(r.prediction, r.device, batch);
    if (same == r.devices.end()) r.devices.insert(r.devices.begin(), own);  // a slice, or of a device file
    else *same = own;
  }
}

}  // namespace

std::vector<std::int64_t> batches_around(std::int64_t batch, std::size_t nodes) {
  constexpr std::int64_t kMost = 1024;
  const std::int64_t steps = nodes <= 2000 ? 3 : nodes <= 6000 ? 2 : 1;  // powers of two either way
  std::int64_t first = 1;
  while (first * 2 <= batch) first *= 2;
  for (std::int64_t i = 0; i < steps && first > 1; ++i) first /= 2;
  std::vector<std::int64_t> out;
  for (std::int64_t b = first; static_cast<std::int64_t>(out.size()) < 2 * steps + 1 && b <= std::max(kMost, batch);
       b *= 2)
    out.push_back(b);
  out.push_back(batch);
  std::ranges::sort(out);
  out.erase(std::ranges::unique(out).begin(), out.end());
  return out;
}

void add_details(std::vector<Report>& reports, Graph graph, ModelFile& file, const Predictor& predictor,
                 const Request& request) {
  if (reports.empty()) return;
  add_other_batches(reports, graph.size(), file, predictor, request);
  add_other_devices(reports, graph, predictor, request);
  MemoryCourse course = memory_course(graph, request.exec);
  const auto details = std::make_shared<const ModelDetails>(std::move(graph), std::move(course));
  for (Report& r : reports) r.details = details;
}

}  // namespace perfc
