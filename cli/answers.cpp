#include "cli/answers.h"

#include <fmt/format.h>

#include <algorithm>

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

constexpr std::size_t kDefaultDepth = 3;

std::optional<std::string> emit_kernels(const Asked& a) {
  const ExecConfig exec = with_software(a.request.exec, a.devices);
  const auto model = prepare_whitebox(a.graph, exec, OpaquePolicy::Warn, a.diags);
  return model ? std::optional(kernels_csv(a.graph, (*model)->plan(), a.devices, exec)) : std::nullopt;
}

/// The graph in the order in which feature generators visit it (DIPPM, Algorithm 1), whatever order it runs in.
std::optional<std::string> in_post_order(const Asked& a, std::string (*text)(const Asked&, const Graph&)) {
  const auto graph = run_passes(a.graph, {"filter-operators"}, {}, {}, a.diags);
  return graph ? std::optional(text(a, *graph)) : std::nullopt;
}

const NodeSchema* schema_of(const AnswerOptions& o) { return find_schema(o.schema.empty() ? "perfc-op" : o.schema); }

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

std::string report_text(const std::vector<Report>& reports, const AnswerOptions& o, Colour colour) {
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

constexpr Emit kEmits[] = {
    // name, type, of_graph, of_reports
    {"report", "text/plain", nullptr, report_text},
    {"ir", "text/plain", [](const Asked& a) { return std::optional(print_graph(a.graph)); }, nullptr},
    {"features", "text/csv", emit_features, nullptr},
    {"static", "text/csv", emit_static, nullptr},
    {"adjacency", "text/csv", emit_adjacency, nullptr},
    {"kernels", "text/csv", emit_kernels, nullptr},
    {"summary", "text/plain", nullptr,
     [](const std::vector<Report>& r, const AnswerOptions& o,
        Colour c) { return to_summary(r, o.depth == kNoDepth ? kDefaultDepth : o.depth, c); }},
    {"trace", "application/json", nullptr,
     [](const std::vector<Report>& r, const AnswerOptions&, Colour) { return to_trace(r); }},
    {"folded", "text/plain", nullptr,
     [](const std::vector<Report>& r, const AnswerOptions&, Colour) { return to_folded(r); }},
    {"html", "text/html", nullptr,
     [](const std::vector<Report>& r, const AnswerOptions&, Colour) { return to_html(r); }},
    {"dot", "text/vnd.graphviz", [](const Asked& a) { return std::optional(print_dot(a.graph)); }, nullptr},
    {"json", "application/json", nullptr,
     [](const std::vector<Report>& r, const AnswerOptions& o, Colour) { return to_json(r, o.top); }},
};

std::vector<std::string> emit_names() {
  std::vector<std::string> names;
  for (const Emit& e : kEmits) names.emplace_back(e.name);
  return names;
}

}  // namespace

std::span<const Emit> emits() { return kEmits; }

void add_answer_options(Command& c, AnswerOptions& o) {
  std::vector<std::string> kinds = emit_names();
  const std::string last = kinds.back();
  kinds.pop_back();
  c.option("--emit", o.emit, fmt::format("{} or {} [report]", fmt::join(kinds, ", "), last));
  c.option("--schema", o.schema, "Columns of --emit=features: perfc-op or dippm [perfc-op]");
  c.option("--depth", o.depth, "Levels of modules of --emit=summary [3]").must_be(WholeBetween{0, 1000});
  c.option("--top", o.top, "How many of the slowest operators to list [5]");
  c.option("--json", o.json, "Report as JSON (docs/json.md)");
  c.option("--quiet,-q", o.quiet, "One line per prediction, no warnings");
}

const Emit* emit_of(const AnswerOptions& o, Diagnostics& usage) {
  const auto find = [](std::string_view name) { return std::ranges::find(kEmits, name, &Emit::name); };
  const Emit* emit = find(o.emit);
  if (emit == std::end(kEmits)) {
    const std::vector<std::string> kinds = emit_names();
    const std::string near = did_you_mean(o.emit, kinds);
    usage.error(fmt::format("--emit: '{}' is none of {}{}", o.emit, fmt::join(kinds, ", "),
                            near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near)));
    return nullptr;
  }
  if (!o.schema.empty() && emit->name != "features") {
    usage.error("--schema: says the columns of --emit=features alone");
    return nullptr;
  }
  if (o.depth != kNoDepth && emit->name != "summary") {
    usage.error("--depth: says the levels of --emit=summary alone");
    return nullptr;
  }
  if (!schema_of(o)) {
    std::vector<std::string> names;
    for (const NodeSchema& s : schemas()) names.emplace_back(s.name);
    usage.error(fmt::format("--schema: '{}' is none of {}", o.schema, fmt::join(names, ", ")));
    return nullptr;
  }
  return emit->of_reports && o.json ? find("json") : emit;
}

Result<std::vector<Report>> reports_at(ModelFile& file, const std::vector<Device>& devices, const Predictor& predictor,
                                       const Request& request, const Emit& emit, const AnswerOptions& o,
                                       std::size_t batches, Diagnostics& diags) {
  const bool has_place = (emit.name == "report" && !o.quiet) || emit.name == "json" || emit.name == "html";
  const auto alternatives = batches == 1 && has_place ? Alternatives::Told : Alternatives::Untold;
  auto reports = full_reports(file, devices, predictor, request, alternatives, diags);
  if (!reports || emit.name != "html") return reports;
  if (!add_details(*reports, file, predictor, request, diags)) return Failure{};
  return reports;
}

}  // namespace perfc::cli
