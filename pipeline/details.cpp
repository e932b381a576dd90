#include "pipeline/details.h"

#include <algorithm>

#include "pipeline/dynamic_dims.h"
#include "whitebox/memory/on_device.h"

namespace perfc {
namespace {

Report::Figures figures(const Report& r) {
  const Prediction& p = r.prediction;
  return {.batch = r.features.batch,
          .device = r.device.name,
          .title = r.device.title,
          .latency_ms = p.latency_ms,
          .latency_lo_ms = p.latency_lo_ms,
          .latency_hi_ms = p.latency_hi_ms,
          .memory_mib = p.memory.total_mib(),
          .memory_lo_mib = p.memory_lo_mib,
          .memory_hi_mib = p.memory_hi_mib,
          .energy_j = p.energy_j,
          .device_memory_mib = r.device.memory_mib,
          .host_bound = p.host_bound(),
          .fits = r.fits()};
}

/// What else the request could have asked for: as it would be reported, but for MIG profiles. Empty: it cannot be had.
std::vector<Report> reports_on(const Graph& graph, std::vector<Device> devices, ModelFile& file,
                               const Predictor& predictor, const Request& request) {
  for (Device& d : devices) d.mig.clear();
  Diagnostics unsaid;
  auto reports = predict(graph, devices, predictor, request, unsaid);
  if (!reports) return {};
  add_dynamic_dims(*reports, graph, file, predictor, request);
  return std::move(*reports);
}

void add_other_batches(std::vector<Report>& reports, std::size_t nodes, ModelFile& file, const Predictor& predictor,
                       const Request& request) {
  const std::int64_t own = reports.front().features.batch;
  std::vector<Device> devices;
  devices.reserve(reports.size());
  for (const Report& r : reports) devices.push_back(r.device);
  for (const std::int64_t batch : batches_around(own, nodes)) {
    if (batch == own) {
      for (Report& r : reports) r.batches.push_back(figures(r));
      continue;
    }
    Request other = at_batch(request, batch);
    Diagnostics unsaid;
    const auto graph = file.at(other, unsaid);
    if (!graph) continue;
    const std::vector<Report> there = reports_on(*graph, devices, file, predictor, other);
    for (std::size_t d = 0; d < there.size(); ++d) reports[d].batches.push_back(figures(there[d]));
  }
}

void add_other_devices(std::vector<Report>& reports, const Graph& graph, ModelFile& file, const Predictor& predictor,
                       const Request& request) {
  std::vector<Device> devices = DeviceTable::builtin().all();
  std::erase_if(devices, [&](const Device& d) { return !runs_on(def(request.exec.runtime), d); });
  Diagnostics unsaid;
  if (!set_surroundings(request, devices, unsaid)) return;
  std::vector<Report::Figures> all;
  for (const Report& r : reports_on(graph, std::move(devices), file, predictor, request)) all.push_back(figures(r));
  for (Report& r : reports) {
    r.devices = all;
    const auto same = std::ranges::find(r.devices, r.device.name, &Report::Figures::device);
    if (same == r.devices.end()) r.devices.insert(r.devices.begin(), figures(r));  // a slice, or of a device file
    else *same = figures(r);
  }
}

}  // namespace

std::vector<std::int64_t> batches_around(std::int64_t batch, std::size_t nodes) {
  constexpr std::int64_t kMost = 1024;  ///< batch up to which powers of two are shown unless asked for (our choice)
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
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

Status add_details(std::vector<Report>& reports, ModelFile& file, const Predictor& predictor, Request request,
                   Diagnostics& diags) {
  if (reports.empty()) return ok();
  auto graph = file.at(request, diags);
  if (!graph) return Failure{};
  add_other_batches(reports, graph->size(), file, predictor, request);
  add_other_devices(reports, *graph, file, predictor, request);
  MemoryCourse course =
      memory_course(*graph, request.exec, workspace_on(reports.front().device, reports.front().exec.precision));
  const auto details = std::make_shared<const ModelDetails>(ModelDetails{std::move(*graph), std::move(course)});
  for (Report& r : reports) r.details = details;
  return ok();
}

}  // namespace perfc
