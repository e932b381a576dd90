#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compare/formats/format.h"
#include "compare/formats/words.h"
#include "html/assets.h"
#include "html/page.h"
#include "pipeline/digits.h"

namespace perfc {
namespace {

/// Nodes that a page draws, of both versions of all models; more would be slow to open.
constexpr std::size_t kMostDrawn = 60'000;

std::string figures_table(const OnDevice& on) {
  std::string out =
      "<div class=\"table-wrap\"><table>\n<thead><tr><th scope=\"col\">Figure</th><th scope=\"col\" "
      "class=\"num\">Base</th><th scope=\"col\" class=\"num\">Head</th><th scope=\"col\" class=\"num\">Δ</th><th "
      "scope=\"col\" class=\"num\">90 % "
      "of the Δ</th><th scope=\"col\">Verdict</th></tr></thead>\n<tbody>\n";
  for (const FigureChange& c : on.figures) {
    out += fmt::format(
        "<tr class=\"{}\"><td>{}</td><td class=\"num\">{}</td><td class=\"num\">{}</td><td class=\"num\">{}</td><td "
        "class=\"num\">{}</td><td class=\"verdict\">{}</td></tr>\n",
        name(c.verdict), html_text(def(c.figure).title), html_text(words::base(c)), html_text(words::head(c)),
        words::relative(c), words::interval(c), words::verdict(c));
  }
  return out + "</tbody></table></div>\n";
}

std::string changes_table(const ModelComparison& m, std::size_t device, std::size_t top) {
  const OnDevice& on = m.devices[device];
  if (m.changes.empty()) return "<p class=\"note\">No operator differs.</p>\n";
  std::string out = fmt::format(
      "<p class=\"note\">{} of {} inputs and operators differ, {:.1f} % of the device time.</p>\n<div "
      "class=\"table-wrap\"><table>\n<thead><tr><th scope=\"col\" class=\"num\">Δ device time</th><th "
      "scope=\"col\">Change</th><th scope=\"col\">Operator</th><th scope=\"col\">What</th><th scope=\"col\" "
      "class=\"num\">Δ parameters</th><th scope=\"col\">Where</th></tr></thead>\n<tbody>\n",
      m.operators_changed, m.operators, 100 * on.changed_share);
  for (std::size_t i = 0; i < std::min(top, m.changes.size()); ++i) {
    const Change& c = m.changes[i];
    out += fmt::format(
        "<tr><td class=\"num\">{}</td><td>{}</td><td>{}<code>{}</code></td><td class=\"wide\"><code>{}</code></td><td "
        "class=\"num\">{}</td><td class=\"wide\"><code>{}</code></td></tr>\n",
        words::us(c.head_us[device] - c.base_us[device]), name(c.kind),
        c.count > 1 ? fmt::format("{} × ", c.count) : "", html_text(c.op), html_text(c.what),
        words::signed_count(c.head_params - c.base_params), html_text(words::names(c, 4)));
  }
  out += "</tbody></table></div>\n";
  if (m.changes.size() > top)
    out += fmt::format("<p class=\"note\">… and {} more kinds of changes.</p>\n", m.changes.size() - top);
  return out;
}

std::string model_html(const ModelComparison& m, std::size_t number, std::size_t top) {
  std::string out = fmt::format(
      "<section id=\"model-{0}\" aria-labelledby=\"model-{0}-h\">\n<h2 id=\"model-{0}-h\"><code>{1}"
      "</code></h2>\n",
      number, html_text(m.model));
  if (!m.error.empty()) return out + fmt::format("<p class=\"worse\">{}</p>\n</section>\n", html_text(m.error));
  out += fmt::format("<p class=\"lead\">{}{}</p>\n", html_text(words::heading(m)),
                     m.presence == Presence::OnlyHead   ? ", new"
                     : m.presence == Presence::OnlyBase ? ", removed"
                                                        : "");
  for (std::size_t d = 0; d < m.devices.size(); ++d) {
    const OnDevice& on = m.devices[d];
    out += fmt::format("<h3>{}</h3>\n", html_text(on.device));
    if (on.base_fits && !on.head_fits) out += "<p class=\"fits bad\">No longer fits: out of memory.</p>\n";
    out += figures_table(on);
    if (m.presence == Presence::Both) out += changes_table(m, d, top);
  }
  return out + "</section>\n";
}

std::string findings_html(const DiffReport& r) {
  if (r.findings.empty() && r.notes.empty()) return "";
  std::string out =
      "<section id=\"findings\" aria-labelledby=\"findings-h\">\n<h2 id=\"findings-h\">Findings</h2>\n"
      "<ul class=\"notes\">\n";
  for (const Finding& f : r.findings) {
    const std::string at = html_text(fmt::format("{}, batch {}, {}: {}", f.model, f.batch, f.device, f.what));
    out += f.acknowledged.empty() ? fmt::format("<li class=\"worse\">{}; allowed: {}</li>\n", at, html_text(f.limit))
                                  : fmt::format("<li>{}; meant: {}</li>\n", at, html_text(f.acknowledged));
  }
  for (const std::string& n : r.notes) out += fmt::format("<li>{}</li>\n", html_text(n));
  return out + "</ul>\n</section>\n";
}

/// Models that the page draws, in order, as far as it may.
std::vector<const ModelComparison*> drawn_models(const Comparisons& all) {
  std::vector<const ModelComparison*> out;
  std::size_t nodes = 0;
  for (const ModelComparison& m : all.models) {
    if (!m.drawing) continue;
    nodes += m.drawing->base_us.front().size() + m.drawing->head_us.front().size();
    if (nodes > kMostDrawn) break;
    out.push_back(&m);
  }
  return out;
}

/// Columns by node, a row per device.
nlohmann::ordered_json times_json(const std::vector<std::vector<double>>& us) {
  auto out = nlohmann::ordered_json::array();
  for (const std::vector<double>& of_device : us) {
    out.push_back(nlohmann::ordered_json::array());
    for (const double t : of_device) out.back().push_back(six_digits(t));
  }
  return out;
}

std::string drawing_json(const ModelComparison& m) {
  const Drawing& d = *m.drawing;
  auto devices = nlohmann::ordered_json::array(), nodes = nlohmann::ordered_json::array();
  for (const OnDevice& on : m.devices) devices.push_back(on.device);
  const auto id = [](NodeId n) { return n == ValueId::kNone ? -1 : static_cast<std::int64_t>(n); };
  for (const AlignedNode& n : d.nodes) nodes.push_back({name(n.kind), id(n.base), id(n.head)});
  const nlohmann::ordered_json rest{{"model", m.model},
                                    {"batch", m.batch},
                                    {"devices", devices},
                                    {"nodes", nodes},
                                    {"base_us", times_json(d.base_us)},
                                    {"head_us", times_json(d.head_us)}};
  return fmt::format("{{\"base\":{},\n\"head\":{},\n\"rest\":{}}}", d.base, d.head,
                     rest.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

std::string header(const std::string& title) {
  return fmt::format(
      "<header class=\"top\">\n<div class=\"titles\">\n<p class=\"brand\">perfc diff</p>\n<h1>{}</h1>\n</div>\n<div "
      "class=\"controls\">\n<button type=\"button\" id=\"theme\">Theme: system</button>\n<button type=\"button\" "
      "id=\"print\">Print</button>\n</div>\n</header>\n",
      html_text(title));
}

std::string navigation(const DiffReport& r, bool drawn) {
  std::string out = "<nav class=\"sections\" aria-label=\"Sections\">\n<ul>\n";
  if (!r.findings.empty() || !r.notes.empty()) out += "<li><a href=\"#findings\">Findings</a></li>\n";
  for (std::size_t i = 0; i < r.comparison.models.size(); ++i) {
    const ModelComparison& m = r.comparison.models[i];
    out += fmt::format("<li><a href=\"#model-{}\">{}, batch {}</a></li>\n", i, html_text(m.model), m.batch);
  }
  if (drawn) out += "<li><a href=\"#graph\">Graph</a></li>\n";
  return out + "</ul>\n</nav>\n";
}

}  // namespace

std::string diff_html(const DiffReport& r) {
  const std::string title = fmt::format("{} → {}", r.comparison.base, r.comparison.head);
  const std::vector<const ModelComparison*> drawn = drawn_models(r.comparison);
  std::string models, data;
  for (std::size_t i = 0; i < r.comparison.models.size(); ++i) models += model_html(r.comparison.models[i], i, r.top);
  for (const ModelComparison* m : drawn) data += (data.empty() ? "" : ",\n") + drawing_json(*m);
  const auto wanted =
      std::ranges::count_if(r.comparison.models, [](const ModelComparison& m) { return m.drawing != nullptr; });
  if (const auto left = wanted - static_cast<std::ptrdiff_t>(drawn.size()); left > 0)
    models +=
        fmt::format("<p class=\"note\">{} more graphs are not drawn: compare fewer models to see them.</p>\n", left);
  const Page page{.title = "perfc: " + title,
                  .body = header(title) + navigation(r, !drawn.empty()) + "<main>\n" + findings_html(r) + models +
                          std::string(drawn.empty() ? "" : assets::graph_section()) + "</main>\n",
                  .scripts = {assets::common(), assets::charts(), assets::graph(), assets::diff()},
                  .data = fmt::format("{{\"schema\":\"perfc.diff-page/1\",\n\"models\":[{}]}}", data)};
  return to_string(page);
}

}  // namespace perfc
