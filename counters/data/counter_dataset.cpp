#include "counters/data/counter_dataset.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>

#include "ir/support/csv.h"
#include "ir/support/input_file.h"

namespace perfc {
namespace {

constexpr std::string_view kCounterPrefix = "counter:", kWorkPrefix = "work:", kTimePrefix = "time:";

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;  // FNV-1a, 64 bits
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}

}  // namespace

std::optional<std::size_t> CounterDataset::machine(std::string_view name) const {
  const auto found = std::find(machines.begin(), machines.end(), name);
  if (found == machines.end()) return {};
  return static_cast<std::size_t>(found - machines.begin());
}

Result<CounterDataset> parse_counter_dataset(std::string_view text, Diagnostics& diags) {
  const auto table = parse_csv(text, diags);
  if (!table) return Failure{};
  CounterDataset d{.hash = hash_of(text)};
  enum class Kind { Name, Application, Suite, Region, Profiled, Counter, Work, Time };
  std::vector<Kind> kinds;
  for (const std::string& column : table->head) {
    const std::string_view name = column;
    if (name == "workload") kinds.push_back(Kind::Name);
    else if (name == "application") kinds.push_back(Kind::Application);
    else if (name == "suite") kinds.push_back(Kind::Suite);
    else if (name == "region") kinds.push_back(Kind::Region);
    else if (name == "profiled") kinds.push_back(Kind::Profiled);
    else if (name.starts_with(kCounterPrefix))
      kinds.push_back(Kind::Counter), d.counters.push_back({column.substr(kCounterPrefix.size()), "1", {}});
    else if (name.starts_with(kWorkPrefix))
      kinds.push_back(Kind::Work), d.work.push_back({column.substr(kWorkPrefix.size()), "1", {}});
    else if (name.starts_with(kTimePrefix))
      kinds.push_back(Kind::Time), d.machines.push_back(column.substr(kTimePrefix.size()));
    else {
      return diags.error(
          SourceLoc{.line = 1}, {},
          fmt::format("column '{}' is none of workload, application, suite, region, profiled, counter:NAME, work:NAME, "
                      "time:MACHINE",
                      name.substr(0, 80)));
    }
  }
  if (std::find(kinds.begin(), kinds.end(), Kind::Name) == kinds.end())
    return diags.error(SourceLoc{.line = 1}, {}, "the column 'workload' is missing");
  if (d.counters.size() > kMostCounters || d.work.size() > kMostWork) {
    return diags.error(SourceLoc{.line = 1}, {},
                       fmt::format("{} counters and {} kinds of work; at most {} and {} are read", d.counters.size(),
                                   d.work.size(), kMostCounters, kMostWork));
  }
  std::set<std::string> names;
  for (const CsvTable::Row& row : table->rows) {
    CounterDataset::Workload w{.loc = row.loc};
    for (std::size_t c = 0; c < kinds.size(); ++c) {
      const std::string& field = row.fields[c];
      if (kinds[c] == Kind::Name) w.name = field;
      if (kinds[c] == Kind::Application) w.application = field;
      if (kinds[c] == Kind::Suite) w.suite = field;
      if (kinds[c] == Kind::Region) w.region = field;
      if (kinds[c] == Kind::Profiled) w.profiled = field;
      if (kinds[c] != Kind::Counter && kinds[c] != Kind::Work && kinds[c] != Kind::Time) continue;
      const auto value = parse_number(field);
      const bool fits =
          field.empty() || (value && std::isfinite(*value) &&
                            (kinds[c] == Kind::Counter || *value > 0 || (kinds[c] == Kind::Work && *value == 0)));
      if (!fits) {
        return diags.error(row.loc, {},
                           fmt::format("{}: '{}' is not a {} number", table->head[c], field.substr(0, 80),
                                       kinds[c] == Kind::Counter ? "finite"
                                       : kinds[c] == Kind::Work  ? "finite, non-negative"
                                                                 : "positive"));
      }
      if (kinds[c] == Kind::Counter) w.counters.push_back(value.value_or(kMissing));
      if (kinds[c] == Kind::Work) w.work.push_back(value.value_or(0));
      if (kinds[c] == Kind::Time) w.seconds.push_back(value.value_or(kMissing));
    }
    if (w.name.empty()) return diags.error(row.loc, {}, "workload: has no name");
    if (!names.insert(w.name).second)
      return diags.error(row.loc, {}, fmt::format("workload: '{}' stands twice", w.name.substr(0, 80)));
    if (w.application.empty()) w.application = w.name;
    d.workloads.push_back(std::move(w));
  }
  if (d.workloads.empty()) return diags.error("no workloads");
  return d;
}

