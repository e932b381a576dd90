/// Which row of the operator table a call takes: the overload that its arguments fit.
#include <algorithm>
#include <map>

#include "frontends/torch/aten_table.h"
#include "ir/support/text.h"

namespace perfc::torch {
namespace {

Slot parse_slot(std::string_view token) {
  Slot s;
  if (token.front() == '-') return {.name = token.substr(1), .kind = Slot::Kind::Ignored};
  if (token.back() == '?') return {.name = token.substr(0, token.size() - 1), .kind = Slot::Kind::Optional};
  if (token.back() == '#') return {.name = token.substr(0, token.size() - 1), .kind = Slot::Kind::Ints};
  const std::size_t equals = token.find('=');
  if (equals == std::string_view::npos) return {.name = token};
  s = {.name = token.substr(0, equals), .kind = Slot::Kind::Attribute, .attribute = token.substr(equals + 1)};
  if (s.attribute.empty()) s.attribute = s.name;
  return s;
}

using RowsByName = std::multimap<std::string_view, const AtenRow*>;

const RowsByName& by_name() {
  static const RowsByName index = [] {
    RowsByName i;
    for (const AtenRow& row : aten_table()) i.emplace(row.name, &row);
    return i;
  }();
  return index;
}

}  // namespace

const std::vector<Slot>& slots(const AtenRow& row) {
  static const std::map<const AtenRow*, std::vector<Slot>> all = [] {
    std::map<const AtenRow*, std::vector<Slot>> out;
    for (const AtenRow& r : aten_table()) {
      std::vector<Slot>& slots = out[&r];
      std::string_view rest = r.signature;
      while (!rest.empty()) {
        const std::string_view word = next_word(rest);
        if (!word.empty()) slots.push_back(parse_slot(word));
      }
    }
    return out;
  }();
  return all.at(&row);
}

const AtenRow* find_row(std::string_view name, const std::vector<Arg>& written, std::vector<Value>& args) {
  const auto [first, last] = by_name().equal_range(name);
  const bool named = std::any_of(written.begin(), written.end(), [](const Arg& a) { return !a.name.empty(); });
  const AtenRow* best = nullptr;
  std::vector<Value> placed;
  for (auto it = first; it != last; ++it) {
    const auto& all = slots(*it->second);
    if (written.size() > all.size()) continue;
    if (!named) {
      // TorchScript writes every argument: as many as the overload has.
      if (written.size() == all.size()) {
        best = it->second;
        placed = args;
        break;
      }
      if (!best || all.size() < slots(*best).size()) {
        best = it->second;
        placed = args;
        placed.resize(all.size());
      }
      continue;
    }
    std::vector<Value> mine(all.size());
    std::size_t position = 0, matched = 0;
    for (std::size_t i = 0; i < written.size(); ++i) {
      std::size_t at = position++;
      if (!written[i].name.empty()) {
        at = static_cast<std::size_t>(
            std::find_if(all.begin(), all.end(), [&](const Slot& s) { return s.name == written[i].name; }) -
            all.begin());
        // In-place and vector forms call their first argument by another name.
        if (at == all.size() && i == 0 && (written[i].name == "self" || written[i].name == "input")) at = 0;
      }
      if (at >= all.size() || mine[at].given()) break;
      mine[at] = args[i];
      ++matched;
    }
    if (matched != written.size()) continue;
    if (!best || all.size() < slots(*best).size()) {
      best = it->second;
      placed = std::move(mine);
    }
  }
  if (best) args = std::move(placed);
  return best;
}

bool has_row(std::string_view name) { return by_name().count(name) != 0; }

std::string signatures(std::string_view name) {
  std::string out;
  const auto [first, last] = by_name().equal_range(name);
  for (auto it = first; it != last; ++it) out += fmt::format("{}({})", out.empty() ? "" : ", ", it->second->signature);
  return out;
}

}  // namespace perfc::torch
