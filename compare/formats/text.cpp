/// For a terminal.
#include <fmt/format.h>

#include "compare/formats/format.h"
#include "compare/formats/words.h"
#include "pipeline/text_style.h"

namespace perfc {
namespace {

/// Columns a text takes: code points, for all of perfc's own words are one column each.
std::size_t columns(std::string_view text) {
  std::size_t n = 0;
  for (const char c : text) n += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  return n;
}

std::string left(std::string text, std::size_t width) {
  const std::size_t has = columns(text);
  return has < width ? text.append(width - has, ' ') : text;
}

/// A line without what pads its last column.
std::string ended(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string figure_line(const FigureChange& c, const Style& s) {
  std::string line = fmt::format("    {} {} {}", left(std::string(def(c.figure).title), 20),
                                 left(words::base(c) + " → " + words::head(c), 28), left(words::relative(c), 10));
  if (c.verdict == Verdict::Equal || c.verdict == Verdict::New) return ended(std::move(line));
  const std::string range = words::interval(c);
  const std::string verdict = words::verdict(c);
  line += left(range.empty() ? "" : "90 %: " + range, 26) + " ";
  return line + (c.certainly_worse() ? s.warn(verdict) : s.dim(verdict)) + "\n";
}

std::string change_line(const Change& c, std::size_t device, const Style& s) {
  const std::string parameters = words::signed_count(c.head_params - c.base_params);
  std::string out =
      fmt::format("    {} {} {} {}", left(words::us(c.head_us[device] - c.base_us[device]), 11),
                  left(std::string(name(c.kind)), 8), c.count > 1 ? fmt::format("{} ×", c.count) : "", c.op);
  out += "  " + c.what;
  if (!parameters.empty()) out += fmt::format(", {} parameters", parameters);
  const std::string names = words::names(c, 2);
  return out + (names.empty() ? "" : "  " + s.dim(names)) + "\n";
}

std::string changes_text(const ModelComparison& m, std::size_t device, std::size_t top, const Style& s) {
  const OnDevice& on = m.devices[device];
  if (m.changes.empty()) return "    no operator differs\n";
  std::string out = fmt::format("    {} of {} inputs and operators differ, {:.1f} % of the device time:\n",
                                m.operators_changed, m.operators, 100 * on.changed_share);
  for (std::size_t i = 0; i < std::min(top, m.changes.size()); ++i) out += change_line(m.changes[i], device, s);
  if (m.changes.size() > top) {
    double rest = 0;
    for (std::size_t i = top; i < m.changes.size(); ++i)
      rest += m.changes[i].head_us[device] - m.changes[i].base_us[device];
    out += fmt::format("    {} {} more kinds of changes (--top)\n", left(words::us(rest), 11), m.changes.size() - top);
  }
  if (const double unchanged = words::unchanged_step_us(on); std::abs(unchanged) >= 0.05)
    out += fmt::format("    {} in operators that are the same\n", left(words::us(unchanged), 11));
  return out;
}

std::string model_text(const ModelComparison& m, std::size_t top, const Style& s) {
  std::string out = s.bold(m.model);
  if (!m.error.empty()) return out + fmt::format(": {}\n", s.alarm("could not be compared"));
  out += fmt::format(" · {}", words::heading(m));
  if (m.presence != Presence::Both) out += m.presence == Presence::OnlyHead ? " · new" : " · removed";
  out += "\n";
  for (std::size_t d = 0; d < m.devices.size(); ++d) {
    const OnDevice& on = m.devices[d];
    out += fmt::format("  {}{}\n", on.device, s.dim(" · " + on.predictor));
    for (const FigureChange& c : on.figures) out += figure_line(c, s);
    if (!on.head_fits) out += "    " + s.alarm(on.base_fits ? "no longer fits" : "does not fit") + "\n";
    if (m.presence == Presence::Both) out += changes_text(m, d, top, s);
  }
  return out;
}

}  // namespace

std::string diff_text(const DiffReport& r) {
  const Style s{r.colour};
  std::string out = fmt::format("{} → {}\n", r.comparison.base, r.comparison.head);
  for (const ModelComparison& m : r.comparison.models) out += "\n" + model_text(m, r.top, s);
  if (!r.findings.empty()) out += "\n";
  for (const Finding& f : r.findings) {
    const std::string at = fmt::format("{} batch {} on {}: {}", f.model, f.batch, f.device, f.what);
    out += f.acknowledged.empty() ? fmt::format("{} {}; allowed: {}\n", s.alarm("EXCEEDED"), at, f.limit)
                                  : fmt::format("meant    {}: {}\n", at, f.acknowledged);
  }
  for (const std::string& n : r.notes) out += fmt::format("note: {}\n", n);
  return out;
}

}  // namespace perfc
