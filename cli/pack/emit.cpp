/// What carries a plan out: configurations and commands of NVIDIA's tools.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "cli/pack/plan.h"
#include "compare/comparison.h"

namespace perfc::cli {
namespace {

/// What of a GPU's instances is destroyed: of equal ones first those in which nothing runs.
std::vector<const HostInstance*> destroyed(const PackPlan& plan, const GpuMoves& moves) {
  std::vector<const HostInstance*> out;
  for (std::size_t p = 0; p < moves.destroy.size(); ++p) {
    std::vector<const HostInstance*> of;
    for (const HostInstance& i : plan.host->instances[moves.gpu]) {
      if (i.profile.name == plan.device.mig[p].name) of.push_back(&i);
    }
    std::ranges::stable_sort(of, {}, [](const HostInstance* i) { return i->processes.size(); });
    of.resize(std::min(of.size(), static_cast<std::size_t>(moves.destroy[p])));
    out.insert(out.end(), of.begin(), of.end());
  }
  return out;
}

/// The larger first, as `plan_moves` has it.
std::vector<std::string> names_of_created(const PackPlan& plan, const MigCounts& create) {
  std::vector<std::size_t> order(create.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t p) { return plan.device.mig[p].size; });
  std::vector<std::string> out;
  for (const std::size_t p : order) out.insert(out.end(), static_cast<std::size_t>(create[p]), plan.device.mig[p].name);
  return out;
}

std::vector<std::string> names_with_places(const PackPlan& plan, std::size_t gpu) {
  std::vector<std::string> out;
  for (const PackedSlice& s : plan.packing.slices) {
    if (s.gpu == gpu) out.push_back(fmt::format("{}:{}", plan.device.mig[s.profile].name, s.start));
  }
  return out;
}

std::string create_command(std::size_t index, const std::vector<std::string>& names) {
  return fmt::format("nvidia-smi mig -i {} -cgi {} -C\n", index, fmt::join(names, ","));
}

}  // namespace

std::vector<std::pair<std::size_t, MigCounts>> PackPlan::partitions() const {
  std::vector<std::pair<std::size_t, MigCounts>> out;
  if (moves) {
    for (const GpuMoves& m : moves->gpus) {
      if (!m.used()) continue;
      MigCounts after = m.keep;
      for (std::size_t p = 0; p < after.size(); ++p) after[p] += m.create[p];
      out.emplace_back(gpu_index(m.gpu), std::move(after));
    }
    return out;
  }
  for (std::size_t gpu = 0; gpu < packing.gpus; ++gpu) {
    MigCounts counts(device.mig.size(), 0);
    for (const PackedSlice& s : packing.slices) counts[s.profile] += s.gpu == gpu;
    out.emplace_back(gpu, std::move(counts));
  }
  return out;
}

std::string plan_mig_parted(const PackPlan& plan) {
  std::vector<std::pair<MigCounts, std::vector<std::size_t>>> groups;
  for (auto& [gpu, counts] : plan.partitions()) {
    const auto same = std::ranges::find(groups, counts, &std::pair<MigCounts, std::vector<std::size_t>>::first);
    if (same == groups.end()) groups.push_back({counts, {gpu}});
    else same->second.push_back(gpu);
  }
  std::string out = fmt::format("# {}; nvidia-mig-parted apply -f FILE -c perfc\nversion: v1\nmig-configs:\n  perfc:\n",
                                plan.device.title);
  for (const auto& [counts, gpus] : groups) {
    out += fmt::format("    - devices: [{}]\n      mig-enabled: true\n      mig-devices:\n", fmt::join(gpus, ", "));
    for (std::size_t p = 0; p < counts.size(); ++p) {
      if (counts[p]) out += fmt::format("        \"{}\": {}\n", plan.device.mig[p].name, counts[p]);
    }
  }
  return out;
}

std::string plan_kubernetes(const PackPlan& plan) {
  // Resource names: NVIDIA's k8s-device-plugin under the MIG strategy "mixed", where a "." stands for a profile's "+".
  std::string out = "# Pods of each model, one slice to a pod; NVIDIA's device plugin with --mig-strategy=mixed\n";
  for (std::size_t m = 0; m < plan.entries.size(); ++m) {
    for (std::size_t p = 0; p < plan.device.mig.size(); ++p) {
      const auto pods = std::ranges::count_if(
          plan.packing.slices, [&](const PackedSlice& s) { return s.profile == p && s.parts.front().model == m; });
      if (pods == 0) continue;
      std::string profile = plan.device.mig[p].name;
      std::ranges::replace(profile, '+', '.');
      std::string name = plan.entries[m].name;
      for (const char special : {'\\', '"'}) {
        for (std::size_t at = 0; (at = name.find(special, at)) != std::string::npos; at += 2) name.insert(at, "\\");
      }
      out += fmt::format(
          "---\n# {0}\nname: \"{0}-{1}\"\nreplicas: {2}\nresources:\n  limits:\n    nvidia.com/mig-{1}: 1\n", name,
          profile, pods);
    }
  }
  return out;
}

std::string plan_commands(const PackPlan& plan) {
  std::string out = fmt::format("# {}; as root\n", plan.device.title);
  if (!plan.moves) {
    for (std::size_t gpu = 0; gpu < plan.packing.gpus; ++gpu)
      out += fmt::format("nvidia-smi -i {} -mig 1\n{}", gpu, create_command(gpu, names_with_places(plan, gpu)));
    return out;
  }
  for (const GpuMoves& m : plan.moves->gpus) {
    const std::size_t index = plan.gpu_index(m.gpu);
    if (m.untouched()) continue;
    if (!plan.host->mig_enabled[m.gpu]) out += fmt::format("nvidia-smi -i {} -mig 1\n", index);
    const auto old = destroyed(plan, m);
    for (const HostInstance* i : old) {
      if (!i->processes.empty())
        out += fmt::format("# stop first, in instance {}: {}\n", i->id,
                           printable(fmt::format("{}", fmt::join(i->processes, ", "))));
    }
    for (const HostInstance* i : old) {
      if (!i->compute.empty()) out += fmt::format("nvidia-smi mig -i {} -dci -gi {}\n", index, i->id);
      out += fmt::format("nvidia-smi mig -i {} -dgi -gi {}\n", index, i->id);
    }
    if (std::accumulate(m.create.begin(), m.create.end(), 0) == 0) continue;
    out += create_command(index, m.from_scratch() ? names_with_places(plan, m.gpu) : names_of_created(plan, m.create));
  }
  return out;
}

}  // namespace perfc::cli
