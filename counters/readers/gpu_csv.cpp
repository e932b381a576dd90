/// NVIDIA's profilers' CSV. Nsight Compute: `ncu --csv` (a row per launch and
/// metric) and `--page raw` (a row per launch, a column per metric). nvprof: `--csv`
/// with --metrics, --events, --print-gpu-trace or the summary, several after one another.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "counters/names.h"
#include "counters/readers/reader.h"
#include "counters/readers/text.h"
#include "ir/support/csv.h"

namespace perfc {
namespace {

using Fields = std::vector<std::string>;

std::optional<std::size_t> column(const Fields& head, std::string_view name) {
  const auto found = std::find(head.begin(), head.end(), name);
  if (found == head.end()) return {};
  return static_cast<std::size_t>(found - head.begin());
}

bool has_all(const Fields& head, std::initializer_list<std::string_view> names) {
  return std::all_of(names.begin(), names.end(), [&](std::string_view n) { return column(head, n).has_value(); });
}

std::string_view field(const Fields& row, const std::optional<std::size_t>& at) {
  return at && *at < row.size() ? std::string_view(row[*at]) : std::string_view();
}

struct Value {
  double number;
  std::string unit;
};

/// "1,234", "98.4%", "4.2GB/s", "Low (3)": a number and the unit behind it.
std::optional<Value> value_of(std::string_view text) {
  std::string plain;
  for (const char c : trimmed(text)) {
    if (c != ',') plain += c;
  }
  double v = 0;
  const auto [end, error] = std::from_chars(plain.data(), plain.data() + plain.size(), v);
  if (plain.empty() || error != std::errc()) return {};
  const std::string rest(trimmed(std::string_view(end, static_cast<std::size_t>(plain.data() + plain.size() - end))));
  return Value{v, rest};
}

/// "(32, 2, 1)" → 64.
std::optional<double> volume(std::string_view text) {
  if (!text.starts_with('(') || !text.ends_with(')')) return {};
  double out = 1;
  for (std::string_view rest = text.substr(1, text.size() - 2); !rest.empty();) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    const auto v = parse_number(trimmed(rest.substr(0, end)));
    if (!v) return {};
    out *= *v;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return out;
}

/// Metrics of "Speed Of Light" and other sections share names such as "Duration".
std::string in_section(std::string_view section, std::string_view metric) {
  const bool plain =
      section.empty() || section == "Command line profiler metrics" || metric.find("__") != std::string_view::npos;
  return plain ? std::string(metric) : fmt::format("{}: {}", section, metric);
}

/// The part of a file behind the programs's own output: from the first line that is a head.
template <class IsHead>
std::optional<Line> head_line(std::string_view bytes, IsHead is_head) {
  for (Lines lines(bytes); !lines.done();) {
    const Line line = lines.next();
    if (!line.text.starts_with('"')) continue;
    Diagnostics ignored;
    const auto rows = parse_csv_rows(line.text, ignored);
    if (rows && rows->size() == 1 && is_head(rows->front().fields)) return line;
  }
  return {};
}

bool is_ncu_head(const Fields& head) {
  return has_all(head, {"ID", "Kernel Name"}) &&
         (has_all(head, {"Metric Name", "Metric Value"}) || has_all(head, {"Process ID"}));
}

class Ncu {
 public:
  Ncu(ProfileBuilder& builder, Fields head) : builder_(builder), head_(std::move(head)) {
    id_ = column(head_, "ID"), kernel_ = column(head_, "Kernel Name"), context_ = column(head_, "Context"),
    stream_ = column(head_, "Stream");
    section_ = column(head_, "Section Name"), name_ = column(head_, "Metric Name"),
    unit_ = column(head_, "Metric Unit");
    value_ = column(head_, "Metric Value"), grid_ = column(head_, "Grid Size");
  }

  void read(const Fields& row) {
    if (field(row, id_).empty()) {
      if (!name_) units_ = row;  // the line below the head of --page raw
      return;
    }
    const std::size_t region = launch(row);
    if (name_)
      return add(region, in_section(field(row, section_), field(row, name_)), field(row, value_), field(row, unit_));
    for (std::size_t c = 0; c < head_.size(); ++c) {
      if (!is_label(c)) add(region, head_[c], field(row, c), field(units_, c));
    }
  }

  void finish() {
    for (const auto& [region, blocks] : grids_) {
      if (!grid_is_metric_)
        builder_.add(region, builder_.metric({.name = "launch__grid_size", .unit = "block"}), blocks);
    }
    if (!streams_.empty())
      builder_.add(0, builder_.metric({.name = "profiled streams"}), static_cast<double>(streams_.size()));
  }

