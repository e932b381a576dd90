#include "pipeline/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "features/parameters.h"
#include "ir/control_flow.h"
#include "ir/infer_context.h"
#include "passes/batch_inputs.h"
#include "whitebox/memory/memory.h"

namespace perfc {
namespace {

bool binds_batch(const Request& request, const std::string& dim) {
  return !request.batch && request.import.batch_axes.empty() && names_batch(dim);
}

/// A built-in entry by its name, or else the one of a file.
template <class Entry>
Result<Entry> named_or_filed(const std::string& given, bool no_files,
                             Result<Entry> (*find)(std::string_view, Diagnostics&),
                             Result<Entry> (*parse)(std::string_view, Diagnostics&), Diagnostics& diags) {
  Diagnostics unknown;
  auto entry = find(given, unknown);
  if (entry) return entry;
  if (no_files || !std::filesystem::exists(given)) {
    diags.append(unknown);
    return Failure{};
  }
  Diagnostics file_diags(given);
  if (const auto source = Source::open(given, file_diags)) entry = parse(source->bytes(), file_diags);
  diags.append(file_diags);
  return entry;
}

std::vector<NodeNote> notes_on(const Graph& graph) {
  std::vector<NodeNote> out;
  const std::vector<double> params = learned_parameters_by_reader(graph);
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node& n = graph.node(id);
    out.push_back({n.kind == NodeKind::Call ? def(n.op).name : "optimizer", n.name, params[id]});
  }
  return out;
}

}  // namespace

Request at_batch(Request request, std::int64_t batch) {
  bool bound = false;
  for (auto& [name, value] : request.import.dims) {
    if (!binds_batch(request, name)) continue;
    value = batch;
    bound = true;
  }
  if (!bound) request.batch = batch;
  return request;
}

std::string batch_flag(const Request& request, std::int64_t batch) {
  for (const auto& [name, value] : request.import.dims) {
    if (binds_batch(request, name)) return fmt::format("--dim {}={}", name, batch);
  }
  return fmt::format("--batch {}", batch);
}

std::int64_t samples_of(const Graph& graph, const Request& request) {
  if (request.batch) return *request.batch;
  for (const auto& [name, value] : request.import.dims) {
    if (binds_batch(request, name)) return value;
  }
  const auto inputs = batch_inputs(graph, request.import.batch_axes);
  return inputs && inputs->samples.known() ? inputs->samples.value() : 1;
}

StaticFeatures static_features(const Graph& graph, const Request& request) {
  StaticFeatures f;
  f.batch = samples_of(graph, request);
  f.params = count_parameters(graph).learned;
  f.weight_mib = weight_bytes(graph, 4.0) / (1024.0 * 1024.0);
  struct Item {
    const Graph* graph;
    double times;
  };
  std::vector<Item> work{{&graph, 1.0}};
  while (!work.empty()) {
    const auto [g, times] = work.back();
    work.pop_back();
    for (NodeId id = 0; id < g->size(); ++id) {
      const Node& n = g->node(id);
      if (n.kind != NodeKind::Call) continue;
      ++f.nodes;
      const OpCost cost = op_cost(*g, id);
      f.macs += times * cost.macs;
      f.flops += times * (2 * cost.macs + cost.flops);
      f.conv2d += n.is(op("nn.conv2d"));
      f.dense += n.is(op("nn.dense"));
      f.relu += n.is(op("nn.relu"));
      const SymInt trips = n.regions.empty() ? SymInt(1) : trip_count(*g, id);
      for (const GraphRef& r : n.regions)
        work.push_back({r.get(), times * (trips.known() ? static_cast<double>(trips.value()) : 1.0)});
    }
  }
  return f;
}

Result<DeviceTable> device_table(const Request& request, Diagnostics& diags) {
  DeviceTable table = DeviceTable::builtin();
  if (request.device_file.empty()) return table;
  Diagnostics file_diags(request.device_file);
  auto source = Source::open(request.device_file, file_diags);
  Result<DeviceTable> extra = Failure{};
  if (source) extra = DeviceTable::parse(source->bytes(), file_diags);
  diags.append(file_diags);
  if (!extra) return Failure{};
  table.add(std::move(*extra));
  return table;
}

Result<std::vector<Device>> find_devices(const Request& request, Diagnostics& diags) {
  const auto table = device_table(request, diags);
  return table ? find_devices(*table, request, diags) : Failure{};
}