Result<CounterDataset> read_counter_dataset(const std::string& path, Diagnostics& diags) {
  const auto file = InputFile::open(path, diags);
  if (!file) return Failure{};
  return parse_counter_dataset(file->bytes(), diags);
}

bool looks_like_counter_dataset(const std::string& path) {
  constexpr std::size_t kLongestHead = 1 << 20;
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none)) return false;  // what is read of a pipe is gone
  std::ifstream in(path, std::ios::binary);
  std::string head(kLongestHead, '\0');
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(std::max<std::streamsize>(in.gcount(), 0)));
  head.resize(std::min(head.find('\n'), head.size()));
  head = "," + head + ",";
  std::erase(head, '\r');
  std::erase(head, '"');
  const auto has = [&](std::string_view what) { return head.find("," + std::string(what)) != std::string::npos; };
  return has("workload,") && (has(kCounterPrefix) || has(kWorkPrefix) || has(kTimePrefix));
}

std::vector<std::size_t> CounterProblem::measured() const {
  std::vector<std::size_t> rows;
  for (std::size_t r = 0; r < data->workloads.size(); ++r) {
    const auto& seconds = data->workloads[r].seconds;
    const bool all =
        std::all_of(machines.begin(), machines.end(), [&](std::size_t m) { return !std::isnan(seconds[m]); });
    if (all && (!reference || !std::isnan(seconds[*reference]))) rows.push_back(r);
  }
  return rows;
}

double CounterProblem::base(std::size_t row) const {
  const auto& seconds = data->workloads[row].seconds;
  if (reference) return std::log(seconds[*reference]);
  double sum = 0;
  for (const std::size_t m : machines) sum += std::log(seconds[m]);
  return sum / static_cast<double>(machines.size());
}

FeatureMatrix CounterProblem::target(std::span<const std::size_t> rows) const {
  FeatureMatrix y{rows.size(), machines.size(), std::vector<double>(rows.size() * machines.size())};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t m = 0; m < machines.size(); ++m)
      y.at(i, m) = std::log(data->workloads[rows[i]].seconds[machines[m]]) - base(rows[i]);
  }
  return y;
}

Status read_data_sheet(const std::string& path, CounterProblem& p, Diagnostics& diags) {
  const auto file = InputFile::open(path, diags);
  if (!file) return Failure{};
  const auto table = parse_csv(file->bytes(), diags);
  if (!table) return Failure{};
  const auto machine = table->column("machine"), work = table->column("work"), rate = table->column("units_per_s");
  if (!machine || !work || !rate)
    return diags.error(SourceLoc{.line = 1}, {}, "wants the columns machine, work, units_per_s");
  p.data_sheet.assign(p.data->machines.size(), std::vector<double>(p.data->work.size(), kMissing));
  for (const CsvTable::Row& row : table->rows) {
    const auto value = parse_number(row.fields[*rate]);
    if (!value || !(*value > 0) || !std::isfinite(*value)) {
      return diags.error(row.loc, {},
                         fmt::format("units_per_s: '{}' is not a positive number", row.fields[*rate].substr(0, 80)));
    }
    const auto m = p.data->machine(row.fields[*machine]);
    for (std::size_t k = 0; m && k < p.data->work.size(); ++k) {
      if (p.data->work[k].name == row.fields[*work]) p.data_sheet[*m][k] = 1 / *value;
    }
  }
  return ok();
}

Result<CounterProblem> make_problem(const CounterDataset& data, std::span<const std::string> machines,
                                    const std::string& reference, Diagnostics& diags) {
  CounterProblem p{.data = &data};
  const auto find = [&](const std::string& name) {
    const auto m = data.machine(name);
    if (!m)
      (void)diags.error(fmt::format("machine '{}' has no column of times; there are {}", name.substr(0, 80),
                                    fmt::join(data.machines, ", ")));
    return m;
  };
  if (!reference.empty() && !(p.reference = find(reference))) return Failure{};
  for (const std::string& name : machines) {
    const auto m = find(name);
    if (!m) return Failure{};
    if (m == p.reference) return diags.error(fmt::format("machine '{}' is the reference: its time is known", name));
    if (std::find(p.machines.begin(), p.machines.end(), *m) != p.machines.end())
      return diags.error(fmt::format("machine '{}' stands twice", name));
    p.machines.push_back(*m);
  }
  if (machines.empty()) {
    for (std::size_t m = 0; m < data.machines.size(); ++m) {
      if (m != p.reference) p.machines.push_back(m);
    }
  }
  if (p.machines.size() + (p.reference ? 1 : 0) < 2)
    return diags.error("relative performance wants two machines at least, or one and a reference");
  if (p.measured().size() < 2) return diags.error("no two workloads have times on all of the machines");
  return p;
}

}  // namespace perfc
