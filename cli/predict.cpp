#include <fmt/format.h>

#include "cli/cli.h"
#include "features/schema.h"
#include "ir/dot.h"
#include "ir/text/printer.h"
#include "whitebox/price/roofline.h"
#include "whitebox/whitebox.h"

namespace perfc::cli {
namespace {

struct PredictArguments : PredictOptions {
  std::string emit = "report", output, schema = "perfc-op";
  bool json = false, quiet = false;
  std::size_t top = 5;
};

/// The host's GPUs of an nvidia-smi file, as the devices to predict for.
std::optional<std::vector<Device>> host_devices(const std::string& path) {
  Diagnostics diags(path);
  auto source = Source::open(path, diags);
  Result<std::vector<HostGpu>> gpus = Failure{};
  if (source) gpus = read_nvidia_smi(source->bytes(), DeviceTable::builtin(), diags);
  print(diags);
  if (!gpus) return std::nullopt;
  std::vector<Device> out;
  for (HostGpu& g : *gpus) {
    // Only what is free can be used, and only the instances that exist.
    g.device.memory_mib = g.free_mib > 0 ? g.free_mib : g.device.memory_mib;
    if (g.mig_mode == "Enabled") g.device.mig = g.instances;
    out.push_back(std::move(g.device));
  }
  return out;
}

/// What a row of `kEmits` that prints a graph may look at.
struct Asked {
  const PredictArguments& o;
  const Request& request;
  const Graph& graph;
  const std::vector<Device>& devices;
  Diagnostics& diags;
};

std::optional<std::string> emit_kernels(const Asked& a) {
  const auto model = prepare_whitebox(a.graph, a.request.exec, OpaquePolicy::Warn, a.diags);
  if (!model) return std::nullopt;
  return kernels_csv(a.graph, (*model)->plan(), a.devices, a.request.exec.precision);
}

/// The graph in the order in which feature generators visit it (DIPPM, Algorithm 1), whatever order it runs in.
std::optional<std::string> in_post_order(const Asked& a, std::string (*text)(const Asked&, const Graph&)) {
  const auto graph = run_passes(a.graph, {"filter-operators"}, {}, {}, a.diags);
  return graph ? std::optional(text(a, *graph)) : std::nullopt;
}

std::optional<std::string> emit_features(const Asked& a) {
  return in_post_order(
      a, [](const Asked& asked, const Graph& graph) { return to_csv(extract(graph, *find_schema(asked.o.schema))); });
}

std::optional<std::string> emit_static(const Asked& a) {
  return in_post_order(a, [](const Asked&, const Graph& graph) { return static_csv(graph); });
}

std::optional<std::string> emit_adjacency(const Asked& a) {
  return in_post_order(a, [](const Asked&, const Graph& graph) { return adjacency_csv(graph); });
}

std::string report_text(const std::vector<Report>& reports, const PredictArguments& o, Colour colour) {
  if (!o.quiet) return to_text(reports, o.top, colour);
  std::string out;
  for (const Report& r : reports) {
    const Prediction& p = r.prediction;
    out += fmt::format("{}\t{}\t{:.4f} ms\t{:.0f} MiB\t{:.4g} J\t{}\n", r.model, r.device.name, p.latency_ms,
                       p.memory.total_mib(), p.energy_j, r.mig ? r.mig->profile.value_or("none") : "-");
  }
  return out;
}

/// What --emit can ask for: the text of each model's graph, or that of the reports on all models.
struct Emit {
  std::string_view name;
  std::optional<std::string> (*of_graph)(const Asked&);
  std::string (*of_reports)(const std::vector<Report>&, const PredictArguments&, Colour);
};
constexpr Emit kEmits[] = {
    // name       of_graph  of_reports
    {"report", nullptr, report_text},
    {"ir", [](const Asked& a) { return std::optional(print_graph(a.graph)); }, nullptr},
    {"features", emit_features, nullptr},
    {"static", emit_static, nullptr},
    {"adjacency", emit_adjacency, nullptr},
    {"kernels", emit_kernels, nullptr},
    {"dot", [](const Asked& a) { return std::optional(print_dot(a.graph)); }, nullptr},
    {"json", nullptr,
     [](const std::vector<Report>& r, const PredictArguments& o, Colour) { return to_json(r, o.top); }},
};

const Emit* find_emit(std::string_view name) {
  const auto row = std::find_if(std::begin(kEmits), std::end(kEmits), [&](const Emit& e) { return e.name == name; });
  return row == std::end(kEmits) ? nullptr : row;
}

std::vector<std::string> emit_names() {
  std::vector<std::string> names;
  for (const Emit& e : kEmits) names.emplace_back(e.name);
  return names;
}

int run_predict(const PredictArguments& o) {
  auto request = to_request(o);
  if (!request) return kBadUsage;
  const Emit* emit = find_emit(o.emit);
  if (!emit) {
    const std::vector<std::string> kinds = emit_names();
    const std::string near = did_you_mean(o.emit, kinds);
    return fail(kBadUsage, fmt::format("--emit: '{}' is none of {}{}", o.emit, fmt::join(kinds, ", "),
                                       near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near)));
  }
  if (!find_schema(o.schema)) {
    std::vector<std::string> names;
    for (const NodeSchema& s : schemas()) names.emplace_back(s.name);
    return fail(kBadUsage, fmt::format("--schema: '{}' is none of {}", o.schema, fmt::join(names, ", ")));
  }
  const bool reports_wanted = emit->of_reports != nullptr;
  if (reports_wanted && o.json) emit = find_emit("json");
  // Devices are checked before models are read: a typo costs nothing.
  Diagnostics usage;
  Result<std::vector<Device>> devices = Failure{};
  if (!o.smi_file.empty()) {
    auto host = host_devices(o.smi_file);
    if (!host) return kBadInput;
    devices = std::move(*host);
    if (!set_surroundings(*request, *devices, usage)) {
      print(usage);
      return no_devices(o);
    }
  } else {
    devices = find_devices(*request, usage);
    if (!devices) {
      print(usage);
      return no_devices(o);
    }
  }
  auto out = Output::open(o.output);
  if (!out) return kBadInput;
  std::unique_ptr<Predictor> predictor;
  if (reports_wanted) {
    Diagnostics diags;
    auto found = find_predictor(*request, diags);
    print(diags);
    if (!found) return kBadInput;
    predictor = std::move(*found);
  }
  std::vector<Report> reports;
  int code = kFine;
  for (const std::string& model : o.models) {
    request->model = model;
    Diagnostics diags(model == "-" ? "<stdin>" : model);
    auto graph = load_graph(*request, diags);
    Result<std::vector<Report>> r = Failure{};
    std::optional<std::string> text;
    if (graph && !reports_wanted) text = emit->of_graph({o, *request, *graph, *devices, diags});
    if (graph && predictor) r = predict(*graph, *devices, *predictor, *request, diags);
    if (reports_wanted ? !r : !text) {
      print(diags);
      code = kBadInput;
      continue;
    }
    if (!o.quiet) print_warnings(diags);
    if (!reports_wanted) {
      out->write(*text);
    } else {
      reports.insert(reports.end(), std::make_move_iterator(r->begin()), std::make_move_iterator(r->end()));
    }
  }
  if (reports_wanted && !reports.empty()) out->write(emit->of_reports(reports, o, colour_for(*out)));
  if (code != kFine && reports.empty() && reports_wanted) return code;
  return out->commit() ? code : kBadInput;
}

}  // namespace

Command predict_command() {
  auto o = std::make_shared<PredictArguments>();
  Command c{"predict", "Latency, memory, energy and MIG slice of models (the default)",
            [o] { return run_predict(*o); }};
  add_predict_options(c, *o);
  std::vector<std::string> kinds = emit_names();
  const std::string last = kinds.back();
  kinds.pop_back();
  const std::string emit_help = fmt::format("{} or {} [report]", fmt::join(kinds, ", "), last);
  c.option("--emit", o->emit, emit_help);
  c.option("--schema", o->schema, "Columns of --emit=features: perfc-op or dippm [perfc-op]");
  c.option("-o,--output", o->output, "Write to a file instead of standard output");
  c.option("--top", o->top, "How many of the slowest operators to list [5]");
  c.option("--json", o->json, "Report as JSON (docs/json.md)");
  c.option("--quiet,-q", o->quiet, "One line per prediction, no warnings");
  return c;
}

}  // namespace perfc::cli
