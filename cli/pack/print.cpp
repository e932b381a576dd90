/// Plans for people, and as JSON.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "cli/pack/plan.h"
#include "compare/comparison.h"
#include "pipeline/text_style.h"

namespace perfc::cli {
namespace {

constexpr const char* kGoalNames[] = {"gpus", "energy", "throughput"};
constexpr const char* kGoalTitles[] = {"fewest GPUs", "least power", "most throughput"};
constexpr const char* kGoalUnits[] = {"GPUs", "W", "times the rates"};

std::size_t goal_index(const PackPlan& plan) { return static_cast<std::size_t>(plan.problem.goal); }

std::string names_of_counts(const PackPlan& plan, const MigCounts& counts) {
  std::vector<std::string> out;
  for (std::size_t p = 0; p < counts.size(); ++p) {
    if (counts[p]) out.push_back(fmt::format("{} × {}", counts[p], plan.device.mig[p].name));
  }
  return out.empty() ? "none" : fmt::format("{}", fmt::join(out, ", "));
}

std::string proof(const PackPlan& plan) {
  const Packing& p = plan.packing;
  const std::size_t g = goal_index(plan);
  if (p.proven()) return fmt::format("{}, proven: no plan is better", kGoalTitles[g]);
  return fmt::format("{}, not proven: {:.4g} {}, and no plan is better than {:.4g} (gap {:.2g} %)", kGoalTitles[g],
                     p.value, kGoalUnits[g], p.bound, 100 * p.gap());
}

/// "slots 0-3", "new", "kept"; beside kept instances the driver chooses the place.
std::string place_text(const PackPlan& plan, const PackedSlice& s) {
  const int size = plan.device.mig[s.profile].size;
  if (s.start < 0) return "-";
  return size == 1 ? std::to_string(s.start) : fmt::format("{}-{}", s.start, s.start + size - 1);
}

std::string slice_rows(const PackPlan& plan, const PackedSlice& s, int wide, int wide_profile) {
  const MigProfile& profile = plan.device.mig[s.profile];
  std::string out;
  for (const PackedSlice::Part& part : s.parts) {
    const WorkloadEntry& e = plan.entries[part.model];
    const bool first = &part == &s.parts.front();
    out += fmt::format("  {:<5} {:<{}}  {:<{}}  ", first ? place_text(plan, s) : "", first ? profile.name : "",
                       wide_profile, e.name, wide);
    out += e.rate_per_s > 0 ? fmt::format("{:>9.4g} {:>9.4g}", part.rate_per_s, part.capacity_per_s)
                            : fmt::format("{:>9} {:>9.4g}", "-", part.capacity_per_s);
    out += fmt::format("  {:>5.1f}  {:>9.2f} {:>8}", 100 * part.utilisation, part.request_ms,
                       e.max_latency_ms ? fmt::format("{:g}", *e.max_latency_ms) : "-");
    out += first ? fmt::format("  {:>8.0f} {:>8.0f}\n", s.memory_mib,
                               profile.memory_mib * (1 - plan.slices.limits.headroom))
                 : "\n";
  }
  return out;
}

std::string moves_text(const PackPlan& plan) {
  const MovePlan& moves = *plan.moves;
  std::string out = fmt::format("moves: {} instances destroyed or created{}\n", moves.moves,
                                moves.moves == moves.bound ? ", the fewest to these instances: proven"
                                                           : fmt::format(", at least {} to these", moves.bound));
  for (const GpuMoves& m : moves.gpus) {
    const std::size_t index = plan.gpu_index(m.gpu);
    if (m.untouched()) {
      out += fmt::format("  GPU {}: {}\n", index, m.used() ? "stays as it is" : "not used, left alone");
      continue;
    }
    out += fmt::format("  GPU {}: keep {}; destroy {}; create {}\n", index, names_of_counts(plan, m.keep),
                       names_of_counts(plan, m.destroy), names_of_counts(plan, m.create));
  }
  if (plan.host->others > 0)
    out += fmt::format("  {} of the host's GPUs are of other kinds and left alone\n", plan.host->others);
  return out;
}

}  // namespace

std::string plan_text(const PackPlan& plan, Colour colour) {
  const Style style{colour};
  const Packing& packing = plan.packing;
  std::string out =
      style.bold(fmt::format("{}: {} GPU{} for {} model{}", plan.device.name, packing.gpus,
                             packing.gpus == 1 ? "" : "s", plan.entries.size(), plan.entries.size() == 1 ? "" : "s")) +
      fmt::format(", {:.0f} W\n{}\n", packing.power_w, proof(plan));
  if (plan.problem.goal == PackGoal::Throughput)
    out += fmt::format("carries {:.4g} times the rates that were asked for\n", packing.factor);
  int wide = 5, wide_profile = 7;
  for (const WorkloadEntry& e : plan.entries) wide = std::max(wide, static_cast<int>(e.name.size()));
  for (const MigProfile& p : plan.device.mig) wide_profile = std::max(wide_profile, static_cast<int>(p.name.size()));
  out += style.dim(fmt::format("\n  {:<5} {:<{}}  {:<{}}  {:>9} {:>9}  {:>5}  {:>9} {:>8}  {:>8} {:>8}\n", "slots",
                               "profile", wide_profile, "model", wide, "rate/s", "of/s", "busy%", "latency", "of ms",
                               "MiB", "of"));
  std::size_t gpu = packing.gpus + 1;
  for (const PackedSlice& s : packing.slices) {
    if (s.gpu != gpu) out += fmt::format("GPU {}\n", plan.gpu_index(s.gpu));
    gpu = s.gpu;
    out += slice_rows(plan, s, wide, wide_profile);
  }
  out += fmt::format(
      "\nlatency: until a batch is full or its time is up, the mean wait of an M/D/1 queue, and the batch ({}); a "
      "slice works at most {:g} % of the time{}\n",
      plan.slices.certain ? "upper end of its 90 % interval" : "as predicted", 100 * plan.slices.limits.utilisation,
      plan.problem.share ? "; models of one slice share it by MPS" : "");
  if (plan.moves) out += moves_text(plan);
  return out;
}

std::string plan_json(const PackPlan& plan) {
  using Json = nlohmann::ordered_json;
  const Packing& packing = plan.packing;
  const std::size_t g = goal_index(plan);
  const auto counts = [&](const MigCounts& c) {
    Json out = Json::object();
    for (std::size_t p = 0; p < c.size(); ++p) {
      if (c[p]) out[plan.device.mig[p].name] = c[p];
    }
    return out;
  };
  Json models = Json::array(), gpus = Json::array();
  for (const WorkloadEntry& e : plan.entries) {
    const ServiceDemand& d = plan.problem.models[static_cast<std::size_t>(&e - plan.entries.data())].demand;
    models.push_back({{"name", e.name},
                      {"model", printable(e.model)},
                      {"batch", d.batch},
                      {"rate_per_s", e.rate_per_s > 0 ? Json(e.rate_per_s) : Json()},
                      {"max_latency_ms", e.max_latency_ms ? Json(*e.max_latency_ms) : Json()},
                      {"replicas", e.replicas}});
  }
  for (const auto& [index, partition] : plan.partitions()) {
    Json slices = Json::array();
    for (const PackedSlice& s : packing.slices) {
      if (plan.gpu_index(s.gpu) != index) continue;
      const MigProfile& profile = plan.device.mig[s.profile];
      Json parts = Json::array();
      for (const PackedSlice::Part& part : s.parts) {
        const PackModel& m = plan.problem.models[part.model];
        const double gather =
            gather_ms(m.demand, *m.on[s.profile], static_cast<int>(s.parts.size()), plan.slices.limits);
        parts.push_back({{"name", plan.entries[part.model].name},
                         {"rate_per_s", part.rate_per_s},
                         {"capacity_per_s", part.capacity_per_s},
                         {"utilisation", part.utilisation},
                         {"latency_ms", part.request_ms},
                         {"batch_ms", m.on[s.profile]->batch_ms},
                         {"max_queue_delay_ms", std::isfinite(gather) ? Json(gather) : Json()}});
      }
      slices.push_back({{"profile", profile.name},
                        {"start", s.start >= 0 ? Json(s.start) : Json()},
                        {"size", profile.size},
                        {"utilisation", s.utilisation},
                        {"memory_mib", s.memory_mib},
                        {"usable_mib", profile.memory_mib * (1 - plan.slices.limits.headroom)},
                        {"models", std::move(parts)}});
    }
    gpus.push_back({{"gpu", index}, {"instances", counts(partition)}, {"slices", std::move(slices)}});
  }
  Json out{{"schema", "perfc.pack/1"},
           {"device", plan.device.name},
           {"objective", kGoalNames[g]},
           {"value", packing.value},
           {"bound", packing.bound},
           {"proven", packing.proven()},
           {"gap", packing.gap()},
           {"gpus_used", packing.gpus},
           {"power_w", packing.power_w},
           {"rate_factor", packing.factor},
           {"utilisation_limit", plan.slices.limits.utilisation},
           {"certain", plan.slices.certain},
           {"models", std::move(models)},
           {"gpus", std::move(gpus)}};
  if (plan.moves) {
    Json moves = Json::array();
    for (const GpuMoves& m : plan.moves->gpus) {
      moves.push_back({{"gpu", plan.gpu_index(m.gpu)},
                       {"keep", counts(m.keep)},
                       {"destroy", counts(m.destroy)},
                       {"create", counts(m.create)}});
    }
    out["moves"] = {{"count", plan.moves->moves}, {"bound", plan.moves->bound}, {"gpus", std::move(moves)}};
  }
  return out.dump(2) + "\n";
}

}  // namespace perfc::cli
