#include "counters/names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <unordered_map>

#include "ir/support/text.h"

namespace perfc {
namespace {

struct Unit {
  std::string_view name;  ///< lower case, without a plural's "s"
  double factor;
};
constexpr Unit kUnits[] = {
    {"nsec", 1e-9},   {"nsecond", 1e-9}, {"ns", 1e-9},        {"usec", 1e-6}, {"usecond", 1e-6}, {"us", 1e-6},
    {"msec", 1e-3},   {"msecond", 1e-3}, {"ms", 1e-3},        {"%", 1e-2},    {"kbyte", 1e3},    {"kb", 1e3},
    {"mbyte", 1e6},   {"mb", 1e6},       {"gbyte", 1e9},      {"gb", 1e9},    {"tbyte", 1e12},   {"tb", 1e12},
    {"kib", 1024},    {"mib", 1048576},  {"gib", 1073741824}, {"kinst", 1e3}, {"minst", 1e6},    {"ginst", 1e9},
    {"ksector", 1e3}, {"msector", 1e6},  {"gsector", 1e9},
};

bool strip_prefix(std::string_view& s, std::string_view prefix) {
  if (!s.starts_with(prefix)) return false;
  s.remove_prefix(prefix.size());
  return true;
}

bool strip_suffix(std::string_view& s, std::string_view suffix) {
  if (!s.ends_with(suffix)) return false;
  s.remove_suffix(suffix.size());
  return true;
}

/// "cpu_core/cycles/u" → "cycles".
std::string_view without_pmu(std::string_view s) {
  const std::size_t first = s.find('/'), last = s.rfind('/');
  if (first == std::string_view::npos || first == last || s.find(' ') != std::string_view::npos) return s;
  return s.substr(first + 1, last - first - 1);
}

/// "instructions:u" → "instructions".
std::string_view without_modifier(std::string_view s) {
  const std::size_t colon = s.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == s.size()) return s;
  const std::string_view modifier = s.substr(colon + 1);
  if (modifier.size() > 4 || modifier.find_first_not_of("ukhpPGHSDIeb") != std::string_view::npos) return s;
  return s.substr(0, colon);
}

/// A bracket at the end that holds a unit: where it opens; npos for none.
std::size_t unit_bracket(std::string_view s) {
  const std::size_t open = s.rfind(" (");
  if (open == std::string_view::npos || !s.ends_with(')')) return std::string_view::npos;
  const std::string_view inside = s.substr(open + 2, s.size() - open - 3);
  constexpr std::array kBrackets = {"sec", "usec", "nsec", "us", "ns", "B", "J"};
  return std::find(kBrackets.begin(), kBrackets.end(), inside) == kBrackets.end() ? std::string_view::npos : open;
}

std::string_view without_scope(std::string_view s) {
  if (!strip_suffix(s, " (I)")) strip_suffix(s, " (E)");
  strip_suffix(s, ":Sum");
  return s;
}

}  // namespace

const Quantity* find_quantity(std::string_view name) {
  for (const Quantity& q : quantity_table()) {
    if (q.name == name) return &q;
  }
  return nullptr;
}

std::string canonical_name(std::string_view name) {
  name = without_scope(name);
  if (const std::size_t open = unit_bracket(name); open != std::string_view::npos) name = name.substr(0, open);
  while (strip_prefix(name, "sum#") || strip_prefix(name, "inclusive#") || strip_prefix(name, "any#")) {}
  strip_prefix(name, "papi.");
  strip_prefix(name, "perf::");
  name = without_modifier(without_pmu(name));
  std::string out;
  for (const unsigned char c : name) {
    if (std::isalnum(c)) out += static_cast<char>(std::tolower(c));
    else if (!out.empty() && out.back() != '_') out += '_';
  }
  while (out.ends_with('_')) out.pop_back();
  return out;
}

const CounterName* find_counter_name(std::string_view name) {
  static const std::unordered_map<std::string, const CounterName*> index = [] {
    std::unordered_map<std::string, const CounterName*> out;
    for (const CounterName& n : counter_names()) out.try_emplace(canonical_name(n.name), &n);
    return out;
  }();
  const auto found = index.find(canonical_name(name));
  return found == index.end() ? nullptr : found->second;
}

std::string_view unit_in_name(std::string_view name) {
  name = without_scope(name);
  const std::size_t open = unit_bracket(name);
  return open == std::string_view::npos ? std::string_view() : name.substr(open + 2, name.size() - open - 3);
}

Combine combine_of(std::string_view name, std::string_view unit) {
  // Words of canonical names, '_' around them.
  constexpr std::string_view kShares[] = {
      "_per_",         "_rate_",       "_ratio_",      "_percent",    "_pct_",    "_percentage_", "_efficiency_",
      "_utilization_", "_throughput_", "_bandwidth_",  "_occupancy_", "_ipc_",    "_overhead_",   "_frequency_",
      "_limit_",       "_avg_",        "_average_",    "_mean_",      "_median_", "_min_",        "_entropy_",
      "_topdown_",     "_activity_",   "_block_size_", "_sol_",       "_bound_",  "_share_"};
  const std::string words = "_" + canonical_name(name) + "_";
  if (words.find("_max_") != std::string::npos) return Combine::Max;
  const bool share = unit.find_first_of("%/") != std::string_view::npos ||
                     std::any_of(std::begin(kShares), std::end(kShares),
                                 [&](std::string_view w) { return words.find(w) != std::string::npos; });
  return share ? Combine::Mean : Combine::Sum;
}

double base_unit(std::string_view unit) {
  std::string name = lower(unit);
  const std::size_t slash = name.find('/');
  if (slash != std::string::npos) name.resize(slash);
  if (name.size() > 2 && name.ends_with('s')) name.pop_back();
  for (const Unit& u : kUnits) {
    if (u.name == name) return u.factor;
  }
  return 1;
}

}  // namespace perfc
