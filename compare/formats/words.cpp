#include "compare/formats/words.h"

#include <fmt/format.h>

#include <cmath>

#include "pipeline/text_style.h"

namespace perfc::words {
namespace {

std::string value(Figure figure, const std::optional<double>& v, const std::string& text) {
  if (!v) return "–";
  switch (figure) {
    case Figure::Latency:
      return in_ms(*v);
    case Figure::Memory:
      return fmt::format("{:.1f} MiB", *v);
    case Figure::Energy:
      return fmt::format("{:.4g} J", *v);
    case Figure::Cost:
      return fmt::format("{:.4g}", *v);
    case Figure::LargestBatch:
      return fmt::format("{:.0f}", *v);
    case Figure::Mig:
      return text;
    case Figure::Macs:
    case Figure::Params:
      return scaled(*v);
  }
  return {};
}

}  // namespace

std::string base(const FigureChange& c) { return value(c.figure, c.base, c.base_text); }
std::string head(const FigureChange& c) { return value(c.figure, c.head, c.head_text); }

std::string percent(double relative) {
  const double p = 100 * relative;
  const int digits = std::abs(p) < 0.95 ? 2 : std::abs(p) < 99.5 ? 1 : 0;
  return fmt::format("{:+.{}f} %", p == 0 ? 0.0 : p, digits);
}

std::string relative(const FigureChange& c) {
  if (c.verdict == Verdict::Equal) return "=";
  const auto r = c.relative();
  return r ? percent(*r) : "";
}

std::string interval(const FigureChange& c) {
  if (c.ratio_lo == c.ratio_hi || !c.base || !c.head) return "";
  return fmt::format("{:+.1f} … {:+.1f} %", 100 * (c.ratio_lo - 1), 100 * (c.ratio_hi - 1));
}

std::string step(const FigureChange& c) {
  std::string out = fmt::format("{} → {}", base(c), head(c));
  if (const std::string r = relative(c); !r.empty()) out += ", " + r;
  if (const std::string i = interval(c); !i.empty()) out += fmt::format(" (90 %: {})", i);
  return out;
}

std::string verdict(const FigureChange& c) {
  if (c.verdict == Verdict::New && !c.head) return "removed";
  if (c.verdict == Verdict::Unclear) return "within the error of the difference";
  return (c.certain ? "" : "probably ") + std::string(name(c.verdict));
}

std::string us(double step_us) {
  return std::abs(step_us) < 999.5 ? fmt::format("{:+.1f} µs", step_us) : fmt::format("{:+.4g} ms", step_us / 1e3);
}

std::string signed_count(double step) { return step == 0 ? "" : (step > 0 ? "+" : "-") + scaled(std::abs(step)); }

std::string heading(const ModelComparison& m) { return fmt::format("batch {}, {}", m.batch, m.setting); }

std::string names(const Change& c, std::size_t most) {
  std::string out;
  for (std::size_t i = 0; i < std::min(most, c.names.size()); ++i) out += (i ? ", " : "") + c.names[i];
  if (c.names.size() > most) out += fmt::format(" and {} more", c.names.size() - most);
  return out;
}

double unchanged_step_us(const OnDevice& on) { return on.unchanged_head_us - on.unchanged_base_us; }

}  // namespace perfc::words
