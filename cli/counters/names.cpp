#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/counters/counters.h"
#include "counters/derive.h"
#include "counters/names.h"
#include "counters/readers/reader.h"

namespace perfc::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string expression(const Formula& f) {
  return f.denominator.empty() ? std::string(f.numerator) : fmt::format("({}) / ({})", f.numerator, f.denominator);
}

std::string text() {
  std::string out = "formats\n";
  for (const ReaderDef& r : reader_table()) out += fmt::format("  {:<15} {}\n", r.name, r.summary);
  out += "\ncolumns of Table I; the first formula that can be computed stands (-x minus x, ?x where measured)\n";
  for (std::size_t c = 0; c < kCounterCount; ++c) {
    const Column& column = counter_columns()[c];
    out += fmt::format("  {} [{}]: {}\n", column.name, column.unit, column.meaning);
    for (const Formula& f : formulas()) {
      if (static_cast<std::size_t>(f.column) == c) out += fmt::format("      {}\n", expression(f));
    }
  }
  out += "\ncounters: quantity, whose name, name\n";
  for (const CounterName& n : counter_names()) out += fmt::format("  {:<28} {:<10} {}\n", n.quantity, n.family, n.name);
  return out;
}

Json to_json() {
  Json formats = Json::array(), columns = Json::array(), names = Json::array();
  for (const ReaderDef& r : reader_table()) formats.push_back({{"name", r.name}, {"summary", r.summary}});
  for (std::size_t c = 0; c < kCounterCount; ++c) {
    Json list = Json::array();
    for (const Formula& f : formulas()) {
      if (static_cast<std::size_t>(f.column) == c) list.push_back(expression(f));
    }
    const Column& column = counter_columns()[c];
    columns.push_back(
        {{"name", column.name}, {"unit", column.unit}, {"meaning", column.meaning}, {"formulas", std::move(list)}});
  }
  for (const CounterName& n : counter_names())
    names.push_back({{"name", n.name}, {"family", n.family}, {"quantity", n.quantity}});
  return {{"schema", "perfc.counters/1"},
          {"formats", std::move(formats)},
          {"columns", std::move(columns)},
          {"counters", std::move(names)}};
}

int run_counters_names(bool json) {
  auto out = Output::open("");
  out->write(json ? to_json().dump(2) + "\n" : text());
  return out->commit() ? kFine : kBadInput;
}

}  // namespace

Command counters_names_command() {
  auto json = std::make_shared<bool>(false);
  Command c{"names", "List the formats that are read, the columns of Table I and the counters that they follow from",
            [json] { return run_counters_names(*json); }};
  c.option("--json", *json, "As JSON");
  return c;
}

}  // namespace perfc::cli
