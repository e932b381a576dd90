#include "counters/schedule/jobs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "counters/data/counter_dataset.h"
#include "ir/support/csv.h"

namespace perfc {
namespace {

constexpr std::string_view kPredicted = "predicted:", kTime = "time:";

std::optional<std::size_t> kind_of(std::span<const MachineKind> fleet, std::string_view name) {
  const auto found = std::find_if(fleet.begin(), fleet.end(), [&](const MachineKind& m) { return m.name == name; });
  if (found == fleet.end()) return {};
  return static_cast<std::size_t>(found - fleet.begin());
}

}  // namespace

Result<std::vector<MachineKind>> parse_fleet(std::string_view text, Diagnostics& diags) {
  constexpr const char* kWanted = R"(wants {"machines": [{"name": "quartz", "count": 2}, ...]})";
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return diags.error(fmt::format("not valid JSON; {}", kWanted));
  if (!json.is_object() || !json.contains("machines") || !json["machines"].is_array() || json["machines"].empty())
    return diags.error(kWanted);
  std::vector<MachineKind> fleet;
  std::size_t machines = 0;
  for (const auto& m : json["machines"]) {
    const std::string where = fmt::format("machines[{}]", fleet.size());
    if (!m.is_object() || !m.contains("name") || !m["name"].is_string())
      return diags.error(fmt::format("{}: {}", where, kWanted));
    MachineKind kind{.name = m["name"].get<std::string>()};
    for (const auto& [key, value] : m.items()) {
      if (key != "name" && key != "count")
        return diags.error(fmt::format("{}: unknown key '{}'; there are name, count", where, key.substr(0, 80)));
    }
    if (m.contains("count")) {
      if (!m["count"].is_number_integer() || m["count"] < 1 || m["count"] > kMostMachines) {
        return diags.error(fmt::format("{}: count must be a whole number from 1 to {}", where, kMostMachines));
      }
      kind.count = m["count"].get<std::size_t>();
    }
    if (kind_of(fleet, kind.name))
      return diags.error(fmt::format("{}: '{}' stands twice; use count", where, kind.name.substr(0, 80)));
    machines += kind.count;
    if (machines > kMostMachines) return diags.error(fmt::format("more than {} machines", kMostMachines));
    fleet.push_back(std::move(kind));
  }
  return fleet;
}

Result<JobList> parse_jobs(std::string_view csv, std::span<const MachineKind> fleet, Diagnostics& diags) {
  const auto table = parse_csv(csv, diags);
  if (!table) return Failure{};
  const auto name = table->column("job"), arrival = table->column("arrival_s");
  if (!name) return diags.error(SourceLoc{.line = 1}, {}, "the column 'job' is missing");
  struct Times {
    std::size_t column, kind;
    bool predicted;
  };
  std::vector<Times> times;
  for (std::size_t c = 0; c < table->head.size(); ++c) {
    const std::string_view head = table->head[c];
    const bool predicted = head.starts_with(kPredicted);
    if (c == name || c == arrival) continue;
    if (!predicted && !head.starts_with(kTime)) {
      return diags.error(
          SourceLoc{.line = 1}, {},
          fmt::format("column '{}' is none of job, arrival_s, predicted:MACHINE, time:MACHINE", head.substr(0, 80)));
    }
    if (const auto kind = kind_of(fleet, head.substr(predicted ? kPredicted.size() : kTime.size())))
      times.push_back({c, *kind, predicted});
  }
  JobList out{.arrivals = arrival.has_value(), .measured = true};
  for (const CsvTable::Row& row : table->rows) {
    Job job{.name = row.fields[*name],
            .predicted_s = std::vector<double>(fleet.size(), kMissing),
            .actual_s = std::vector<double>(fleet.size(), kMissing)};
    if (arrival && !row.fields[*arrival].empty()) {
      const auto at = parse_number(row.fields[*arrival]);
      if (!at || !(*at >= 0) || !std::isfinite(*at))
        return diags.error(
            row.loc, {},
            fmt::format("arrival_s: '{}' is not a finite, non-negative number", row.fields[*arrival].substr(0, 80)));
      job.arrival_s = *at;
    }
    for (const Times& t : times) {
      const std::string& field = row.fields[t.column];
      if (field.empty()) continue;
      const auto seconds = parse_number(field);
      if (!seconds || !(*seconds > 0) || !std::isfinite(*seconds)) {
        return diags.error(
            row.loc, {}, fmt::format("{}: '{}' is not a positive number", table->head[t.column], field.substr(0, 80)));
      }
      (t.predicted ? job.predicted_s : job.actual_s)[t.kind] = *seconds;
    }
    bool able = false;
    for (std::size_t k = 0; k < fleet.size(); ++k) {
      if (std::isnan(job.predicted_s[k])) {
        job.actual_s[k] = kMissing;
        continue;
      }
      able = true;
      if (std::isnan(job.actual_s[k])) out.measured = false, job.actual_s[k] = job.predicted_s[k];
    }
    if (!able) {
      std::vector<std::string> names;
      for (const MachineKind& m : fleet) names.push_back(m.name);
      return diags.error(
          row.loc, {},
          fmt::format("'{}' has a predicted time on none of {}", job.name.substr(0, 80), fmt::join(names, ", ")));
    }
    out.jobs.push_back(std::move(job));
  }
  if (out.jobs.empty()) return diags.error("no jobs");
  return out;
}

void draw_arrivals(std::vector<Job>& jobs, double per_s, const Random& random) {
  double at = 0;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    jobs[j].arrival_s = at;
    at -= std::log(1 - random.uniform(j)) / per_s;
  }
}

}  // namespace perfc
