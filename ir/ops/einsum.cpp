#include "ir/ops/einsum.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

namespace perfc::rules {
namespace {

constexpr int kEllipsis = -1;
constexpr int kFirstEllipsisLabel = 256;

/// Labels of one term; kEllipsis stands for "...". Empty optional: malformed.
std::optional<std::vector<int>> term(std::string_view text, std::string& why) {
  std::vector<int> out;
  bool dots = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char ch = text[i];
    if (ch == ' ') continue;
    if (ch == '.') {
      if (text.substr(i, 3) != "..." || dots) {
        why = dots ? "a term has more than one ellipsis" : "'.' outside an ellipsis '...'";
        return std::nullopt;
      }
      dots = true;
      out.push_back(kEllipsis);
      i += 2;
    } else if (std::isalpha(static_cast<unsigned char>(ch))) {
      out.push_back(static_cast<unsigned char>(ch));
    } else {
      why = fmt::format("'{}' is not a label", ch);
      return std::nullopt;
    }
  }
  return out;
}

bool blank(std::string_view text) { return text.find_first_not_of(' ') == std::string_view::npos; }

/// Joins an extent with what is known of its label; dims of 1 broadcast.
bool unite(Dim& known, const Dim& d) {
  if (known.is(1)) {
    known = d;
    return true;
  }
  if (d.is(1)) return true;
  if (known.known() && d.known()) return known == d;
  if (d.known() || (!known.known() && !known.symbolic())) known = d;
  return true;
}

}  // namespace

