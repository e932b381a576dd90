/// `perf stat`: CSV (-x,) and JSON (-j), plain, per interval (-I), per CPU, core,
/// socket or thread (-A, --per-*). Layout: perf-stat(1), "CSV FORMAT" and "JSON FORMAT".
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "counters/readers/reader.h"
#include "counters/readers/text.h"
#include "ir/support/csv.h"
#include "ir/support/json.h"

namespace perfc {
namespace {

/// One counter of one part of the machine in one interval.
struct Reading {
  SourceLoc loc;
  std::string part;  ///< "S0-D0-C15", "CPU3"; empty: the whole
  bool of_interval = false;
  std::string_view value, unit, event;
  std::optional<double> running_percent;
};

class Collector {
 public:
  Collector(const ProfileFiles& files, std::string_view format, Diagnostics& diags)
      : builder_(files.path, format), diags_(diags) {}

  void add(const Reading& r) {
    const std::string event(r.event);
    if (r.value.starts_with('<')) {
      builder_.unmeasured(event, std::string(r.value));
      return;
    }
    const auto value = parse_number(r.value);
    if (!value) {
      diags_.warning(r.loc, event, fmt::format("'{}' is no number; the line is left out", r.value));
      return;
    }
    const std::size_t region = region_of(r.part);
    if (!r.of_interval && !seen_.insert({region, event}).second) {
      diags_.warning(r.loc, event, "the event was counted before in this file; the first value stands");
      return;
    }
    builder_.add(region, builder_.metric({.name = event, .unit = std::string(r.unit)}), *value);
    if (r.running_percent) least_running_ = std::min(least_running_, *r.running_percent);
  }

  ProfileBuilder& builder() { return builder_; }

  Result<Profile> finish() {
    if (least_running_ < 100)
      builder_.about("least time counted", fmt::format("{:g} % (perf has scaled the values)", least_running_));
    return builder_.finish(diags_);
  }

 private:
  std::size_t region_of(const std::string& part) {
    if (part.empty()) return 0;
    const auto [at, fresh] = regions_.try_emplace(part, 0);
    if (fresh) at->second = builder_.region(part);
    return at->second;
  }

