#include "html/report_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "html/assets.h"
#include "html/graph_data.h"
#include "html/page.h"
#include "pipeline/details.h"
#include "pipeline/digits.h"
#include "whitebox/price/roofline.h"

namespace perfc {
namespace {

using PageJson = nlohmann::ordered_json;

PageJson interval(double value, double lo, double hi) { return {six_digits(value), six_digits(lo), six_digits(hi)}; }

/// Columns over the moments of a run.
PageJson memory_json(const MemoryCourse& course) {
  std::vector<std::int64_t> node, most, after;
  std::vector<int> phase;
  for (const MemoryMoment& m : course.moments) {
    node.push_back(m.node == ValueId::kNone ? -1 : static_cast<std::int64_t>(m.node));
    phase.push_back(static_cast<int>(m.phase));
    most.push_back(static_cast<std::int64_t>(m.most));
    after.push_back(static_cast<std::int64_t>(m.after));
  }
  PageJson held = PageJson::array();
  for (const auto& [id, bytes] : course.held)
    held.push_back({id == ValueId::kNone ? -1 : static_cast<std::int64_t>(id), static_cast<std::int64_t>(bytes)});
  PageJson phases = PageJson::array();
  for (const MemoryPhase p : {MemoryPhase::Forward, MemoryPhase::Backward, MemoryPhase::Update})
    phases.push_back(name(p));
  return {{"phases", std::move(phases)},
          {"node", node},
          {"phase", phase},
          {"most", most},
          {"after", after},
          {"before", static_cast<std::int64_t>(course.before)},
          {"peak", course.peak},
          {"held", std::move(held)}};
}

/// Peaks of the units that kernels of this precision run on, the same rate once.
PageJson roofs_json(const Report& r) {
  const Rates rates(r.device, r.exec.precision);
  const std::pair<const char*, double> units[] = {
      {"8-bit matrix units", r.exec.precision == Precision::Int8 ? rates.matrix8 : 0},
      {"16-bit matrix units", rates.matrix[1]},
      {"32-bit matrix units", rates.matrix[0]},
      {"16-bit vector units", rates.vector[1]},
      {"32-bit vector units", rates.vector[0]}};
  PageJson roofs = PageJson::array();
  std::vector<double> seen;
  // From the last on: where matrix units are not there, their rate is the vector units'.
  for (auto u = std::rbegin(units); u != std::rend(units); ++u) {
    if (u->second <= 0 || std::ranges::find(seen, u->second) != seen.end()) continue;
    seen.push_back(u->second);
    roofs.insert(roofs.begin(), PageJson{{"unit", u->first}, {"flops", six_digits(u->second)}});
  }
  return {{"units", std::move(roofs)}, {"bytes_per_s", six_digits(r.device.bandwidth_gb_s * 1e9)}};
}

PageJson kernels_json(const Report& r) {
  std::vector<std::uint32_t> node;
  std::vector<int> bound;
  std::vector<double> us, flops, bytes;
  for (const OpEstimate& e : r.prediction.ops) {
    node.push_back(e.node);
    us.push_back(six_digits(e.time_us));
    bound.push_back(static_cast<int>(e.bound));
    flops.push_back(six_digits(e.flops));
    bytes.push_back(six_digits(e.bytes));
  }
  return {{"node", node}, {"us", us}, {"bound", bound}, {"flops", flops}, {"bytes", bytes}};
}

PageJson figures_json(const std::vector<Report::Figures>& all) {
  PageJson out = PageJson::array();
  for (const Report::Figures& f : all) {
    out.push_back({{"batch", f.batch},
                   {"device", f.device},
                   {"title", f.title},
                   {"latency_ms", interval(f.latency_ms, f.latency_lo_ms, f.latency_hi_ms)},
                   {"memory_mib", interval(f.memory_mib, f.memory_lo_mib, f.memory_hi_mib)},
                   {"energy_j", six_digits(f.energy_j)},
                   {"device_memory_mib", six_digits(f.device_memory_mib)},
                   {"bound", f.host_bound ? "host" : "device"},
                   {"fits", f.fits}});
  }
  return out;
}

PageJson mig_page_json(const MigDecision& m) {
  PageJson profiles = PageJson::array();
  for (const MigOption& o : m.options) {
    profiles.push_back({{"profile", o.profile.name},
                        {"sms", o.profile.sms},
                        {"fits", o.fits},
                        {"needs_mib", six_digits(o.memory_mib)},
                        {"has_mib", six_digits(o.profile.memory_mib)},
                        {"latency_ms", six_digits(o.latency_ms)},
                        {"instances", o.profile.max_instances},
                        {"throughput_per_s", six_digits(o.throughput_per_s)},
                        {"energy_j", six_digits(o.energy_j)},
                        {"why", o.why}});
  }
  return {{"profile", m.profile ? PageJson(*m.profile) : PageJson(nullptr)},
          {"why", m.why},
          {"profiles", std::move(profiles)}};
}

/// Parts of the memory, those that are there.
PageJson parts_json(const Report& r) {
  const MemoryBreakdown& m = r.prediction.memory;
  const std::pair<const char*, double> parts[] = {{"context", m.context_mib},         {"weights", m.weights_mib},
                                                  {"gradients", m.gradients_mib},     {"optimizer", m.optimizer_mib},
                                                  {"activations", m.activations_mib}, {"workspace", m.workspace_mib},
                                                  {"cuDNN's search", m.search_mib}};
  PageJson out = PageJson::array();
  for (const auto& [part, mib] : parts)
    if (mib > 0) out.push_back({part, six_digits(mib)});
  return out;
}

PageJson run_json(const Report& r, std::size_t graph) {
  const Prediction& p = r.prediction;
  const RuntimeDef& runtime = def(r.exec.runtime);
  const BoundShares bound = bound_shares(r);
  PageJson alternatives = PageJson::array(), hosts = PageJson::array(), runtimes = PageJson::array(),
           dynamic = PageJson::array();
  for (const Report::Alternative& a : r.alternatives)
    alternatives.push_back({{"options", a.options},
                            {"latency_ms", six_digits(a.latency_ms)},
                            {"throughput_per_s", six_digits(a.throughput_per_s())}});
  for (const Report::OnHost& o : r.hosts) hosts.push_back({{"name", o.host}, {"latency_ms", six_digits(o.latency_ms)}});
  for (const Report::OnRuntime& o : r.runtimes)
    runtimes.push_back({{"name", def(o.runtime).name},
                        {"title", def(o.runtime).title},
                        {"dtype", name(o.precision)},
                        {"latency_ms", six_digits(o.latency_ms)}});
  if (r.dynamic)
    for (const Report::DynamicNode& n : r.dynamic->nodes)
      dynamic.push_back({{"op", n.op}, {"name", n.name}, {"extents", n.extents}, {"by", n.by}});
  return {{"model", r.model},
          {"graph", graph},
          {"batch", r.features.batch},
          {"device", r.device.name},
          {"device_title", r.device.title},
          {"device_memory_mib", six_digits(r.device.memory_mib)},
          {"runtime", runtime.title},
          {"dtype", name(r.exec.precision)},
          {"layout", runtime.own_layout ? "" : name(r.exec.layout)},
          {"task", name(r.exec.task)},
          {"pacing", unusual_pacing(r.exec)},
          {"predictor", p.predictor},
          {"method", p.method},
          {"host", runtime.run_us == 0 ? r.device.host.name : std::string(runtime.title)},
          {"host_given", r.device.host_given},
          {"framework", runtime.run_us == 0 ? r.device.host.framework : std::string(runtime.title)},
          {"host_calls", six_digits(p.host_calls)},
          {"host_us_per_call", six_digits(p.host_us_per_call())},
          {"dispatches", runtime.dispatches},
          {"stack", r.device.stack.name},
          {"fits", r.fits()},
          {"memory_verdict", memory_verdict(r)},
          {"latency_ms", interval(p.latency_ms, p.latency_lo_ms, p.latency_hi_ms)},
          {"memory_mib", interval(p.memory.total_mib(), p.memory_lo_mib, p.memory_hi_mib)},
          {"energy_j", interval(p.energy_j, p.energy_lo_j, p.energy_hi_j)},
          {"energy_j_per_sample", six_digits(r.energy_j_per_sample())},
          {"power_w", six_digits(p.power_w)},
          {"device_ms", six_digits(p.device_ms)},
          {"host_ms", six_digits(p.host_ms)},
          {"waiting", six_digits(r.waiting())},
          {"bound", p.host_bound() ? "host" : "device"},
          {"bound_shares", {six_digits(bound.compute), six_digits(bound.memory), six_digits(bound.launch)}},
          {"throughput_per_s", six_digits(r.throughput_per_s())},
          {"macs", six_digits(r.features.macs)},
          {"params", six_digits(r.features.params)},
          {"operators", r.features.nodes},
          {"memory_parts_mib", parts_json(r)},
          {"mig", r.mig ? mig_page_json(*r.mig) : PageJson(nullptr)},
          {"alternatives", std::move(alternatives)},
          {"hosts", std::move(hosts)},
          {"runtimes", std::move(runtimes)},
          {"kernels", kernels_json(r)},
          {"roofs", roofs_json(r)},
          {"batches", figures_json(r.batches)},
          {"devices", figures_json(r.devices)},
          {"dynamic", std::move(dynamic)},
          {"dynamic_not_covered", r.dynamic ? r.dynamic->not_covered : ""},
          {"novelty", p.novelty},
          {"warnings", p.warnings}};
}

/// The body, with the graph's section where the others leave room for it.
std::string report_markup() {
  constexpr std::string_view kGraph = "<!-- graph -->\n";
  std::string out(assets::report_body());
  if (const std::size_t at = out.find(kGraph); at != std::string::npos)
    out.replace(at, kGraph.size(), assets::graph_section());
  return out;
}

}  // namespace

std::string to_html(const std::vector<Report>& reports) {
  std::vector<const ModelDetails*> details;
  std::string graphs, runs;
  for (const Report& r : reports) {
    auto at = std::ranges::find(details, r.details.get());
    if (at == details.end()) {
      const std::string memory = memory_json(r.details->memory).dump();
      graphs += fmt::format("{}{{\"graph\":{},\"memory\":{}}}", graphs.empty() ? "" : ",\n",
                            graph_json(r.details->graph), memory);
      details.push_back(r.details.get());
      at = std::prev(details.end());
    }
    runs += (runs.empty() ? "" : ",\n") + run_json(r, static_cast<std::size_t>(at - details.begin()))
                                              .dump(-1, ' ', false, PageJson::error_handler_t::replace);
  }
  const std::string model = reports.empty() ? "" : reports.front().model;
  return to_string(
      Page{.title = fmt::format("{} · perfc", model),
           .plain = to_text(reports, 10, Colour::No),
           .body = report_markup(),
           .scripts = {assets::common(), assets::charts(), assets::table(), assets::graph(), assets::roofline(),
                       assets::treemap(), assets::memory(), assets::elsewhere(), assets::report()},
           .data = fmt::format("{{\"schema\":\"perfc.page/1\",\n\"bounds\":[\"{}\",\"{}\",\"{}\"],\n"
                               "\"graphs\":[{}],\n\"runs\":[{}]}}",
                               name(Bound::Compute), name(Bound::Memory), name(Bound::Launch), graphs, runs)});
}

}  // namespace perfc