Result<std::vector<Device>> find_devices(const DeviceTable& table, const Request& request, Diagnostics& diags) {
  std::vector<Device> devices;
  for (const std::string& name : request.devices) {
    auto d = table.find(name, diags);
    if (!d) return Failure{};
    devices.push_back(std::move(*d));
  }
  if (!set_surroundings(request, devices, diags)) return Failure{};
  return devices;
}

Status set_surroundings(const Request& request, std::vector<Device>& devices, Diagnostics& diags) {
  if (!request.host.empty()) {
    const auto host = named_or_filed<Host>(request.host, request.names_no_files, find_host, parse_host, diags);
    if (!host) return Failure{};
    for (Device& d : devices) {
      d.host = *host;
      d.host_given = true;
    }
  }
  if (!request.stack.empty()) {
    const auto stack = named_or_filed<Stack>(request.stack, request.names_no_files, find_stack, parse_stack, diags);
    if (!stack) return Failure{};
    for (Device& d : devices) d.stack = *stack;
  }
  return ok();
}

ExecConfig with_software(ExecConfig exec, const std::vector<Device>& devices) {
  const auto is_before = [](const Device& d) { return d.stack.compiled_attention == CompiledAttention::Contiguous; };
  if (!devices.empty() && std::ranges::all_of(devices, is_before))
    exec.compiled_attention = CompiledAttention::Contiguous;
  return exec;
}

Status can_run(const Request& request, const Device& device, Diagnostics& diags) {
  const RuntimeDef& runtime = def(request.exec.runtime);
  if (runs_on(runtime, device)) return ok();
  const bool on_cpu = runtime.id == Runtime::OnnxRuntime && device.kind == "cpu";
  return diags.error(fmt::format("--runtime {} is for {}, which {} is not; give another --device{}", runtime.name,
                                 name(runtime.runs_on), device.name,
                                 on_cpu ? fmt::format(", or --runtime {}", def(Runtime::OnnxRuntimeCpu).name) : ""));
}

Result<std::vector<Report>> predict(const Graph& graph, const std::vector<Device>& devices, const Predictor& predictor,
                                    const Request& request, Diagnostics& diags) {
  const StaticFeatures features = static_features(graph, request);
  const ExecConfig exec = with_software(request.exec, devices);
  auto prepared = predictor.prepare(graph, exec, diags);
  if (!prepared) return Failure{};
  const PreparedModel& model = **prepared;
  const auto nodes = std::make_shared<const std::vector<NodeNote>>(notes_on(graph));
  for (const Device& device : devices) {
    if (!can_run(request, device, diags)) return Failure{};
  }
  std::vector<Prediction> predictions = model.on_each(devices);
  std::vector<Report> out;
  for (std::size_t d = 0; d < devices.size(); ++d) {
    const Device& device = devices[d];
    Report r{.model = request.model,
             .exec = exec,
             .dtype_from = request.dtype_from,
             .device = device,
             .features = features,
             .prediction = std::move(predictions[d]),
             .nodes = nodes};
    if (!device.mig.empty()) {
      r.mig = choose_profile(model, device, features.batch, request.mig);
      if (device.name.starts_with("a100") && device.memory_mib < 45000)
        r.mig->dippm = dippm_profile(r.prediction.memory.total_mib() * 1.048576);
    }
    double total = 0;
    std::vector<const OpEstimate*> slowest_first;
    for (const OpEstimate& e : r.prediction.ops) {
      total += e.time_us;
      slowest_first.push_back(&e);
    }
    std::stable_sort(slowest_first.begin(), slowest_first.end(),
                     [](const auto* a, const auto* b) { return a->time_us > b->time_us; });
    r.hot_ops.reserve(slowest_first.size());
    for (const OpEstimate* e : slowest_first) {
      const NodeNote& n = (*nodes)[e->node];
      r.hot_ops.push_back(
          {std::string(n.op), n.name, e->time_us, total > 0 ? e->time_us / total : 0, e->flops, e->bytes, e->bound});
    }
    for (const Diagnostic& d : diags.all()) {
      if (d.severity == Severity::Warning) r.prediction.warnings.push_back(to_string(d));
    }
    out.push_back(std::move(r));
  }
  return out;
}

}  // namespace perfc