 private:
  bool is_label(std::size_t c) const {
    static const std::set<std::string_view> labels{"ID",          "Process ID",  "Process Name", "Host Name",
                                                   "Kernel Name", "Kernel Time", "Context",      "Stream",
                                                   "Block Size",  "Grid Size",   "Device",       "CC"};
    return labels.contains(head_[c]);
  }

  /// Launches of several processes have the same numbers.
  std::size_t launch(const Fields& row) {
    const std::string key = fmt::format("{}/{}", field(row, column(head_, "Process ID")), field(row, id_));
    const auto [at, fresh] = launches_.try_emplace(key, 0);
    if (!fresh) return at->second;
    at->second = builder_.region(field(row, kernel_));
    streams_.insert(
        fmt::format("{}/{}/{}", field(row, column(head_, "Process ID")), field(row, context_), field(row, stream_)));
    if (const auto blocks = volume(field(row, grid_))) grids_.emplace_back(at->second, *blocks);
    if (launches_.size() == 1) {
      for (const char* key_name : {"Process Name", "Host Name", "CC"})
        builder_.about(key_name, field(row, column(head_, key_name)));
    }
    return at->second;
  }

  void add(std::size_t region, const std::string& name, std::string_view text, std::string_view unit) {
    const auto v = value_of(text);
    if (name.empty() || !v || (!v->unit.empty() && v->unit != "%")) return;  // texts such as "PreferShared"
    grid_is_metric_ |= name == "launch__grid_size" || name == "Launch Statistics: Grid Size";
    builder_.add(region, builder_.metric({.name = name, .unit = std::string(unit), .combine = combine_of(name, unit)}),
                 v->number);
  }

  ProfileBuilder& builder_;
  Fields head_, units_;
  std::optional<std::size_t> id_, kernel_, context_, stream_, section_, name_, unit_, value_, grid_;
  std::map<std::string, std::size_t> launches_;
  std::set<std::string> streams_;
  std::vector<std::pair<std::size_t, double>> grids_;
  bool grid_is_metric_ = false;
};

class Nvprof {
 public:
  explicit Nvprof(ProfileBuilder& builder) : builder_(builder) {}

  /// Whether a row begins a table that is known.
  static bool is_head(const Fields& row) {
    return has_all(row, {"Device", "Kernel", "Invocations"}) || has_all(row, {"Start", "Duration", "Name"}) ||
           has_all(row, {"Time(%)", "Time", "Calls", "Name"}) ||
           has_all(row, {"Device", "Context", "Stream", "Kernel"});
  }

  void read(const Fields& row) {
    if (row.front().starts_with("==")) return;
    if (is_head(row)) {
      head_ = row;
      units_.clear();
      return;
    }
    if (column(head_, "Invocations")) return metric_row(row);
    const bool timed = column(head_, "Name").has_value();
    if (units_.empty() && timed) {  // the line below the head tells units
      units_ = row;
      return;
    }
    if (column(head_, "Calls")) return summary_row(row);
    timed ? trace_row(row) : wide_row(row);
  }

  void finish() {
    if (!streams_.empty())
      builder_.add(0, builder_.metric({.name = "profiled streams"}), static_cast<double>(streams_.size()));
  }

 private:
  std::size_t region(std::string_view name) {
    const auto [at, fresh] = regions_.try_emplace(std::string(name.substr(0, ProfileBuilder::kMaxName)), 0);
    if (fresh) at->second = builder_.region(name);
    return at->second;
  }

  void add(std::size_t region, const std::string& name, double value, std::string_view unit) {
    builder_.add(region, builder_.metric({.name = name, .unit = std::string(unit), .combine = combine_of(name, unit)}),
                 value);
  }

  /// Averages over the launches of a kernel; counts of all of them are what adds up.
  void metric_row(const Fields& row) {
    const bool event = column(head_, "Event Name").has_value();
    const std::string name(field(row, column(head_, event ? "Event Name" : "Metric Name")));
    const auto calls = parse_number(field(row, column(head_, "Invocations")));
    const auto v = value_of(field(row, column(head_, "Avg")));
    if (name.empty() || !calls || !v) return;
    const std::size_t at = region(field(row, column(head_, "Kernel")));
    builder_.weigh(at, *calls);
    add(at, name, combine_of(name, v->unit) == Combine::Sum ? v->number * *calls : v->number, v->unit);
    if (device_.empty()) builder_.about("GPU", device_ = field(row, column(head_, "Device")));
  }

  std::optional<double> cell(const Fields& row, std::string_view name) const {
    return parse_number(field(row, column(head_, name)));
  }
  std::string_view unit(std::string_view name) const { return field(units_, column(head_, name)); }