  ProfileBuilder builder_;
  Diagnostics& diags_;
  std::map<std::string, std::size_t> regions_;
  std::set<std::pair<std::size_t, std::string>> seen_;
  double least_running_ = 100;
};

bool is_value(std::string_view field) { return field.starts_with("<not ") || parse_number(field); }

/// Event names of raw events hold commas ("cpu/event=0x3c,umask=0x0/"): makes one field of theirs again.
void join_event(std::vector<std::string>& fields, std::size_t at) {
  if (std::count(fields[at].begin(), fields[at].end(), '/') != 1) return;
  const auto event = fields.begin() + static_cast<std::ptrdiff_t>(at);
  const auto last =
      std::find_if(event + 1, fields.end(), [](const std::string& f) { return f.find('/') != std::string::npos; });
  if (last == fields.end()) return;
  for (auto part = event + 1; part <= last; ++part) *event += "," + *part;
  fields.erase(event + 1, last + 1);
}

/// Where the value stands: after an interval's time, a part's name and the number of CPUs in it.
std::optional<std::size_t> value_column(const std::vector<std::string>& fields) {
  for (std::size_t at = 0; at < 4 && at + 2 < fields.size(); ++at) {
    const std::string& event = fields[at + 2];
    if (!is_value(fields[at]) || event.empty() || is_value(event)) continue;
    if (at + 3 == fields.size()) return at;
    const std::string_view after = fields[at + 3];
    if (after.empty() || is_value(after) || after.ends_with('%') || event.find('/') != std::string::npos) return at;
  }
  return {};
}

/// A line without a value of its own: a metric that perf computed from those above it.
bool is_computed_metric(const std::vector<std::string>& fields) {
  const std::size_t empty = static_cast<std::size_t>(std::count(fields.begin(), fields.end(), std::string()));
  return fields.size() >= 4 && empty + 4 >= fields.size() && empty >= 3;
}

void read_csv_row(CsvTable::Row& row, Collector& out, Diagnostics& diags) {
  for (std::string& f : row.fields) f = std::string(trimmed(f));
  if (row.fields.front().starts_with('#')) {
    constexpr std::string_view kStarted = "# started on ";
    if (row.fields.front().starts_with(kStarted))
      out.builder().about("started", row.fields.front().substr(kStarted.size()));
    return;
  }
  const auto at = value_column(row.fields);
  if (!at) {
    if (!is_computed_metric(row.fields)) diags.warning(row.loc, {}, "not a line of perf stat -x,; it is left out");
    return;
  }
  join_event(row.fields, *at + 2);
  Reading r{.loc = row.loc, .value = row.fields[*at], .unit = row.fields[*at + 1], .event = row.fields[*at + 2]};
  for (std::size_t i = 0; i < *at; ++i) {
    const bool number = parse_number(row.fields[i]).has_value();
    if (!number) r.part = row.fields[i];
    else if (i == 0) r.of_interval = true;
  }
  for (std::size_t i = *at + 3; i + 1 < row.fields.size() && !r.running_percent; ++i) {
    if (!row.fields[i].ends_with('%')) r.running_percent = parse_number(row.fields[i + 1]);
  }
  out.add(r);
}

/// perf writes a comma before the closing brace where a counter has no metric; JSON knows none.
std::string without_last_comma(std::string_view line) {
  std::string out(line);
  if (!out.ends_with('}')) return out;
  const std::size_t before = out.find_last_not_of(" \t", out.size() - 2);
  if (before != std::string::npos && out[before] == ',') out[before] = ' ';
  return out;
}

std::string_view text_of(const json::Element& object, std::string_view key) {
  return json::text(json::member(object, key)).value_or("");
}

std::optional<double> number_of(const json::Element& object, std::string_view key) {
  const auto e = json::member(object, key);
  double v = 0;
  if (!e || e->get(v)) return {};
  return v;
}

Status read_json_line(const Line& line, Collector& out, Diagnostics& diags) {
  const std::string text = without_last_comma(line.text);
  Diagnostics trial;
  const auto document = json::Document::parse(text, trial);
  if (!document) {
    SourceLoc loc = trial.all().front().loc;
    loc.line = line.number;
    return diags.error(loc, {}, trial.all().front().message);
  }
  const json::Element root = document->root();
  const auto event = json::text(json::member(root, "event"));
  const auto value = json::member(root, "counter-value");
  if (!event || !value) return ok();  // a metric that perf computed, or what `--summary` adds
  Reading r{.loc = {.line = line.number, .column = 1}, .unit = text_of(root, "unit"), .event = *event};
  std::string number;
  if (const auto counted = json::text(value)) {
    r.value = trimmed(*counted);
  } else {
    double v = 0;
    if (value->get(v)) return diags.error(r.loc, *event, "\"counter-value\" is neither a number nor a text");
    number = fmt::format("{}", v);
    r.value = number;
  }
  for (const char* key : {"cpu", "core", "cluster", "die", "cache", "socket", "node", "thread", "cgroup"}) {
    if (const auto part = json::text(json::member(root, key)); part && r.part.empty()) r.part = *part;
  }
  r.of_interval = json::member(root, "interval").has_value();
  r.running_percent = number_of(root, "pcnt-running");
  out.add(r);
  return ok();
}

}  // namespace

bool sniff_perf_csv(const ProfileFiles& files) {
  if (files.files.size() != 1) return false;
  for (const Line& line : first_lines(files.files.front().bytes, 8)) {
    if (line.text.starts_with("# started on ")) return true;
    const std::size_t fields = static_cast<std::size_t>(std::count(line.text.begin(), line.text.end(), ',')) + 1;
    if (line.text.empty() || line.text.front() == '#' || fields < 3) continue;
    Diagnostics ignored;
    auto rows = parse_csv_rows(line.text, ignored);
    return rows && rows->size() == 1 && value_column(rows->front().fields).has_value();
  }
  return false;
}

bool sniff_perf_json(const ProfileFiles& files) {
  if (files.files.size() != 1) return false;
  for (const Line& line : first_lines(files.files.front().bytes, 8)) {
    if (line.text.starts_with('{') && line.text.find("\"counter-value\"") != std::string_view::npos) return true;
  }
  return false;
}

Result<Profile> read_perf_csv(const ProfileFiles& files, Diagnostics& diags) {
  auto rows = parse_csv_rows(files.files.front().bytes, diags);
  if (!rows) return Failure{};
  Collector out(files, "perf-stat-csv", diags);
  for (CsvTable::Row& row : *rows) read_csv_row(row, out, diags);
  return out.finish();
}

Result<Profile> read_perf_json(const ProfileFiles& files, Diagnostics& diags) {
  Collector out(files, "perf-stat-json", diags);
  for (Lines lines(files.files.front().bytes); !lines.done();) {
    const Line line = lines.next();
    if (line.text.starts_with('{') && !read_json_line(line, out, diags)) return Failure{};
  }
  return out.finish();
}

}  // namespace perfc
