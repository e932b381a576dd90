#include "pipeline/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "features/parameters.h"
#include "ir/control_flow.h"
#include "ir/infer_context.h"
#include "whitebox/memory/memory.h"

namespace perfc {
namespace {

/// Every open symbol of the params, with the flag that binds it.
Status require_bound(const Graph& graph, Diagnostics& diags) {
  std::set<std::string> symbols;
  for (ValueId p : graph.params()) {
    const Type& t = graph.type(p);
    if (!t.is_tensor()) continue;
    if (!t.ranked()) {
      return diags.error(graph.node(p).loc, graph.node(p).name,
                         "the input's rank is not known; give its shape with --shape NAME=d0,d1,…");
    }
    for (const Dim& d : t.shape()) {
      if (d.symbolic()) symbols.insert(d.symbol_name());
    }
  }
  if (symbols.empty()) return ok();
  std::string list, flags;
  for (const std::string& s : symbols) {
    list += fmt::format("{}{}", list.empty() ? "" : ", ", s);
    flags += fmt::format(" --dim {}=N", s);
  }
  return diags.error(fmt::format("dims {} are open; bind them with{}", list, flags));
}

std::int64_t batch_of(const Graph& graph) {
  for (ValueId p : graph.params()) {
    const Type& t = graph.type(p);
    if (t.is_tensor() && t.ranked() && t.rank() > 0 && t.shape()[0].known()) return t.shape()[0].value();
  }
  return 1;
}

}  // namespace

Result<Graph> load_graph(const Request& request, Diagnostics& diags) {
  auto source = Source::open_model(request.model, diags);
  if (!source) return Failure{};
  ImportOptions import = request.import;
  import.open_batch = request.batch.value_or(1);
  auto graph = import_model(*source, import, diags);
  if (!graph || !require_bound(*graph, diags)) return Failure{};
  const PassOptions options{.batch = request.batch.value_or(0),
                            .written_by = graph->written_by().value_or(frontend_of(*source)->written_by),
                            .mode = request.exec.mode};
  return run_passes(std::move(*graph), default_pipeline(request.exec.mode, request.fold_batch_norm), options,
                    request.trace, diags);
}

StaticFeatures static_features(const Graph& graph) {
  StaticFeatures f;
  f.batch = batch_of(graph);
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

Result<std::vector<Device>> find_devices(const Request& request, Diagnostics& diags) {
  DeviceTable table = DeviceTable::builtin();
  if (!request.device_file.empty()) {
    Diagnostics file_diags(request.device_file);
    auto source = Source::open(request.device_file, file_diags);
    Result<DeviceTable> extra = Failure{};
    if (source) extra = DeviceTable::parse(source->bytes(), file_diags);
    diags.append(file_diags);
    if (!extra) return Failure{};
    table.add(std::move(*extra));
  }
  std::vector<Device> devices;
  for (const std::string& name : request.devices) {
    auto d = table.find(name, diags);
    if (!d) return Failure{};
    devices.push_back(std::move(*d));
  }
  if (!set_host(request, devices, diags)) return Failure{};
  return devices;
}

Status set_host(const Request& request, std::vector<Device>& devices, Diagnostics& diags) {
  if (request.host.empty()) return ok();
  Diagnostics unknown;
  auto host = find_host(request.host, unknown);
  if (!host && std::filesystem::exists(request.host)) {
    Diagnostics file_diags(request.host);
    if (const auto source = Source::open(request.host, file_diags)) host = parse_host(source->bytes(), file_diags);
    diags.append(file_diags);
  } else if (!host) {
    diags.append(unknown);
  }
  if (!host) return Failure{};
  for (Device& d : devices) {
    d.host = *host;
    d.host_given = true;
  }
  return ok();
}

Result<std::vector<Report>> predict(const Graph& graph, const std::vector<Device>& devices, const Predictor& predictor,
                                    const Request& request, Diagnostics& diags) {
  const StaticFeatures features = static_features(graph);
  auto prepared = predictor.prepare(graph, request.exec, diags);
  if (!prepared) return Failure{};
  const PreparedModel& model = **prepared;
  std::vector<Report> out;
  for (const Device& device : devices) {
    Report r{.model = request.model,
             .exec = request.exec,
             .device = device,
             .features = features,
             .prediction = model.on(device)};
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
      const Node& n = graph.node(e->node);
      r.hot_ops.push_back({std::string(n.kind == NodeKind::Call ? def(n.op).name : "constant"), n.name, e->time_us,
                           total > 0 ? e->time_us / total : 0, e->flops, e->bytes, e->bound});
    }
    for (const Diagnostic& d : diags.all()) {
      if (d.severity == Severity::Warning) r.prediction.warnings.push_back(to_string(d));
    }
    out.push_back(std::move(r));
  }
  return out;
}

}  // namespace perfc
