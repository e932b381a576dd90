/// Any CSV table with a head: columns of numbers are counters, a row is a region.
/// A mapping file (CSV with the head column,counter,unit) tells what columns are.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "counters/names.h"
#include "counters/readers/reader.h"
#include "ir/support/csv.h"

namespace perfc {
namespace {

enum class Role { Counter, Region, Weight, Ignored };

struct MetricColumn {
  Role role = Role::Counter;
  std::string counter;  ///< what it is called from here on
  std::string unit;
};

bool is_missing(std::string_view cell) {
  constexpr std::array kMissingCells{"", "nan", "NaN", "NA", "N/A", "n/a", "null", "None", "-"};
  return std::find(kMissingCells.begin(), kMissingCells.end(), cell) != kMissingCells.end();
}

/// A column of text: the first cell that is not missing is no number.
bool is_text(const CsvTable& table, std::size_t column) {
  for (const CsvTable::Row& row : table.rows) {
    if (!is_missing(row.fields[column])) return !parse_number(row.fields[column]);
  }
  return true;
}

/// The column that names rows: one that is called so, else the first of text.
std::optional<std::size_t> region_column(const CsvTable& table) {
  constexpr std::array kNames{"region", "kernel", "kernel_name", "kernelname", "function", "path", "benchmark", "name"};
  std::vector<std::size_t> texts;
  for (std::size_t c = 0; c < table.head.size(); ++c) {
    if (is_text(table, c)) texts.push_back(c);
  }
  for (const char* name : kNames) {
    for (const std::size_t c : texts) {
      if (canonical_name(table.head[c]) == name) return c;
    }
  }
  if (texts.empty()) return {};
  return texts.front();
}

std::vector<MetricColumn> guessed(const CsvTable& table) {
  const auto region = region_column(table);
  std::vector<MetricColumn> out(table.head.size());
  for (std::size_t c = 0; c < out.size(); ++c) {
    out[c] = {is_text(table, c) ? Role::Ignored : Role::Counter, table.head[c], {}};
    if (region == c) out[c].role = Role::Region;
  }
  return out;
}

std::vector<std::string> counters_by_name() {
  std::vector<std::string> out{"region", "weight", "ignore"};
  for (const CounterName& n : counter_names()) out.emplace_back(n.name);
  return out;
}

std::string suggestion(std::string_view word, const std::vector<std::string>& known) {
  const std::string near = did_you_mean(word, known);
  return near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near);
}

/// Applies the mapping to what was guessed; only columns that it names are replaced.
Status apply_mapping(const ProfileFiles& files, const CsvTable& table, std::vector<MetricColumn>& columns,
                     Diagnostics& diags) {
  diags.in_file(files.mapping_name);
  const auto mapping = parse_csv(files.mapping, diags);
  if (!mapping) return Failure{};
  const auto name = mapping->column("column"), counter = mapping->column("counter"), unit = mapping->column("unit");
  if (!name || !counter) return diags.error("a mapping has the head column,counter,unit (unit may be left out)");
  constexpr std::size_t kMaxErrors = 20;
  const std::size_t before = diags.errors();
  for (const CsvTable::Row& row : mapping->rows) {
    if (diags.errors() - before >= kMaxErrors) break;
    const auto at = table.column(row.fields[*name]);
    const std::string& what = row.fields[*counter];
    if (!at) {
      (void)diags.error(row.loc, row.fields[*name],
                        fmt::format("{} has no such column{}", files.path, suggestion(row.fields[*name], table.head)));
      continue;
    }
    MetricColumn& c = columns[*at];
    if (what == "region") {
      for (MetricColumn& other : columns) {
        if (other.role == Role::Region) other.role = Role::Ignored;
      }
      c.role = Role::Region;
    } else if (what == "weight") {
      c.role = Role::Weight;
    } else if (what == "ignore") {
      c.role = Role::Ignored;
    } else if (find_counter_name(what)) {
      c = {Role::Counter, what, unit ? row.fields[*unit] : std::string()};
    } else {
      (void)diags.error(row.loc, row.fields[*name],
                        fmt::format("'{}' is no counter that perfc knows, nor region, weight or ignore{}", what,
                                    suggestion(what, counters_by_name())));
    }
  }
  if (diags.errors() > before) return Failure{};
  return ok();
}

}  // namespace

bool sniff_csv(const ProfileFiles& files) {
  if (files.files.size() != 1) return false;
  const std::string_view bytes = files.files.front().bytes;
  const std::string_view head = bytes.substr(0, std::min(bytes.find('\n'), bytes.size()));
  if (head.find('\0') != std::string_view::npos || head.starts_with('{') || head.starts_with('<')) return false;
  return head.find(',') != std::string_view::npos || files.files.front().name.ends_with(".csv");
}

Result<Profile> read_csv_profile(const ProfileFiles& files, Diagnostics& diags) {
  const auto table = parse_csv(files.files.front().bytes, diags);
  if (!table) return Failure{};
  std::vector<MetricColumn> columns = guessed(*table);
  if (!files.mapping_name.empty()) {
    if (!apply_mapping(files, *table, columns, diags)) return Failure{};
    diags.in_file(files.files.front().name);
  }
  ProfileBuilder builder(files.path, "csv");
  std::vector<std::size_t> metrics(columns.size(), 0);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (columns[c].role != Role::Counter) continue;
    metrics[c] = builder.metric({.name = columns[c].counter,
                                 .unit = columns[c].unit,
                                 .combine = combine_of(columns[c].counter, columns[c].unit)});
  }
  std::size_t number = 0;
  for (const CsvTable::Row& row : table->rows) {
    const auto named =
        std::find_if(columns.begin(), columns.end(), [](const MetricColumn& c) { return c.role == Role::Region; });
    const std::string name = named == columns.end() ? fmt::format("row {}", ++number)
                                                    : row.fields[static_cast<std::size_t>(named - columns.begin())];
    const std::size_t region = builder.region(name);
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if ((columns[c].role != Role::Counter && columns[c].role != Role::Weight) || is_missing(row.fields[c])) continue;
      const auto v = parse_number(row.fields[c]);
      if (!v) return diags.error(row.loc, table->head[c], fmt::format("'{}' is no number", row.fields[c]));
      columns[c].role == Role::Weight ? builder.weigh(region, *v) : builder.add(region, metrics[c], *v);
    }
  }
  return builder.finish(diags);
}

}  // namespace perfc
