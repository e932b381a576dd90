#include <cmath>
#include <nlohmann/json.hpp>

#include "pipeline/pipeline.h"

namespace perfc {
namespace {

using Json = nlohmann::ordered_json;

/// Six significant digits: more would claim what no predictor knows.
double round6(double x) {
  if (x == 0 || !std::isfinite(x)) return 0;
  const double scale = std::pow(10.0, 5 - std::floor(std::log10(std::abs(x))));
  return std::isfinite(scale) && scale != 0 ? std::round(x * scale) / scale : x;
}

Json mig_json(const MigDecision& m) {
  Json profiles = Json::array();
  for (const MigOption& o : m.options) {
    profiles.push_back({{"profile", o.profile.name},
                        {"fits", o.fits},
                        {"eligible", o.why.empty()},
                        {"memory_mib", round6(o.memory_mib)},
                        {"slice_memory_mib", o.profile.memory_mib},
                        {"latency_ms", round6(o.latency_ms)},
                        {"instances", o.profile.max_instances},
                        {"throughput_per_s", round6(o.throughput_per_s)},
                        {"energy_j", round6(o.energy_j)},
                        {"why", o.why}});
  }
  Json out{
      {"profile", m.profile ? Json(*m.profile) : Json(nullptr)}, {"why", m.why}, {"profiles", std::move(profiles)}};
  if (!m.dippm.empty()) out["dippm_profile"] = m.dippm;
  return out;
}

Json host_json(const Report& r) {
  const Prediction& p = r.prediction;
  return {{"name", r.device.host.name},
          {"framework", r.device.host.framework},
          {"calls", round6(p.host_calls)},
          {"us_per_call", round6(p.host_us_per_call())},
          {"interval", r.device.host.interval}};
}

Json stack_json(const Report& r) {
  const Stack& s = r.device.stack;
  return {{"name", s.name},
          {"framework", s.framework},
          {"cuda", s.cuda},
          {"context_mib", round6(r.prediction.memory.context_mib)},
          {"interval", s.interval}};
}

Json bound_json(const Report& r) {
  const BoundShares of = bound_shares(r);
  return {{"compute", round6(of.compute)}, {"memory", round6(of.memory)}, {"launch", round6(of.launch)}};
}

Json alternatives_json(const Report& r) {
  Json out = Json::array();
  for (const Report::Alternative& a : r.alternatives) {
    out.push_back({{"options", a.options},
                   {"batch", a.batch},
                   {"latency_ms", round6(a.latency_ms)},
                   {"throughput_per_s", round6(a.throughput_per_s())}});
  }
  return out;
}

Json runtimes_json(const Report& r) {
  Json out = Json::array();
  for (const Report::OnRuntime& o : r.runtimes)
    out.push_back(
        {{"runtime", def(o.runtime).name}, {"dtype", name(o.precision)}, {"latency_ms", round6(o.latency_ms)}});
  return out;
}

Json hosts_json(const Report& r) {
  Json out = Json::array();
  for (const Report::OnHost& o : r.hosts) out.push_back({{"host", o.host}, {"latency_ms", round6(o.latency_ms)}});
  return out;
}

Json dynamic_json(const Report& r) {
  const Report::Dynamic& d = *r.dynamic;
  Json nodes = Json::array();
  for (const Report::DynamicNode& n : d.nodes)
    nodes.push_back({{"op", n.op}, {"name", n.name}, {"extents", n.extents}, {"by", n.by}});
  return {{"taken", kDynamicDims[static_cast<std::size_t>(d.taken)]},
          {"share_of_device", round6(d.depends)},
          {"device_ms_range", {round6(d.device_least_ms), round6(d.device_upper_ms)}},
          {"not_covered", d.not_covered},
          {"nodes", std::move(nodes)}};
}

}  // namespace

std::string to_json(std::span<const Report> reports, std::size_t top) {
  Json predictions = Json::array();
  for (const Report& r : reports) {
    const Prediction& p = r.prediction;
    Json hot = Json::array();
    for (std::size_t i = 0; i < r.hot_ops.size() && i < top; ++i) {
      const Report::HotOp& h = r.hot_ops[i];
      hot.push_back({{"op", h.op},
                     {"name", h.name},
                     {"time_us", round6(h.time_us)},
                     {"share", round6(h.share)},
                     {"bound", name(h.bound)},
                     {"flops", h.flops},
                     {"bytes", h.bytes}});
    }
    Json memory{{"context", round6(p.memory.context_mib)},         {"weights", round6(p.memory.weights_mib)},
                {"gradients", round6(p.memory.gradients_mib)},     {"optimizer", round6(p.memory.optimizer_mib)},
                {"activations", round6(p.memory.activations_mib)}, {"workspace", round6(p.memory.workspace_mib)}};
    Json odds = Json::array();
    if (r.exec.cudnn_benchmark) memory["search"] = round6(p.memory.search_mib);
    for (const MemoryOdds& o : p.memory_odds) odds.push_back({round6(o.memory_mib), round6(o.odds)});
    predictions.push_back({{"model", r.model},
                           {"batch", r.features.batch},
                           {"device", r.device.name},
                           {"dtype", name(r.exec.precision)},
                           {"runtime", def(r.exec.runtime).name},
                           {"mode", name(r.exec.mode)},
                           {"layout", name(r.exec.layout)},
                           {"norms", name(r.exec.norms)},
                           {"task", name(r.exec.task)},
                           {"pacing", name(r.exec.pacing)},
                           {"predictor", p.predictor},
                           {"method", p.method},
                           {"latency_ms", round6(p.latency_ms)},
                           {"latency_ms_interval", {round6(p.latency_lo_ms), round6(p.latency_hi_ms)}},
                           {"device_ms", round6(p.device_ms)},
                           {"host_ms", round6(p.host_ms)},
                           {"host", host_json(r)},
                           {"bound", p.host_bound() ? "host" : "device"},
                           {"device_waits", round6(r.waiting())},
                           {"device_time_bound_by", bound_json(r)},
                           {"alternatives", alternatives_json(r)},
                           {"hosts", hosts_json(r)},
                           {"runtimes", runtimes_json(r)},
                           {"throughput_per_s", round6(r.throughput_per_s())},
                           {"memory_mib", round6(p.memory.total_mib())},
                           {"memory_allocated_mib", round6(p.memory.allocated_mib)},
                           {"memory_mib_interval", {round6(p.memory_lo_mib), round6(p.memory_hi_mib)}},
                           {"device_memory_mib", round6(r.device.memory_mib)},
                           {"fits", r.fits()},
                           {"memory_breakdown_mib", std::move(memory)},
                           {"stack", stack_json(r)},
                           {"energy_j", round6(p.energy_j)},
                           {"energy_j_interval", {round6(p.energy_lo_j), round6(p.energy_hi_j)}},
                           {"energy_j_per_sample", round6(r.energy_j_per_sample())},
                           {"power_w", round6(p.power_w)},
                           {"power_breakdown_w",
                            {{"idle", round6(p.power.idle_w)},
                             {"kernels", round6(p.power.kernels_w)},
                             {"vector_units", round6(p.power.vector_w)},
                             {"matrix_units", round6(p.power.matrix_w)},
                             {"memory", round6(p.power.memory_w)}}},
                           {"device_tdp_w", round6(r.device.tdp_w)},
                           {"mig", r.mig ? mig_json(*r.mig) : Json(nullptr)},
                           {"static",
                            {{"macs", r.features.macs},
                             {"flops", r.features.flops},
                             {"params", r.features.params},
                             {"weight_mib", round6(r.features.weight_mib)},
                             {"nodes", r.features.nodes},
                             {"conv2d", r.features.conv2d},
                             {"dense", r.features.dense},
                             {"relu", r.features.relu}}},
                           {"novelty", p.novelty},
                           {"hot_ops", std::move(hot)},
                           {"warnings", p.warnings}});
    if (const auto of = framework_of(r.exec.precision); !of.empty()) predictions.back()["framework"] = of;
    if (!r.fits()) {
      predictions.back()["largest_batch"] = r.largest_batch ? Json(*r.largest_batch) : Json(nullptr);
      predictions.back()["warnings"].push_back(memory_verdict(r) + ": this will run out of memory");
    }
    if (r.exec.cudnn_benchmark) predictions.back()["memory_odds"] = std::move(odds);
    if (r.dynamic) predictions.back()["dynamic"] = dynamic_json(r);
  }
  const Json document{{"schema", "perfc.report/1"}, {"predictions", std::move(predictions)}};
  // Names come from files and need not be UTF-8.
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace perfc
