#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ir/support/markup.h"
#include "learning/evaluation.h"

namespace perfc {
namespace {

constexpr double kSize = 640, kMargin = 60;
constexpr std::array<const char*, 3> kColours{"#9aa0a6", "#e69f00",
                                              "#0072b2"};  // by Part; told apart by the colour-blind too

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const std::string_view reference = character_reference(c);
    if (reference.empty()) out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    else out += reference;
  }
  return out;
}

/// Both axes: logarithms from 10^first to 10^last.
struct Axis {
  int first, last;
  double along(double ms) const { return kMargin + kSize * (std::log10(ms) - first) / (last - first); }
  double x(double ms) const { return along(ms); }
  double y(double ms) const { return 2 * kMargin + kSize - along(ms); }
};

std::string line(const Axis& a, double factor, const char* style) {
  const double low = std::pow(10, a.first), high = std::pow(10, a.last);
  const double from = std::max(low, low / factor), to = std::min(high, high / factor);
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", a.x(from),
                     a.y(from * factor), a.x(to), a.y(to * factor), style);
}

}  // namespace

std::string to_svg(const Dataset& dataset, const Split& split, std::span<const Estimate> estimates) {
  const auto shown = [&](std::size_t i) { return dataset.labels[i].latency_ms > 0 && estimates[i].latency_ms > 0; };
  double least = INFINITY, most = 0;
  for (std::size_t i = 0; i < dataset.labels.size(); ++i) {
    if (!shown(i)) continue;
    const auto [low, high] = std::minmax(dataset.labels[i].latency_ms, estimates[i].latency_ms);
    least = std::min(least, low);
    most = std::max(most, high);
  }
  if (most == 0) least = most = 1;
  Axis a{static_cast<int>(std::floor(std::log10(least))), static_cast<int>(std::ceil(std::log10(most)))};
  if (a.first == a.last) ++a.last;
  const double whole = kSize + 2 * kMargin;
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{0}\" viewBox=\"0 0 {0} {0}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"{0}\" height=\"{0}\" fill=\"white\"/>\n",
      whole);
  for (int decade = a.first; decade <= a.last; ++decade) {
    const double at = std::pow(10, decade);
    out += fmt::format("<path d=\"M{0:.1f} {2:.1f}V{3:.1f}M{2:.1f} {1:.1f}H{3:.1f}\" stroke=\"#ddd\"/>\n", a.x(at),
                       a.y(at), kMargin, kMargin + kSize);
    out += fmt::format(
        "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{:g}</text><text x=\"{:.1f}\" y=\"{:.1f}\" "
        "text-anchor=\"end\">{:g}</text>\n",
        a.x(at), kMargin + kSize + 18, at, kMargin - 8, a.y(at) + 4, at);
  }
  out += line(a, 1, "stroke=\"#333\"") + line(a, 1.2, "stroke=\"#333\" stroke-dasharray=\"4 4\"") +
         line(a, 1 / 1.2, "stroke=\"#333\" stroke-dasharray=\"4 4\"");
  for (std::size_t part = 0; part < kPartNames.size(); ++part) {  // the test part on top
    for (std::size_t i = 0; i < dataset.labels.size(); ++i) {
      const Label& l = dataset.labels[i];
      if (!shown(i) || static_cast<std::size_t>(split.at(l.architecture)) != part) continue;
      out += fmt::format(
          "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\" fill=\"{}\" fill-opacity=\"0.6\"><title>{}, batch {}, {}: "
          "{:.4g} ms, predicted {:.4g} ms</title></circle>\n",
          a.x(l.latency_ms), a.y(estimates[i].latency_ms), kColours[part],
          escaped(std::string_view(l.model).substr(l.model.rfind('/') + 1)),
          l.batch ? fmt::to_string(*l.batch) : "of the file", escaped(l.device), l.latency_ms, estimates[i].latency_ms);
    }
    out += fmt::format("<circle cx=\"{0}\" cy=\"{1}\" r=\"4\" fill=\"{2}\"/><text x=\"{3}\" y=\"{4}\">{5}</text>\n",
                       kMargin + 16, kMargin + 16 + 18 * static_cast<double>(part), kColours[part], kMargin + 26,
                       kMargin + 20 + 18 * static_cast<double>(part), kPartNames[part]);
  }
  out += fmt::format(
      "<text x=\"{0}\" y=\"{1}\" text-anchor=\"middle\">measured, ms (dashed: 20 % off)</text>\n"
      "<text transform=\"translate(16 {0}) rotate(-90)\" text-anchor=\"middle\">predicted, ms</text>\n</svg>\n",
      whole / 2, whole - 14);
  return out;
}

}  // namespace perfc