std::optional<Einsum> parse_einsum(std::string_view equation, const std::vector<const Shape*>& shapes,
                                   std::string& why) {
  const auto fail = [&](std::string text) {
    why = fmt::format("equation '{}': {}", equation.substr(0, 200), text);
    return std::nullopt;
  };
  if (blank(equation)) return fail("is missing");
  const std::size_t arrow = equation.find("->");
  const bool is_explicit = arrow != std::string_view::npos;
  const std::string_view left = equation.substr(0, arrow);
  const std::string_view right = is_explicit ? equation.substr(arrow + 2) : std::string_view{};
  if (right.find("->") != std::string_view::npos) return fail("has more than one '->'");
  if (right.find(',') != std::string_view::npos) return fail("has a comma in the output");

  Einsum out;
  std::string detail;
  std::size_t start = 0;
  for (;;) {
    const std::size_t comma = std::min(left.find(',', start), left.size());
    const auto labels = term(left.substr(start, comma - start), detail);
    if (!labels) return fail(detail);
    out.operands.push_back(*labels);
    if (comma == left.size()) break;
    start = comma + 1;
  }
  if (out.operands.size() != shapes.size()) {
    return fail(fmt::format("has {} terms for {} inputs", out.operands.size(), shapes.size()));
  }

  // The longest ellipsis decides how many dims "..." has; shorter ones align right.
  bool unknown_rank = false;
  bool any_ellipsis = false;
  std::size_t longest = 0;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const auto& labels = out.operands[i];
    const bool dots = std::count(labels.begin(), labels.end(), kEllipsis) > 0;
    any_ellipsis |= dots;
    if (!shapes[i]) {
      unknown_rank |= dots;
      continue;
    }
    const std::size_t named = labels.size() - (dots ? 1 : 0);
    const std::size_t rank = shapes[i]->size();
    if (dots ? rank < named : rank != named) {
      // A term without labels is a scalar only if the input is one.
      return fail(labels.empty() ? fmt::format("term {} is empty, the input has rank {}", i, rank)
                                 : fmt::format("term {} names {} dims, the input has {}", i, named, rank));
    }
    if (dots) longest = std::max(longest, rank - named);
  }
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    std::vector<int> expanded;
    const auto& labels = out.operands[i];
    const std::size_t named =
        labels.size() - static_cast<std::size_t>(std::count(labels.begin(), labels.end(), kEllipsis));
    for (int label : labels) {
      if (label != kEllipsis) {
        expanded.push_back(label);
        continue;
      }
      const std::size_t dims = shapes[i] ? shapes[i]->size() - named : 0;
      for (std::size_t d = longest - dims; d < longest; ++d)
        expanded.push_back(kFirstEllipsisLabel + static_cast<int>(d));
    }
    out.operands[i] = std::move(expanded);
    std::map<int, Dim> own;  // a repeated label in one term is a diagonal: equal extents
    for (std::size_t d = 0; d < out.operands[i].size(); ++d) {
      const int label = out.operands[i][d];
      const Dim dim = shapes[i] ? (*shapes[i])[d] : Dim::unknown();
      const auto [diagonal, first] = own.emplace(label, dim);
      if (!first && diagonal->second.known() && dim.known() && diagonal->second != dim) {
        return fail(fmt::format("label '{}' repeats over dims {} and {}", static_cast<char>(label),
                                diagonal->second.value(), dim.value()));
      }
      const auto [it, fresh] = out.extent.emplace(label, dim);
      if (!fresh && !unite(it->second, dim)) {
        return fail(fmt::format("{} stands for {} and {}",
                                label < 256 ? fmt::format("label '{}'", static_cast<char>(label)) : "the ellipsis",
                                to_string(it->second), to_string(dim)));
      }
    }
  }

  if (is_explicit) {
    const auto labels = term(right, detail);
    if (!labels) return fail(detail);
    std::set<int> seen;
    bool dots = false;
    for (int label : *labels) {
      if (label == kEllipsis) {
        dots = true;
        for (std::size_t d = 0; d < longest; ++d) out.output.push_back(kFirstEllipsisLabel + static_cast<int>(d));
        continue;
      }
      if (!out.extent.count(label))
        return fail(fmt::format("output label '{}' is in no input", static_cast<char>(label)));
      if (!seen.insert(label).second) return fail(fmt::format("output label '{}' repeats", static_cast<char>(label)));
      out.output.push_back(label);
    }
    if (any_ellipsis && !dots && longest > 0) return fail("the output lacks the ellipsis of the inputs");
  } else {
    // Implicit: the ellipsis, then the labels that occur once, in alphabetical order.
    for (std::size_t d = 0; d < longest; ++d) out.output.push_back(kFirstEllipsisLabel + static_cast<int>(d));
    std::map<int, int> count;
    for (const auto& labels : out.operands) {
      for (int label : labels) ++count[label];
    }
    for (const auto& [label, n] : count) {
      if (n == 1 && label < kFirstEllipsisLabel) out.output.push_back(label);
    }
  }
  if (!unknown_rank) {
    Shape shape;
    for (int label : out.output) shape.push_back(out.extent.at(label));
    out.result = std::move(shape);
  }
  return out;
}

double einsum_macs(const Einsum& e) {
  if (e.operands.size() < 2) return 0;
  const auto extent = [&](int label) {
    const auto it = e.extent.find(label);
    return it != e.extent.end() && it->second.known() ? static_cast<double>(it->second.value()) : 1.0;
  };
  std::set<int> current(e.operands[0].begin(), e.operands[0].end());
  double total = 0;
  for (std::size_t i = 1; i < e.operands.size(); ++i) {
    current.insert(e.operands[i].begin(), e.operands[i].end());
    double step = 1;
    for (int label : current) step *= extent(label);
    total += step;
    // What neither the output nor a later operand names is summed away.
    std::set<int> needed(e.output.begin(), e.output.end());
    for (std::size_t j = i + 1; j < e.operands.size(); ++j) needed.insert(e.operands[j].begin(), e.operands[j].end());
    std::set<int> kept;
    std::set_intersection(current.begin(), current.end(), needed.begin(), needed.end(),
                          std::inserter(kept, kept.begin()));
    current = std::move(kept);
  }
  return total;
}

}  // namespace perfc::rules
