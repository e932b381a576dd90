#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "cli/cli.h"
#include "features/schema.h"
#include "html/report_page.h"
#include "ir/dot.h"
#include "ir/text/printer.h"
#include "pipeline/details.h"
#include "pipeline/reports.h"
#include "whitebox/price/kernel_prices.h"
#include "whitebox/whitebox.h"

namespace perfc::cli {
namespace {

constexpr std::size_t kNoDepth = std::numeric_limits<std::size_t>::max(), kDefaultDepth = 3;

struct PredictArguments : PredictOptions {
  std::string emit = "report", output, schema;
  bool json = false, quiet = false, fail_on_oom = false;
  std::size_t top = 5, depth = kNoDepth;
};

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
  return kernels_csv(a.graph, (*model)->plan(), a.devices, a.request.exec);
}

/// The graph in the order in which feature generators visit it (DIPPM, Algorithm 1), whatever order it runs in.
std::optional<std::string> in_post_order(const Asked& a, std::string (*text)(const Asked&, const Graph&)) {
  const auto graph = run_passes(a.graph, {"filter-operators"}, {}, {}, a.diags);
  return graph ? std::optional(text(a, *graph)) : std::nullopt;
}

const NodeSchema* schema_of(const PredictArguments& o) { return find_schema(o.schema.empty() ? "perfc-op" : o.schema); }

std::optional<std::string> emit_features(const Asked& a) {
  return in_post_order(
      a, [](const Asked& asked, const Graph& graph) { return to_csv(extract(graph, *schema_of(asked.o))); });
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
    out += fmt::format("{}\t{}\t{:.4f} ms\t{:.0f} MiB\t{:.4g} J\t{}\tbatch {}\t{}\n", r.model, r.device.name,
                       p.latency_ms, p.memory.total_mib(), p.energy_j, r.mig ? r.mig->profile.value_or("none") : "-",
                       r.features.batch, r.fits() ? "fits" : "out of memory");
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
    {"summary", nullptr,
     [](const std::vector<Report>& r, const PredictArguments& o,
        Colour c) { return to_summary(r, o.depth == kNoDepth ? kDefaultDepth : o.depth, c); }},
    {"trace", nullptr, [](const std::vector<Report>& r, const PredictArguments&, Colour) { return to_trace(r); }},
    {"folded", nullptr, [](const std::vector<Report>& r, const PredictArguments&, Colour) { return to_folded(r); }},
    {"html", nullptr, [](const std::vector<Report>& r, const PredictArguments&, Colour) { return to_html(r); }},
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

/// Wrong values of this command's own options; kFine where there are none.
int check_usage(const PredictArguments& o) {
  const Emit* emit = find_emit(o.emit);
  if (!emit) {
    const std::vector<std::string> kinds = emit_names();
    const std::string near = did_you_mean(o.emit, kinds);
    return fail(kBadUsage, fmt::format("--emit: '{}' is none of {}{}", o.emit, fmt::join(kinds, ", "),
                                       near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near)));
  }
  if (!o.schema.empty() && emit->name != "features")
    return fail(kBadUsage, "--schema: says the columns of --emit=features alone");
  if (o.depth != kNoDepth && emit->name != "summary")
    return fail(kBadUsage, "--depth: says the levels of --emit=summary alone");
  if (!schema_of(o)) {
    std::vector<std::string> names;
    for (const NodeSchema& s : schemas()) names.emplace_back(s.name);
    return fail(kBadUsage, fmt::format("--schema: '{}' is none of {}", o.schema, fmt::join(names, ", ")));
  }
  if (o.fail_on_oom && !emit->of_reports)
    return fail(kBadUsage, fmt::format("--fail-on-oom: --emit={} predicts no memory", o.emit));
  return kFine;
}

/// What all models of a call have in common.
struct Job {
  const PredictArguments& o;
  Request request;  ///< but for its model and batch
  std::vector<std::optional<std::int64_t>> batches;
  std::vector<Device> devices;
  const Emit& emit;
  std::unique_ptr<Predictor> predictor;  ///< of reports
  Output out;
};

/// Whether what is written has a place for them; a table of batches shows by itself what a larger one brings.
bool tells_alternatives(const Job& job) {
  const bool report = job.emit.of_reports == report_text && !job.o.quiet;
  return job.batches.size() == 1 && (report || job.emit.name == "json" || job.emit.name == "html");
}

/// A model at one batch: its reports, or none where the text of its graph was written.
Result<std::vector<Report>> predict_batch(Job& job, ModelFile& file, const Request& request, Diagnostics& diags) {
  if (job.emit.of_reports) {
    const auto alternatives = tells_alternatives(job) ? Alternatives::Told : Alternatives::Untold;
    auto reports = full_reports(file, job.devices, *job.predictor, request, alternatives, diags);
    if (!reports || job.emit.name != "html") return reports;
    auto graph = file.at(request, diags);
    if (!graph) return Failure{};
    add_details(*reports, std::move(*graph), file, *job.predictor, request);
    return reports;
  }
  const auto graph = file.at(request, diags);
  if (!graph) return Failure{};
  const auto text = job.emit.of_graph({job.o, request, *graph, job.devices, diags});
  if (!text) return Failure{};
  job.out.write(*text);
  return std::vector<Report>{};
}

/// A model at every batch: its reports by device, then batch, go to `reports`. False: something could not be predicted,
/// which was said.
bool predict_model(Job& job, const std::string& model, std::vector<Report>& reports) {
  Request request = job.request;
  request.model = model;
  const std::string name = model == "-" ? "<stdin>" : model;
  Diagnostics opening(name);
  auto file = ModelFile::open(request, opening);
  if (!file) {
    print(opening);
    return false;
  }
  bool good = true;
  std::vector<std::vector<Report>> by_device(job.devices.size());
  std::set<std::string> said;  // of all batches, each warning once
  for (const auto& batch : job.batches) {
    request.batch = batch;
    Diagnostics diags(name);
    auto found = predict_batch(job, *file, request, diags);
    if (!found) {
      print(diags);
      good = false;
      continue;
    }
    if (!job.o.quiet) print_new_warnings(diags, said);
    for (std::size_t d = 0; d < found->size(); ++d) by_device[d].push_back(std::move((*found)[d]));
  }
  for (auto& of_device : by_device) std::ranges::move(of_device, std::back_inserter(reports));
  return good;
}

int run_predict(const PredictArguments& o) {
  const auto request = to_request(o, Batches::Several);
  if (!request) return kBadUsage;
  if (const int wrong = check_usage(o)) return wrong;
  // Devices are checked before models are read: a typo costs nothing.
  int code = kFine;
  auto devices = devices_of(o, *request, code);
  if (!devices) return code;
  auto out = Output::open(o.output);
  if (!out) return kBadInput;
  const Emit* emit = find_emit(o.emit);
  if (emit->of_reports && o.json) emit = find_emit("json");
  Job job{o, *request, to_batches(o), std::move(*devices), *emit, nullptr, std::move(*out)};
  if (emit->of_reports) {
    Diagnostics diags;
    auto found = find_predictor(*request, diags);
    print(diags);
    if (!found) return kBadInput;
    job.predictor = std::move(*found);
  }
  std::vector<Report> reports;
  code = kFine;
  for (const std::string& model : o.models) {
    if (!predict_model(job, model, reports)) code = kBadInput;
  }
  if (emit->of_reports && reports.empty()) return code;
  if (emit->of_reports) job.out.write(emit->of_reports(reports, o, colour_for(job.out)));
  if (!job.out.commit()) return kBadInput;
  const bool too_large = std::ranges::any_of(reports, [](const Report& r) { return !r.fits(); });
  return code == kFine && o.fail_on_oom && too_large ? int{kBudgetExceeded} : code;
}

}  // namespace

Command predict_command() {
  auto o = std::make_shared<PredictArguments>();
  Command c{"predict", "Latency, memory, energy and MIG slice of models (the default)",
            [o] { return run_predict(*o); }};
  add_predict_options(c, *o, Batches::Several);
  std::vector<std::string> kinds = emit_names();
  const std::string last = kinds.back();
  kinds.pop_back();
  const std::string emit_help = fmt::format("{} or {} [report]", fmt::join(kinds, ", "), last);
  c.option("--emit", o->emit, emit_help);
  c.option("--schema", o->schema, "Columns of --emit=features: perfc-op or dippm [perfc-op]");
  c.option("-o,--output", o->output, "Write to a file instead of standard output");
  c.option("--depth", o->depth, "Levels of modules of --emit=summary [3]").must_be(WholeBetween{0, 1000});
  c.option("--top", o->top, "How many of the slowest operators to list [5]");
  c.option("--json", o->json, "Report as JSON (docs/json.md)");
  c.option("--fail-on-oom", o->fail_on_oom, "Exit with 3 where a device's memory does not hold the run");
  c.option("--quiet,-q", o->quiet, "One line per prediction, no warnings");
  return c;
}

}  // namespace perfc::cli
