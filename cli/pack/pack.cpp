/// `perfc pack`: models onto MIG slices. docs/pack.md.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/pack/plan.h"
#include "ir/support/input_file.h"

namespace perfc::cli {
namespace {

struct PackArguments : PredictOptions, SliceOptions {
  std::string workload, objective = "gpus", emit = "text", output, needs;
  std::uint64_t gpus = 0, replicas = 1, effort = PackProblem{}.effort;
  std::optional<double> rate;
  bool mps = false, json = false;
};

constexpr int kMpsClients = 48;  ///< of a whole GPU; of a slice in proportion (MIG User Guide, "CUDA MPS")

/// The host's GPUs of one kind that has MIG. Empty: wrong, which was printed with `code` to exit with.
std::optional<PackHost> host_of(const PackArguments& o, Device& device, int& code) {
  code = kBadInput;
  Diagnostics diags(o.smi_file);
  auto file = InputFile::open(o.smi_file, diags);
  Result<std::vector<HostGpu>> gpus = Failure{};
  if (file) gpus = read_nvidia_smi(file->bytes(), DeviceTable::builtin(), diags);
  print(diags);
  if (!gpus) return std::nullopt;
  std::vector<std::string> kinds;
  for (const HostGpu& g : *gpus) {
    if (!g.device.mig.empty() && std::ranges::find(kinds, g.device.name) == kinds.end()) kinds.push_back(g.device.name);
  }
  std::string kind = kinds.size() == 1 ? kinds.front() : "";
  if (!o.devices.empty()) {
    Diagnostics usage;
    code = kBadUsage;
    const auto wanted = DeviceTable::builtin().find(o.devices.front(), usage);
    print(usage);
    if (!wanted) return std::nullopt;
    kind = std::ranges::find(kinds, wanted->name) == kinds.end() ? "" : wanted->name;
  }
  if (kind.empty()) {
    fail(code, kinds.empty()
                   ? fmt::format("{}: the host has no GPU with MIG profiles", o.smi_file)
                   : fmt::format("{}: the host has {}; choose one with --device", o.smi_file, fmt::join(kinds, ", ")));
    return std::nullopt;
  }
  PackHost out;
  for (std::size_t i = 0; i < gpus->size(); ++i) {
    HostGpu& g = (*gpus)[i];
    if (g.device.name != kind) {
      ++out.others;
      continue;
    }
    if (out.index.empty()) device = g.device;
    MigCounts counts(g.device.mig.size(), 0);
    for (const HostInstance& instance : g.instances) {
      if (instance.id < 0) {
        fail(kBadInput, fmt::format("{}: GPU {} has instances without a gpu_instance_id", o.smi_file, i));
        code = kBadInput;
        return std::nullopt;
      }
      const auto p = std::ranges::find(g.device.mig, instance.profile.name, &MigProfile::name);
      ++counts[static_cast<std::size_t>(p - g.device.mig.begin())];
    }
    if (!MigPartitions(g.device.mig).holds(counts)) {
      fail(kBadInput, fmt::format("{}: GPU {} has instances that one {} cannot hold", o.smi_file, i, kind));
      code = kBadInput;
      return std::nullopt;
    }
    out.index.push_back(i);
    out.mig_enabled.push_back(g.mig_mode == "Enabled");
    out.instances.push_back(std::move(g.instances));
    out.counts.push_back(std::move(counts));
  }
  return out;
}

bool takes(const MigProfile& p, const std::string& needs) {
  if (needs == "media") return p.ofa > 0 && !p.graphics;
  return needs != "graphics" || p.graphics;
}

/// Fills in the problem's models; what cannot be predicted is printed.
bool predict_models(PackPlan& plan, int& code) {
  const Device& device = plan.device;
  WorkloadPredictor predictor;
  bool good = true;
  for (WorkloadEntry& e : plan.entries) {
    std::vector<std::size_t> profiles;
    std::vector<Device> slices;
    for (std::size_t p = 0; p < device.mig.size(); ++p) {
      if (!takes(device.mig[p], e.needs) || (e.needs.empty() && is_variant(device, p))) continue;
      profiles.push_back(p);
      slices.push_back(slice(device, device.mig[p]));
    }
    if (profiles.empty()) {
      code = kBadInput;
      fail(code, fmt::format("{}: {} has no profile with {}", e.name, device.name, e.needs));
      return false;
    }
    const auto reports = predictor.on(e, slices, code);
    good = good && reports;
    if (!reports) continue;
    PackModel m;
    m.demand = {e.rate_per_s, static_cast<int>(std::min<std::int64_t>(reports->front().features.batch, 1 << 30)),
                e.max_latency_ms, e.replicas};
    m.on.resize(device.mig.size());
    for (std::size_t i = 0; i < profiles.size(); ++i)
      m.on[profiles[i]] = service_of((*reports)[i], plan.slices.certain);
    plan.problem.models.push_back(std::move(m));
  }
  return good;
}

/// The best slice for a model that none serves, of equal ones the largest, and what misses.
std::string why_unservable(const PackPlan& plan, std::size_t model) {
  const PackModel& m = plan.problem.models[model];
  const Device& d = plan.device;
  std::optional<std::size_t> best;
  const auto by = [&](std::size_t p) { return missed_by(m.demand, *m.on[p], d.mig[p].memory_mib, plan.slices.limits); };
  for (std::size_t p = 0; p < m.on.size(); ++p) {
    if (m.on[p] && (!best || by(p) <= by(*best))) best = p;
  }
  return fmt::format("{}: no slice of {} serves it; on the best, {}, it {}", plan.entries[model].name, d.name,
                     d.mig[*best].name,
                     missed_limit(m.demand, *m.on[*best], d.mig[*best].memory_mib, plan.slices.limits));
}

int explain(const PackPlan& plan) {
  const int most = plan.problem.gpus.value_or(kMostPackGpus);
  const std::string gpus = fmt::format("{} GPU{}", most, most == 1 ? "" : "s");
  switch (plan.packing.outcome) {
    case Packing::Outcome::Unservable: {  // tell all of them
      std::vector<std::string> all;
      for (std::size_t m = 0; m < plan.entries.size(); ++m) {
        const PackModel& model = plan.problem.models[m];
        bool served = false;
        for (std::size_t p = 0; p < model.on.size(); ++p)
          served =
              served ||
              (model.on[p] &&
               missed_limit(model.demand, *model.on[p], plan.device.mig[p].memory_mib, plan.slices.limits).empty());
        if (!served) fail(kBudgetExceeded, why_unservable(plan, m));
      }
      return kBudgetExceeded;
    }
    case Packing::Outcome::TooFew:
      return fail(kBudgetExceeded, fmt::format("{} of {} cannot hold the models: at least {:.0f} are needed (proven)",
                                               gpus, plan.device.name, plan.packing.bound));
    default:
      return fail(
          kBudgetExceeded,
          fmt::format("no plan on {} of {} was found, and none was excluded; at least {:.0f} are needed. A larger "
                      "--effort searches longer",
                      gpus, plan.device.name, plan.packing.bound));
  }
}

PackGoal goal_of(const PackArguments& o) {
  return o.objective == "energy" ? PackGoal::Energy : o.objective == "gpus" ? PackGoal::Gpus : PackGoal::Throughput;
}

int write(const PackPlan& plan, const PackArguments& o, Output& out) {
  out.write(o.json                   ? plan_json(plan)
            : o.emit == "mig-parted" ? plan_mig_parted(plan)
            : o.emit == "kubernetes" ? plan_kubernetes(plan)
            : o.emit == "commands"   ? plan_commands(plan)
                                     : plan_text(plan, colour_for(out)));
  return out.commit() ? kFine : kBadInput;
}

/// The moves to a plan of the same worth that takes the fewest: the one that was found, or one of the profiles that the
/// host has. False: no way to either was found.
bool move_from_host(PackPlan& plan) {
  const PackHost& host = *plan.host;
  const MigPartitions& partitions = *plan.problem.partitions;
  const auto moves_to = [&](const Packing& packing) {
    MigCounts wanted(plan.device.mig.size(), 0);
    for (const PackedSlice& s : packing.slices) ++wanted[s.profile];
    return plan_moves(partitions, wanted, host.counts, packing.gpus, plan.problem.effort);
  };
  MovePlan moves = moves_to(plan.packing);
  PackProblem there = plan.problem;
  for (std::size_t p = 0; p < plan.device.mig.size(); ++p) {
    if (std::ranges::any_of(host.counts, [&](const MigCounts& c) { return c[p] > 0; })) continue;
    for (PackModel& m : there.models) m.on[p].reset();
  }
  if (Packing other = pack(there); other.outcome == Packing::Outcome::Found && other.value == plan.packing.value) {
    MovePlan fewer = moves_to(other);
    if (!fewer.gpus.empty() && (moves.gpus.empty() || fewer.moves < moves.moves)) {
      other.bound = plan.packing.bound;  // of all profiles
      plan.packing = std::move(other);
      moves = std::move(fewer);
    }
  }
  if (moves.gpus.empty()) return false;
  follow(partitions, moves, plan.packing);
  plan.moves = std::move(moves);
  return true;
}

/// The entries of the command line and of the workload file.
std::optional<std::vector<WorkloadEntry>> entries_of(const PackArguments& o, int& code) {
  WorkloadEntry defaults{.predict = static_cast<const PredictOptions&>(o),
                         .rate_per_s = o.rate.value_or(0),
                         .max_latency_ms = o.max_latency_ms,
                         .replicas = static_cast<int>(o.replicas),
                         .needs = o.needs};
  defaults.predict.models.clear();
  std::vector<WorkloadEntry> out;
  for (const std::string& model : o.models) {
    out.push_back(defaults);
    out.back().model = out.back().path = model;
  }
  code = kBadUsage;
  if (out.empty() && o.workload.empty()) {
    fail(code, "no models: name them, or a --workload file (docs/pack.md)");
    return std::nullopt;
  }
  code = kBadInput;
  if (!o.workload.empty() && !read_workload(o.workload, defaults, out)) return std::nullopt;
  if (out.size() > kMostPackModels) {
    fail(code, fmt::format("{} models; one plan is for {} at most", out.size(), kMostPackModels));
    return std::nullopt;
  }
  name_entries(out);
  return out;
}

std::string wrong_usage(const PackArguments& o) {
  if (o.devices.size() > 1) return "--device: a plan is for GPUs of one kind";
  if (!o.smi_file.empty() && !o.device_file.empty())
    return "--device-file and --from-nvidia-smi: the host's GPUs are looked up among the built-in devices";
  if (o.json && o.emit != "text") return "--json and --emit are two forms; give one of them";
  if (o.mps && o.emit == "kubernetes")
    return "--emit kubernetes: NVIDIA's device plugin has no MPS on MIG devices; plan without --mps";
  if (o.objective == "throughput" && o.gpus == 0 && o.smi_file.empty())
    return "--objective throughput needs --gpus, or a host";
  return {};
}

int run_pack(const PackArguments& o) {
  if (const std::string wrong = wrong_usage(o); !wrong.empty()) return fail(kBadUsage, wrong);
  int code = kFine;
  auto entries = entries_of(o, code);
  if (!entries) return code;
  PackPlan plan{.entries = std::move(*entries), .slices = static_cast<const SliceOptions&>(o)};
  if (o.objective == "throughput") {
    for (const WorkloadEntry& e : plan.entries) {
      if (!(e.rate_per_s > 0))
        return fail(kBadUsage,
                    fmt::format("--objective throughput scales the rates that are asked for: {} has none", e.name));
    }
  }
  if (!o.smi_file.empty()) {
    plan.host = host_of(o, plan.device, code);
    if (!plan.host) return code;
  } else {
    Diagnostics usage;
    const auto devices = find_devices({.devices = o.devices.empty() ? std::vector<std::string>{"a100-40gb"} : o.devices,
                                       .device_file = o.device_file},
                                      usage);
    print(usage);
    if (!devices) return no_devices(o);
    plan.device = devices->front();
  }
  const MigPartitions partitions(plan.device.mig);
  if (partitions.maximal().empty() || partitions.maximal().front().empty())
    return fail(kBadUsage, fmt::format("{} has no MIG profiles with places (`starts` and `size`, docs/devices.md)",
                                       plan.device.name));
  auto out = Output::open(o.output);
  if (!out || !predict_models(plan, code)) return out ? code : kBadInput;
  PackProblem& problem = plan.problem;
  problem.partitions = &partitions;
  if (o.gpus > 0) problem.gpus = static_cast<int>(o.gpus);
  if (plan.host)
    problem.gpus = std::min(problem.gpus.value_or(kMostPackGpus), static_cast<int>(plan.host->index.size()));
  problem.idle_w = plan.device.idle_w;
  problem.limits = plan.slices.limits;
  problem.goal = goal_of(o);
  problem.share = o.mps;
  problem.effort = o.effort;
  int full = 1;
  for (const MigProfile& p : plan.device.mig) full = std::max(full, p.compute_slices);
  for (const MigProfile& p : plan.device.mig)
    problem.clients.push_back(std::max(1, kMpsClients * p.compute_slices / full));
  plan.packing = pack(problem);
  if (plan.packing.outcome != Packing::Outcome::Found) return explain(plan);
  if (plan.host && !move_from_host(plan)) {
    return fail(kBudgetExceeded,
                "no way from the host's instances to the plan's was found; a larger --effort searches longer");
  }
  return write(plan, o, *out);
}

}  // namespace

Command pack_command() {
  auto o = std::make_shared<PackArguments>();
  Command c{"pack", "Plan MIG slices for models with rates and latency limits", [o] { return run_pack(*o); }};
  c.option("models,--model", o->models, "Model files, each with the rate and limits below");
  c.option("--workload,-w", o->workload, "YAML file with models, their rates and limits (docs/pack.md)");
  c.option("--rate", o->rate, "Requests per second of each model, a request being one sample").must_be(Positive{});
  c.option("--max-latency", o->max_latency_ms, "What a request may take, in ms: waiting, gathering and the batch")
      .must_be(Positive{});
  c.option("--replicas", o->replicas, "Slices of each model at least [1]").must_be(WholeBetween{1, kMostPackGpus});
  c.option("--needs", o->needs, "media or graphics: slices with media extensions (+me) or graphics APIs (+gfx)")
      .must_be(OneOf{{"media", "graphics"}});
  c.option("--gpus,-n", o->gpus, "GPUs that there are [as many as it takes]").must_be(WholeBetween{1, kMostPackGpus});
  c.option("--objective", o->objective,
           "gpus (fewest), energy (least power) or throughput (most in the mix of rates) [gpus]")
      .must_be(OneOf{{"gpus", "energy", "throughput"}});
  c.option("--mps", o->mps, "Models that need one slice each may share one by MPS");
  c.option("--effort", o->effort, "Steps of the search, after which a plan is printed with its proven gap [400000]");
  c.option("--emit", o->emit,
           "text, mig-parted (its YAML), kubernetes (resources.limits) or commands (nvidia-smi) [text]")
      .must_be(OneOf{{"text", "mig-parted", "kubernetes", "commands"}});
  c.option("--json", o->json, "As JSON (docs/pack.md)");
  c.option("-o,--output", o->output, "Write to a file instead of standard output");
  add_slice_options(c, *o);
  add_shape_options(c, *o);
  add_loop_options(c, *o);
  add_dynamic_options(c, *o);
  add_execution_options(c, *o);
  return c;
}

}  // namespace perfc::cli
