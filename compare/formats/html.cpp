#include <fmt/format.h>

#include <algorithm>

#include "compare/formats/escape.h"
#include "compare/formats/format.h"
#include "compare/formats/words.h"

namespace perfc {
namespace {

constexpr std::string_view kStyle =
    "body{font:15px/1.5 system-ui,sans-serif;max-width:75rem;margin:2rem auto;padding:0 1rem;color:#1b1f24;"
    "background:#fff}table{border-collapse:collapse;margin:.5rem 0}td,th{border:1px solid #d0d7de;padding:.2rem "
    ".6rem;text-align:left;vertical-align:top}th{background:#f6f8fa}.worse{color:#b3261e;font-weight:600}.better{"
    "color:#1a7f37}.unclear,.equal{color:#59636e}code{font-family:ui-monospace,monospace}@media(prefers-color-scheme:"
    "dark){body{background:#0d1117;color:#e6edf3}th{background:#161b22}td,th{border-color:#30363d}.worse{color:#ff7b72}"
    ".better{color:#3fb950}.unclear,.equal{color:#9198a1}}";

std::string figures_table(const OnDevice& on) {
  std::string out = "<table><tr><th></th><th>base</th><th>head</th><th>Δ</th><th>90 % of the Δ</th><th></th></tr>\n";
  for (const FigureChange& c : on.figures) {
    out += fmt::format("<tr class=\"{}\"><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                       name(c.verdict), html_text(def(c.figure).title), html_text(words::base(c)),
                       html_text(words::head(c)), words::relative(c), words::interval(c), words::verdict(c));
  }
  return out + "</table>\n";
}

std::string changes_table(const ModelComparison& m, std::size_t device, std::size_t top) {
  const OnDevice& on = m.devices[device];
  if (m.changes.empty()) return "<p>No operator differs.</p>\n";
  std::string out = fmt::format(
      "<p>{} of {} inputs and operators differ, {:.1f} % of the device time.</p>\n<table><tr><th>Δ device time</th>"
      "<th></th><th>operator</th><th>what</th><th>Δ parameters</th><th>where</th></tr>\n",
      m.operators_changed, m.operators, 100 * on.changed_share);
  for (std::size_t i = 0; i < std::min(top, m.changes.size()); ++i) {
    const Change& c = m.changes[i];
    out += fmt::format(
        "<tr><td>{}</td><td>{}</td><td>{}<code>{}</code></td><td><code>{}</code></td><td>{}</td><td><code>{}</code></td>"
        "</tr>\n",
        words::us(c.head_us[device] - c.base_us[device]), name(c.kind),
        c.count > 1 ? fmt::format("{} × ", c.count) : "", html_text(c.op), html_text(c.what),
        words::signed_count(c.head_params - c.base_params), html_text(words::names(c, 4)));
  }
  out += "</table>\n";
  if (m.changes.size() > top) out += fmt::format("<p>… and {} more kinds of changes.</p>\n", m.changes.size() - top);
  return out;
}

std::string model_html(const ModelComparison& m, std::size_t top) {
  std::string out = fmt::format("<h2><code>{}</code></h2>\n", html_text(m.model));
  if (!m.error.empty()) return out + fmt::format("<p class=\"worse\">{}</p>\n", html_text(m.error));
  out += fmt::format("<p>{}{}</p>\n", html_text(words::heading(m)),
                     m.presence == Presence::OnlyHead   ? ", new"
                     : m.presence == Presence::OnlyBase ? ", removed"
                                                        : "");
  for (std::size_t d = 0; d < m.devices.size(); ++d) {
    const OnDevice& on = m.devices[d];
    out += fmt::format("<h3>{}</h3>\n{}", html_text(on.device), figures_table(on));
    if (on.base_fits && !on.head_fits) out += "<p class=\"worse\">No longer fits: out of memory.</p>\n";
    if (m.presence == Presence::Both) out += changes_table(m, d, top);
  }
  return out;
}

}  // namespace

std::string diff_html(const DiffReport& r) {
  const std::string title = fmt::format("perfc: {} → {}", html_text(r.comparison.base), html_text(r.comparison.head));
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width\">\n<title>{}</title>\n<style>{}</style></head>\n<body>\n<h1>{}</h1>\n",
      title, kStyle, title);
  if (!r.findings.empty() || !r.notes.empty()) out += "<ul>\n";
  for (const Finding& f : r.findings) {
    const std::string at = html_text(fmt::format("{}, batch {}, {}: {}", f.model, f.batch, f.device, f.what));
    out += f.acknowledged.empty() ? fmt::format("<li class=\"worse\">{}; allowed: {}</li>\n", at, html_text(f.limit))
                                  : fmt::format("<li>{}; meant: {}</li>\n", at, html_text(f.acknowledged));
  }
  for (const std::string& n : r.notes) out += fmt::format("<li>{}</li>\n", html_text(n));
  if (!r.findings.empty() || !r.notes.empty()) out += "</ul>\n";
  for (const ModelComparison& m : r.comparison.models) out += model_html(m, r.top);
  return out + "<p>Predictions, not measurements.</p>\n</body></html>\n";
}

}  // namespace perfc
