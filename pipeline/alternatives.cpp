#include "pipeline/alternatives.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "whitebox/whitebox.h"

namespace perfc {
namespace {

/// Beyond this many times its batch nobody would call it the same run. (our choice)
constexpr std::int64_t kMostSamples = 256;

/// What stays of one that the host bounds: samples that keep the device as long as the host, at the device's time per
/// sample, to the next power of two.
std::int64_t busy_batch(const Report& r) {
  std::int64_t samples = 2;
  while (samples < kMostSamples && static_cast<double>(samples) * r.prediction.device_ms < r.prediction.host_ms)
    samples *= 2;
  return r.features.batch * samples;
}

/// Whether the answer hangs on which of several kinds of hosts it is. A runtime of its own dispatch has none.
bool asks_which_host(const Report& r) {
  return r.prediction.host_bound() && !r.device.host.kinds.empty() && def(r.exec.runtime).run_us == 0;
}

/// Predicts a request that differs in the options named, for these reports' devices.
void try_out(const std::string& options, Request changed, std::int64_t batch, ModelFile& file,
             const Predictor& predictor, const std::vector<Report*>& reports) {
  Diagnostics unsaid;
  const auto graph = file.at(changed, unsaid);
  if (!graph) return;
  const auto model = predictor.prepare(*graph, changed.exec, unsaid);
  if (!model) return;
  for (Report* r : reports) {
    const Prediction p = (*model)->on(r->device);
    const Report::Alternative a{options, batch, p.latency_ms};
    if (p.memory.needed_mib() <= r->device.memory_mib && a.throughput_per_s() > r->throughput_per_s())
      r->alternatives.push_back(a);
  }
}

double recorded_ms(const Report& r, double launch_ms) {
  const Dispatched graph{launch_ms, r.prediction.device_ms};
  return Timeline::of({&graph, 1}, launch_ms, r.exec.pacing).ms();
}

/// The kernels of these reports, launched as one graph: they are not predicted a second time.
void add_recorded(const RuntimeDef& graph, std::vector<Report>& reports) {
  for (Report& r : reports)
    if (runs_on(graph, r.device))
      r.runtimes.push_back({graph.id, r.exec.precision, recorded_ms(r, graph.run_us / 1e3)});
}

}  // namespace

void add_alternatives(std::vector<Report>& reports, ModelFile& file, const Predictor& predictor,
                      const Request& request) {
  std::vector<Report*> host_bound;
  std::map<std::int64_t, std::vector<Report*>> by_batch;
  for (Report& r : reports) {
    if (!r.prediction.host_bound() || r.prediction.device_ms <= 0) continue;
    host_bound.push_back(&r);
    by_batch[busy_batch(r)].push_back(&r);
  }
  if (host_bound.empty()) return;
  Request changed = request;
  if (request.exec.runtime == Runtime::PyTorch) {
    changed.exec = on_runtime(request.exec, Runtime::TorchCompile);
    try_out("--mode compiled", changed, host_bound.front()->features.batch, file, predictor, host_bound);
    changed.exec = request.exec;
  }
  for (const auto& [batch, those] : by_batch) {
    try_out(batch_flag(request, batch), at_batch(request, batch), batch, file, predictor, those);
  }
}

void add_hosts(std::vector<Report>& reports, ModelFile& file, const Predictor& predictor, Request request) {
  if (std::ranges::none_of(reports, [](const Report& r) { return asks_which_host(r); })) return;
  Diagnostics unsaid;
  const auto graph = file.at(request, unsaid);
  const auto model = graph ? predictor.prepare(*graph, request.exec, unsaid) : Failure{};
  if (!model) return;
  for (Report& r : reports) {
    if (!asks_which_host(r)) continue;
    for (const std::string& kind : r.device.host.kinds) {
      Device device = r.device;
      if (const auto host = find_host(kind, unsaid)) {
        device.host = *host;
        r.hosts.push_back({kind, (*model)->on(device).latency_ms});
      }
    }
  }
}

void add_runtimes(std::vector<Report>& reports, ModelFile& file, const Predictor& predictor, const Request& request) {
  if (request.exec.task != Task::Infer) return;
  std::map<std::tuple<ExecMode, bool, bool>, Result<Graph>> graphs;  // by what the passes ask of a runtime
  for (const RuntimeDef& runtime : runtime_table()) {
    if (runtime.id == request.exec.runtime || runtime.older) continue;
    if (runtime.id == Runtime::CudaGraph && request.exec.runtime == Runtime::PyTorch) {
      add_recorded(runtime, reports);
      continue;
    }
    Request changed = request;
    changed.exec = on_runtime(request.exec, runtime.id);
    if (runtime.mlas) changed.exec.precision = Precision::Fp32;
    if (!runtime.autocast && changed.exec.precision == Precision::Amp) changed.exec.precision = Precision::Fp16;
    Diagnostics unsaid;
    const std::tuple key{graph_mode(changed.exec), runtime.folds_quantisation, runtime.keeps_eight_bits};
    if (!graphs.contains(key)) graphs.emplace(key, file.at(changed, unsaid));
    const auto& graph = graphs.at(key);
    const auto model = graph ? predictor.prepare(*graph, changed.exec, unsaid) : Failure{};
    if (!model) continue;
    for (Report& r : reports)
      if (runs_on(runtime, r.device))
        r.runtimes.push_back({runtime.id, changed.exec.precision, (*model)->on(r.device).latency_ms});
  }
}

}  // namespace perfc
