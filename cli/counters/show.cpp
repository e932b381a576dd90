#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/counters/counters.h"
#include "counters/derive.h"
#include "counters/names.h"
#include "pipeline/profile.h"

namespace perfc::cli {
namespace {

using Json = nlohmann::ordered_json;

struct CountersShowArguments {
  std::string profile, mapping;
  std::size_t regions = 20;
  bool json = false;
};

/// Depth of every region: parents stand before their children.
std::vector<std::size_t> depths(const Profile& p) {
  std::vector<std::size_t> out(p.regions.size(), 0);
  for (std::size_t r = 1; r < out.size(); ++r) out[r] = out[p.regions[r].parent] + 1;
  return out;
}

/// The counter that most regions have, time before others.
std::size_t main_metric(const Profile& p) {
  std::vector<std::size_t> uses(p.metrics.size(), 0);
  for (const Region& r : p.regions) {
    for (const Sample& s : r.samples) ++uses[s.metric];
  }
  std::size_t best = 0;
  const auto rank = [&](std::size_t m) {
    const CounterName* name = find_counter_name(p.metrics[m].name);
    return std::pair(name && name->quantity.ends_with("seconds") && uses[m] > 1, uses[m]);
  };
  for (std::size_t m = 1; m < uses.size(); ++m) {
    if (rank(m) > rank(best)) best = m;
  }
  return best;
}

/// Names come from the file: no control characters reach a terminal.
std::string shown(std::string text, std::size_t width = std::string::npos) {
  if (text.size() > width) text = text.substr(0, width - 3) + "...";
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  return text;
}

std::string unit_of(const Metric& m) { return m.unit.empty() ? std::string(unit_in_name(m.name)) : m.unit; }

std::string text(const Profile& p, const Derived& d, std::size_t regions) {
  std::string out = fmt::format("{}: {}, {} region{}, {} counters\n", p.path, p.format, p.regions.size() - 1,
                                p.regions.size() == 2 ? "" : "s", p.metrics.size());
  for (const auto& [key, value] : p.about) out += fmt::format("  {}: {}\n", shown(key), shown(value, 160));

  out += "\nread, whole run\n";
  for (std::size_t m = 0; m < p.metrics.size(); ++m) {
    if (const auto total = p.total(m))
      out += fmt::format("  {:<48} {:>16.10g} {}\n", shown(p.metrics[m].name), *total, shown(unit_of(p.metrics[m])));
  }
  for (const Unmeasured& u : p.unmeasured) out += fmt::format("  {:<48} {:>16}\n", shown(u.metric), shown(u.why));

  out += fmt::format("\nderived, {} of {}\n", d.record.known(), kCounterCount);
  for (std::size_t c = 0; c < kCounterCount; ++c) {
    if (const auto v = d.record.values()[c]) {
      const Column& column = counter_columns()[c];
      out += fmt::format("  {:<22} {:>14.6g} {:<4} {}\n", column.name, *v, column.unit, shown(d.how[c]));
    }
  }
  out += "\nmissing\n";
  for (std::size_t c = 0; c < kCounterCount; ++c) {
    if (!d.record.values()[c]) out += fmt::format("  {:<22} {}\n", counter_columns()[c].name, shown(d.how[c]));
  }
  if (p.regions.size() > 1 && regions > 0) {
    const std::size_t main = main_metric(p);
    out += fmt::format("\nregions, by {}\n", shown(p.metrics[main].name));
    const auto depth = depths(p);
    for (std::size_t r = 1; r < p.regions.size() && r <= regions; ++r) {
      const std::string indent(2 * std::min<std::size_t>(depth[r] - 1, 20), ' ');
      const auto value = p.value(r, main);
      out += fmt::format("  {:>14}  {}{}\n", value ? fmt::format("{:.6g}", *value) : "-", indent,
                         shown(p.regions[r].name, 100));
    }
    if (p.regions.size() - 1 > regions)
      out += fmt::format("  ... {} more; --regions N shows N, --json all\n", p.regions.size() - 1 - regions);
  }
  return out;
}

Json to_json(const Profile& p, const Derived& d) {
  Json about = Json::object(), counters = Json::array(), regions = Json::array(), unmeasured = Json::array();
  Json record = Json::object(), measured = Json::object();
  for (const auto& [key, value] : p.about) about[key] = value;
  for (std::size_t m = 0; m < p.metrics.size(); ++m) {
    const auto total = p.total(m);
    counters.push_back(
        {{"name", p.metrics[m].name}, {"unit", unit_of(p.metrics[m])}, {"value", total ? Json(*total) : Json()}});
  }
  for (const Unmeasured& u : p.unmeasured) unmeasured.push_back({{"name", u.metric}, {"why", u.why}});
  for (std::size_t c = 0; c < kCounterCount; ++c) {
    const Column& column = counter_columns()[c];
    const auto v = d.record.values()[c];
    record[column.name] = {{"value", v ? Json(*v) : Json()}, {"unit", column.unit}, {v ? "from" : "missing", d.how[c]}};
  }
  for (const Measured& m : d.measured) {
    measured[m.quantity] = {{"value", m.value}, {"unit", find_quantity(m.quantity)->unit}, {"from", m.counter}};
  }
  for (std::size_t r = 1; r < p.regions.size(); ++r) {
    Json values = Json::object();
    for (const Sample& s : p.regions[r].samples) values[p.metrics[s.metric].name] = s.value;
    regions.push_back({{"name", p.regions[r].name}, {"parent", p.regions[r].parent}, {"values", std::move(values)}});
  }
  return {{"schema", "perfc.profile/1"},
          {"path", p.path},
          {"format", p.format},
          {"about", std::move(about)},
          {"counters", std::move(counters)},
          {"unmeasured", std::move(unmeasured)},
          {"record", std::move(record)},
          {"quantities", std::move(measured)},
          {"regions", std::move(regions)}};
}

int run_counters_show(const CountersShowArguments& o) {
  Diagnostics diags(o.profile);
  const auto profile = load_profile(o.profile, o.mapping, diags);
  print(diags);
  if (!profile) return kBadInput;
  const Derived derived = derive(*profile);
  auto out = Output::open("");
  out->write(o.json ? to_json(*profile, derived).dump(2, ' ', false, Json::error_handler_t::replace) + "\n"
                    : text(*profile, derived, o.regions));
  return out->commit() ? kFine : kBadInput;
}

}  // namespace

Command counters_show_command() {
  auto o = std::make_shared<CountersShowArguments>();
  Command c{"show", "Print what a profile holds and which counters of Table I follow from it",
            [o] { return run_counters_show(*o); }};
  c.option("profile", o->profile, "File or directory that a profiler wrote; - for standard input").required();
  c.option("--mapping", o->mapping, "CSV file that tells what the columns of a plain CSV profile are");
  c.option("--regions", o->regions, "How many regions to list").showing_default();
  c.option("--json", o->json, "As JSON, with the values of every region");
  return c;
}

}  // namespace perfc::cli
