#include <fmt/format.h>

#include "cli/cli.h"
#include "whitebox/price/roofline.h"
#include "features/schema.h"
#include "whitebox/whitebox.h"
#include "ir/dot.h"
#include "ir/text/printer.h"

namespace perfc::cli {
namespace {

struct Options : PredictOptions {
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

/// What --emit asks for besides reports.
std::optional<std::string> emit_graph(const Options& o, const Request& request, const Graph& graph, const std::vector<Device>& devices, Diagnostics& diags) {
  if (o.emit == "kernels") {
    const auto model = prepare_whitebox(graph, request.exec, OpaquePolicy::Warn, diags);
    if (!model) return std::nullopt;
    return kernels_csv(graph, (*model)->plan(), devices, request.exec.precision);
  }
  if (o.emit == "ir") return print_graph(graph);
  if (o.emit == "dot") return print_dot(graph);
  if (o.emit == "static") return static_csv(graph);
  if (o.emit == "adjacency") return adjacency_csv(graph);
  const NodeSchema* schema = find_schema(o.schema);
  if (!schema) return std::nullopt;
  return to_csv(extract(graph, *schema));
}

int run(const Options& o) {
  auto request = to_request(o);
  if (!request) return kBadUsage;
  const std::vector<std::string> kinds{"report", "ir", "features", "static", "adjacency", "kernels", "dot", "json"};
  if (std::find(kinds.begin(), kinds.end(), o.emit) == kinds.end()) {
    const std::string near = did_you_mean(o.emit, kinds);
    return fail(kBadUsage, fmt::format("--emit: '{}' is none of {}{}", o.emit, fmt::join(kinds, ", "),
                                       near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near)));
  }
  if (!find_schema(o.schema)) {
    std::vector<std::string> names;
    for (const NodeSchema& s : schemas()) names.emplace_back(s.name);
    return fail(kBadUsage, fmt::format("--schema: '{}' is none of {}", o.schema, fmt::join(names, ", ")));
  }
  const bool reports_wanted = o.emit == "report" || o.emit == "json";
  // Devices are checked before models are read: a typo costs nothing.
  Diagnostics usage;
  Result<std::vector<Device>> devices = Failure{};
  if (!o.smi_file.empty()) {
    auto host = host_devices(o.smi_file);
    if (!host) return kBadInput;
    devices = std::move(*host);
  } else {
    devices = find_devices(*request, usage);
    if (!devices) {
      print(usage);
      return o.device_file.empty() ? kBadUsage : kBadInput;
    }
  }
  auto out = Output::open(o.output);
  if (!out) return kBadInput;
  Result<std::unique_ptr<Predictor>> predictor = Failure{};
  if (reports_wanted) {
    Diagnostics diags;
    predictor = find_predictor(*request, diags);
    print(diags);
    if (!predictor) return kBadInput;
  }
  std::vector<Report> reports;
  int code = kFine;
  for (const std::string& model : o.models) {
    request->model = model;
    Diagnostics diags(model == "-" ? "<stdin>" : model);
    auto graph = load_graph(*request, diags);
    Result<std::vector<Report>> r = Failure{};
    std::optional<std::string> text;
    if (graph && !reports_wanted) text = emit_graph(o, *request, *graph, *devices, diags);
    if (graph && reports_wanted) r = predict(*graph, *devices, **predictor, *request, diags);
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
  if (reports_wanted && !reports.empty()) {
    if (o.json || o.emit == "json") {
      out->write(to_json(reports, o.top));
    } else {
      if (o.quiet) {
        for (const Report& rep : reports) {
          out->write(fmt::format("{}\t{}\t{:.4f} ms\t{:.0f} MiB\t{:.4g} J\t{}\n", rep.model, rep.device.name, rep.prediction.latency_ms,
                                 rep.prediction.memory.total_mib(), rep.prediction.energy_j, rep.mig ? rep.mig->profile.value_or("none") : "-"));
        }
      } else {
        out->write(to_text(reports, o.top, colour_for(*out)));
      }
    }
  }
  if (code != kFine && reports.empty() && reports_wanted) return code;
  return out->commit() ? code : kBadInput;
}

}  // namespace

void add_predict(CLI::App& app, Action& action) {
  auto o = std::make_shared<Options>();
  CLI::App* sub = app.add_subcommand("predict", "Latency, memory, energy and MIG slice of models (the default)");
  add_predict_options(*sub, *o);
  sub->add_option("--emit", o->emit, "report, ir, features, static, adjacency, kernels, dot or json [report]");
  sub->add_option("--schema", o->schema, "Columns of --emit=features: perfc-op or dippm [perfc-op]");
  sub->add_option("-o,--output", o->output, "Write to a file instead of standard output");
  sub->add_option("--top", o->top, "How many of the slowest operators to list [5]");
  sub->add_flag("--json", o->json, "Report as JSON (docs/json.md)");
  sub->add_flag("--quiet,-q", o->quiet, "One line per prediction, no warnings");
  sub->callback([o, &action] { action = [o] { return run(*o); }; });
}

}  // namespace perfc::cli
