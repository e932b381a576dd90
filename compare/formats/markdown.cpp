/// For pull requests, job summaries and files.
#include <fmt/format.h>

#include <algorithm>

#include "compare/formats/escape.h"
#include "compare/formats/format.h"
#include "compare/formats/words.h"
#include "html/page.h"

namespace perfc {
namespace {

/// The most characters that GitHub takes for a comment. Bytes are counted, which are no fewer.
constexpr std::size_t kMostOfComment = 65536;
constexpr std::string_view kMarker = "<!-- perfc diff -->\n";
/// Kept for what is said of parts that are left out.
constexpr std::size_t kReserve = 512;

constexpr std::array kOverview{Figure::Latency, Figure::Memory, Figure::Energy, Figure::Cost};

std::string cell(const OnDevice& on, Figure figure) {
  const FigureChange* c = on.find(figure);
  if (!c) return "";
  if (c->verdict == Verdict::New) return c->head ? words::head(*c) : words::base(*c);
  const std::string change = words::relative(*c);
  const std::string shown = fmt::format("{} ({})", words::head(*c), change);
  if (c->certainly_worse()) return fmt::format("**{}**", shown);
  return c->verdict == Verdict::Unclear ? fmt::format("{} ≈", shown) : shown;
}

std::string from_to(const OnDevice& on, Figure figure) {
  const FigureChange* c = on.find(figure);
  if (!c || c->verdict == Verdict::None) return "";
  const std::string before = words::base(*c), after = words::head(*c);
  if (before == after) return after;
  const std::string both = fmt::format("{} → {}", before, after);
  return c->certainly_worse() ? fmt::format("**{}**", both) : both;
}

bool any_has(const Comparisons& c, Figure figure) {
  return std::ranges::any_of(c.models, [&](const ModelComparison& m) {
    return std::ranges::any_of(m.devices, [&](const OnDevice& on) { return on.find(figure) != nullptr; });
  });
}

std::string head_of_overview(const Comparisons& c) {
  std::string head = "| model | batch | device |", rule = "|---|---|---|";
  for (const Figure f : kOverview) {
    if (f == Figure::Cost && !any_has(c, f)) continue;
    head += fmt::format(" {} |", def(f).title);
    rule += "---|";
  }
  head += " largest batch |";
  rule += "---|";
  if (any_has(c, Figure::Mig)) {
    head += " MIG slice |";
    rule += "---|";
  }
  return head + "\n" + rule + "\n";
}

std::string overview_row(const Comparisons& c, const ModelComparison& m, const OnDevice& on) {
  const std::string_view note = m.presence == Presence::OnlyHead   ? " (new)"
                                : m.presence == Presence::OnlyBase ? " (removed)"
                                : on.base_fits && !on.head_fits    ? " (**out of memory**)"
                                                                   : "";
  std::string row = fmt::format("| {}{} | {} | {} |", markdown_code(m.model), note, m.batch, markdown_word(on.device));
  for (const Figure f : kOverview) {
    if (f == Figure::Cost && !any_has(c, f)) continue;
    row += fmt::format(" {} |", cell(on, f));
  }
  row += fmt::format(" {} |", from_to(on, Figure::LargestBatch));
  if (any_has(c, Figure::Mig)) row += fmt::format(" {} |", from_to(on, Figure::Mig));
  return row + "\n";
}

std::string findings_text(const DiffReport& r) {
  std::string out;
  for (const Finding& f : r.findings) {
    const std::string at =
        fmt::format("{}, batch {}, {}: {}", markdown_code(f.model), f.batch, markdown_word(f.device), f.what);
    out += f.acknowledged.empty() ? fmt::format("- **exceeded** {} (allowed: {})\n", at, f.limit)
                                  : fmt::format("- meant: {} – {}\n", at, markdown_code(f.acknowledged));
  }
  for (const ModelComparison& m : r.comparison.models) {
    if (!m.error.empty())
      out += fmt::format("- {} could not be compared: {}\n", markdown_code(m.model), markdown_code(m.error));
  }
  for (const std::string& n : r.notes) out += fmt::format("- note: {}\n", markdown_code(n));
  return out;
}

/// All figures and changes of one model.
std::string details(const ModelComparison& m, std::size_t top) {
  std::string out;
  for (std::size_t d = 0; d < m.devices.size(); ++d) {
    const OnDevice& on = m.devices[d];
    out += fmt::format("\n**{}**, {}\n\n| | base | head | Δ | 90 % of the Δ | |\n|---|---|---|---|---|---|\n",
                       on.device, words::heading(m));
    for (const FigureChange& c : on.figures) {
      out += fmt::format("| {} | {} | {} | {} | {} | {} |\n", def(c.figure).title, words::base(c), words::head(c),
                         words::relative(c), words::interval(c), words::verdict(c));
    }
    if (m.presence != Presence::Both) continue;
    if (m.changes.empty()) {
      out += "\nNo operator differs.\n";
      continue;
    }
    out += fmt::format(
        "\n{} of {} inputs and operators differ, {:.1f} % of the device time.\n\n"
        "| Δ device time | | operator | what | Δ parameters | where |\n|---|---|---|---|---|---|\n",
        m.operators_changed, m.operators, 100 * on.changed_share);
    for (std::size_t i = 0; i < std::min(top, m.changes.size()); ++i) {
      const Change& c = m.changes[i];
      out += fmt::format("| {} | {} | {}{} | {} | {} | {} |\n", words::us(c.head_us[d] - c.base_us[d]), name(c.kind),
                         c.count > 1 ? fmt::format("{} × ", c.count) : "", markdown_code(c.op), markdown_code(c.what),
                         words::signed_count(c.head_params - c.base_params), markdown_code(words::names(c, 2)));
    }
    if (m.changes.size() > top) out += fmt::format("\n… and {} more kinds of changes.\n", m.changes.size() - top);
  }
  return out;
}

std::string heading(const DiffReport& r) {
  const std::size_t failures = r.failures();
  std::string_view verdict = "no threshold is exceeded";
  if (failures > 0) verdict = "thresholds are exceeded";
  return fmt::format("### perfc: predicted cost of {} → {}\n\n{}.\n\n", markdown_code(r.comparison.base),
                     markdown_code(r.comparison.head),
                     failures == 1  ? "One threshold is exceeded"
                     : failures > 1 ? fmt::format("{} {}", failures, verdict)
                                    : fmt::format("N{}", verdict.substr(1)));
}

constexpr std::string_view kLegend =
    "\n**Bold**: worse (99 %). ≈: within the error of the difference. = : the same. Predictions, not measurements.\n";

/// `collapsed`: what is long is folded, models that did not change have no part of their own, and the whole has at most
/// `most` bytes, what is worst first.
std::string document(const DiffReport& r, bool collapsed, std::size_t most) {
  const Comparisons& c = r.comparison;
  std::string out = heading(r);
  std::size_t left_out = 0;
  const auto add = [&](const std::string& part, std::size_t reserve) {
    if (out.size() + part.size() + reserve > most) return false;
    out += part;
    return true;
  };
  const auto line_by_line = [&](const std::string& text, std::size_t reserve) {
    std::size_t dropped = 0;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at) + 1;
      dropped += !add(text.substr(at, end - at), reserve);
      at = end;
    }
    return dropped;
  };
  // Half of the room is for what is said of thresholds, the rest for the overview and details.
  const std::size_t lost = line_by_line(findings_text(r), most / 2);
  if (lost > 0) out += fmt::format("- … and {} more\n", lost);
  std::vector<std::pair<double, std::string>> rows;
  for (const ModelComparison& m : c.models) {
    for (const OnDevice& on : m.devices) {
      const FigureChange* latency = on.find(Figure::Latency);
      rows.emplace_back(latency ? latency->relative().value_or(0) : 0, overview_row(c, m, on));
    }
  }
  if (!rows.empty()) {
    if (collapsed) std::ranges::stable_sort(rows, std::greater<>{}, &std::pair<double, std::string>::first);
    out += "\n" + head_of_overview(c);
    for (const auto& [unused, row] : rows) left_out += !add(row, kReserve + kLegend.size());
    out += kLegend;
  }
  if (left_out > 0) out += fmt::format("\n{} more rows are left out here for their length.\n", left_out);
  left_out = 0;
  for (const ModelComparison& m : c.models) {
    if (m.devices.empty() || (collapsed && m.presence == Presence::Both && m.changes.empty())) continue;
    const std::string title = fmt::format("{}, batch {}", m.model, m.batch);
    const std::string part = collapsed ? fmt::format("\n<details><summary>{}</summary>\n{}\n</details>\n",
                                                     "<code>" + html_text(title) + "</code>", details(m, r.top))
                                       : fmt::format("\n#### {}\n{}", markdown_code(title), details(m, r.top));
    left_out += !add(part, kReserve);
  }
  if (left_out > 0)
    out += fmt::format("\nDetails of {} more models are left out here for their length; --format json has all.\n",
                       left_out);
  return out;
}

}  // namespace

std::string diff_markdown(const DiffReport& r) { return document(r, false, std::string::npos / 2); }

std::string diff_github_comment(const DiffReport& r) {
  return std::string(kMarker) + document(r, true, kMostOfComment - kMarker.size());
}

}  // namespace perfc
