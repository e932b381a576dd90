#include "compare/threshold.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compare/formats/words.h"
#include "ir/support/csv.h"
#include "ir/support/text.h"

namespace perfc {
namespace {

constexpr std::string_view kOom = "oom";

std::vector<std::string> threshold_keys() {
  std::vector<std::string> out;
  for (const FigureDef& f : figure_table()) out.emplace_back(f.key);
  out.emplace_back(kOom);
  return out;
}

/// One of the list; what is wrong is said.
Result<Threshold> parse_one(std::string_view word, Diagnostics& diags) {
  const std::size_t equals = std::min(word.find('='), word.size());
  const std::string key(word.substr(0, equals));
  const std::vector<std::string> keys = threshold_keys();
  if (std::ranges::find(keys, key) == keys.end()) {
    const std::string near = did_you_mean(key, keys);
    return diags.error(fmt::format("'{}' is none of {}{}", key, fmt::join(keys, ", "),
                                   near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near)));
  }
  Threshold out;
  const auto figure = std::ranges::find(figure_table(), key, &FigureDef::key);
  if (figure != figure_table().end()) out.figure = figure->figure;
  if (equals == word.size()) return out;
  if (!out.figure || *out.figure == Figure::Mig)
    return diags.error(fmt::format("'{}' stands alone, without a step", key));
  const std::string_view given = word.substr(equals + 1);
  const char worse = def(*out.figure).more_is_better ? '-' : '+';
  const auto step = parse_step(given);
  if (!step || (!given.empty() && (given[0] == '+' || given[0] == '-') && given[0] != worse)) {
    return diags.error(fmt::format("'{}': the step towards the worse was expected, as in {}={}5% or {}={}100", word,
                                   key, worse, key, worse));
  }
  out.step = *step;
  return out;
}

/// Whether a change is certain and beyond the step.
bool beyond(const FigureChange& c, const Step& step) {
  if (!c.certainly_worse()) return false;
  const double worse = (def(c.figure).more_is_better ? -1 : 1) * (*c.head - *c.base);
  if (!step.relative) return worse > step.amount;
  return *c.base > 0 ? worse / *c.base > step.amount : worse > 0;
}

bool within(const Finding& f, const Step& step) {
  return std::abs(step.relative ? f.relative : f.absolute) <= step.amount;
}

}  // namespace

std::optional<Step> parse_step(std::string_view text) {
  Step out{.text = std::string(text)};
  if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
  out.relative = text.ends_with('%');
  if (out.relative) text.remove_suffix(1);
  const auto number = parse_number(text);
  if (!number || !std::isfinite(*number) || *number < 0 || text.starts_with('-') || text.starts_with('+')) return {};
  out.amount = out.relative ? *number / 100 : *number;
  return out;
}

Result<std::vector<Threshold>> parse_thresholds(std::string_view list, Diagnostics& diags) {
  std::vector<Threshold> out;
  if (list.ends_with(',')) return diags.error(fmt::format("'{}' ends where a figure was expected", list));
  do {
    auto one = parse_one(next_word(list, ','), diags);
    if (!one) return Failure{};
    out.push_back(std::move(*one));
  } while (!list.empty());
  return out;
}

std::vector<Finding> findings(const Comparisons& comparison, const std::vector<Threshold>& thresholds) {
  std::vector<Finding> out;
  for (const ModelComparison& m : comparison.models) {
    if (m.presence != Presence::Both) continue;
    for (const OnDevice& on : m.devices) {
      for (const Threshold& t : thresholds) {
        Finding f{.model = m.model, .device = on.device, .batch = m.batch, .figure = t.figure, .limit = t.step.text};
        if (!t.figure) {
          if (!on.base_fits || on.head_fits) continue;
          const FigureChange* memory = on.find(Figure::Memory);
          f.what = fmt::format("fits → out of memory, {} → {}", words::base(*memory), words::head(*memory));
          f.absolute = *memory->head - *memory->base;
          f.relative = memory->relative().value_or(0);
          out.push_back(std::move(f));
          continue;
        }
        const FigureChange* c = on.find(*t.figure);
        if (!c || !beyond(*c, t.step)) continue;
        f.what = fmt::format("{} {}", def(c->figure).title, words::step(*c));
        f.absolute = *c->head - *c->base;
        f.relative = c->relative().value_or(0);
        out.push_back(std::move(f));
      }
    }
  }
  return out;
}

std::vector<std::string> acknowledge(std::vector<Finding>& found, const std::vector<Acknowledgement>& meant) {
  std::vector<std::string> unused;
  for (const Acknowledgement& a : meant) {
    bool used = false;
    for (Finding& f : found) {
      const bool it_is = (a.model.empty() || a.model == f.model) && (a.device.empty() || a.device == f.device) &&
                         a.figure == f.key() && (!a.up_to || within(f, *a.up_to));
      if (it_is) f.acknowledged = a.reason;
      used = used || it_is;
    }
    if (!used) unused.push_back(a.place);
  }
  return unused;
}

}  // namespace perfc