  void trace_row(const Fields& row) {
    const std::string name(field(row, column(head_, "Name")));
    const auto seconds = cell(row, "Duration");
    if (name.empty() || !seconds) return;
    const std::size_t at = region(name);
    const bool copy = name.starts_with("[CUDA ");
    add(at, copy ? name + " Duration" : "Kernel Duration", *seconds, unit("Duration"));
    if (const auto size = cell(row, "Size"); copy && size) add(at, name + " Size", *size, unit("Size"));
    const auto x = cell(row, "Grid X"), y = cell(row, "Grid Y"), z = cell(row, "Grid Z");
    if (x && y && z) add(at, "Grid Size", *x * *y * *z, "block");
    if (const auto stream = field(row, column(head_, "Stream")); !stream.empty()) {
      streams_.insert(fmt::format("{}/{}", field(row, column(head_, "Context")), stream));
    }
  }

  void summary_row(const Fields& row) {
    const std::string name(field(row, column(head_, "Name")));
    const auto seconds = cell(row, "Time");
    const std::string_view type = field(row, column(head_, "Type"));
    if (name.empty() || !seconds || (!type.empty() && type != "GPU activities")) return;
    const std::size_t at = region(name);
    if (const auto calls = cell(row, "Calls")) builder_.weigh(at, *calls);
    add(at, name.starts_with("[CUDA ") ? name + " Duration" : "Kernel Duration", *seconds, unit("Time"));
  }

  /// A row per launch, a column per metric.
  void wide_row(const Fields& row) {
    const auto kernel = column(head_, "Kernel");
    const std::size_t at = builder_.region(field(row, kernel));
    for (std::size_t c = *kernel + 1; c < head_.size(); ++c) {
      if (head_[c] == "Correlation_ID") continue;
      if (const auto v = value_of(field(row, c))) add(at, head_[c], v->number, v->unit);
    }
    if (const auto x = cell(row, "Grid.X"), y = cell(row, "Grid.Y"), z = cell(row, "Grid.Z"); x && y && z)
      add(at, "Grid Size", *x * *y * *z, "block");
    streams_.insert(fmt::format("{}/{}", field(row, column(head_, "Context")), field(row, column(head_, "Stream"))));
  }

  ProfileBuilder& builder_;
  Fields head_, units_;
  std::map<std::string, std::size_t> regions_;
  std::set<std::string> streams_;
  std::string device_;
};

/// Rows from the head on, without the profiler's own messages.
Result<std::vector<CsvTable::Row>> rows_from(std::string_view bytes, const Line& head, Diagnostics& diags) {
  auto rows = parse_csv_rows(bytes.substr(head.begin), diags, head.number);
  if (!rows) return Failure{};
  std::size_t columns = rows->front().fields.size();
  for (const CsvTable::Row& row : *rows) {
    const bool message = row.fields.front().starts_with("==") || row.fields.size() == 1;
    if (Nvprof::is_head(row.fields)) columns = row.fields.size();
    if (!message && row.fields.size() < columns) {
      return diags.error(
          row.loc, {},
          fmt::format("{} fields, but the head has {}; is the file complete?", row.fields.size(), columns));
    }
  }
  std::erase_if(
      *rows, [](const CsvTable::Row& row) { return row.fields.front().starts_with("==") || row.fields.size() == 1; });
  return rows;
}

}  // namespace

bool sniff_ncu(const ProfileFiles& files) {
  return files.files.size() == 1 && head_line(files.files.front().bytes, is_ncu_head);
}
bool sniff_nvprof(const ProfileFiles& files) {
  return files.files.size() == 1 && head_line(files.files.front().bytes, Nvprof::is_head);
}

Result<Profile> read_ncu(const ProfileFiles& files, Diagnostics& diags) {
  const std::string_view bytes = files.files.front().bytes;
  auto rows = rows_from(bytes, *head_line(bytes, is_ncu_head), diags);
  if (!rows) return Failure{};
  ProfileBuilder builder(files.path, "ncu-csv");
  Ncu ncu(builder, std::move(rows->front().fields));
  for (std::size_t r = 1; r < rows->size(); ++r) ncu.read((*rows)[r].fields);
  ncu.finish();
  return builder.finish(diags);
}

Result<Profile> read_nvprof(const ProfileFiles& files, Diagnostics& diags) {
  const std::string_view bytes = files.files.front().bytes;
  auto rows = rows_from(bytes, *head_line(bytes, Nvprof::is_head), diags);
  if (!rows) return Failure{};
  ProfileBuilder builder(files.path, "nvprof-csv");
  Nvprof nvprof(builder);
  for (const CsvTable::Row& row : *rows) nvprof.read(row.fields);
  nvprof.finish();
  return builder.finish(diags);
}

}  // namespace perfc
