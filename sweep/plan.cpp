#include "sweep/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "compare/comparison.h"
#include "ir/support/text.h"

namespace perfc {
namespace {

std::vector<std::string> words_of(std::string_view list) {
  std::vector<std::string> out;
  do out.emplace_back(next_word(list, ','));
  while (!list.empty());
  return out;
}

}  // namespace

Result<std::vector<Request>> sweep_runs(const PredictOptions& o, Diagnostics& usage) {
  std::vector<Request> runs;
  std::set<std::pair<Runtime, Precision>> known;
  for (const std::string& runtime : words_of(o.runtime)) {
    for (const std::string& mode : words_of(o.mode)) {
      for (const std::string& dtype : words_of(o.dtype)) {
        PredictOptions one = o;
        one.runtime = runtime;
        one.mode = mode;
        one.dtype = dtype;
        auto request = to_request(one, Batches::Several, usage);
        if (!request) return Failure{};
        if (known.insert({request->exec.runtime, request->exec.precision}).second) runs.push_back(std::move(*request));
      }
    }
  }
  return runs;
}

Status name_all_devices(Request& request, Diagnostics& diags) {
  const auto all = std::ranges::find(request.devices, "all");
  if (all == request.devices.end()) return ok();
  const auto table = device_table(request, diags);
  if (!table) return Failure{};
  request.devices.erase(all);
  for (const Device& d : table->all()) request.devices.push_back(d.name);
  return ok();
}

void add_devices(std::vector<Device> devices, SweepPlan& plan) {
  for (Device& d : devices) {
    const auto same = [&](const Device& known) { return known.name == d.name && known.memory_mib == d.memory_mib; };
    if (std::ranges::none_of(plan.devices, same)) plan.devices.push_back(std::move(d));
  }
}

Status find_models(const std::vector<std::string>& all, SweepPlan& plan, Diagnostics& diags) {
  std::set<std::string> known;
  for (const std::string& given : all) {
    if (given == "-") return diags.error("-: a sweep reads files and folders, not standard input");
    Diagnostics of_set(given);
    auto set = open_model_set(given, of_set);
    diags.append(of_set);
    if (!set) return Failure{};
    for (const auto& [file, path] : set->files) {
      std::error_code error;
      if (!std::filesystem::exists(path, error))
        return diags.error(fmt::format("{}: no such file or folder", printable(given)));
      const std::string name =
          printable(set->folder ? fmt::format("{}{}{}", given, given.ends_with('/') ? "" : "/", file) : file);
      if (set->folder && !is_model(path)) {
        plan.left_out.push_back(name);
        continue;
      }
      if (known.insert(name).second) plan.models.push_back({name, path, !set->checked_out.path().empty()});
    }
    plan.opened.push_back(std::move(*set));
  }
  return plan.models.empty() ? diags.error(fmt::format("no model in {}", fmt::join(all, ", "))) : ok();
}

}  // namespace perfc
