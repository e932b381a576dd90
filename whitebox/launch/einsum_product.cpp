#include "whitebox/launch/einsum_product.h"

#include <algorithm>
#include <string>
#include <utility>

#include "ir/graph.h"

namespace perfc {

std::optional<EinsumProduct> einsum_product(const Graph& g, const Node& n) {
  if (n.operands.size() != 2 || !n.results[0].type.is_static()) return std::nullopt;
  const Type &a = g.type(n.operands[0]), &b = g.type(n.operands[1]);
  if (!a.is_static() || !b.is_static()) return std::nullopt;
  std::string why;
  auto equation = rules::parse_einsum(n.attrs.string_or("equation", ""), {&a.shape(), &b.shape()}, why);
  if (!equation) return std::nullopt;
  EinsumProduct out{.equation = std::move(*equation)};
  const auto has = [&](std::size_t operand, int label) {
    const std::vector<int>& labels = out.equation.operands[operand];
    const auto at = std::find(labels.begin(), labels.end(), label);
    return at != labels.end() &&
           !g.type(n.operands[operand]).shape()[static_cast<std::size_t>(at - labels.begin())].is(1);
  };
  for (const int label : out.equation.output) {
    const bool left = has(0, label), right = has(1, label);
    (left == right ? out.both : left ? out.left : out.right).push_back(label);
    if (left != right) out.swapped = left;
  }
  for (const auto& [label, extent] : out.equation.extent) {
    const bool summed = std::ranges::find(out.equation.output, label) == out.equation.output.end();
    if (summed && !extent.is(1)) out.summed.push_back(label);
  }
  return out;
}

bool is_einsum_without_sum(const Graph& g, const Node& n) {
  if (!n.is(op("einsum"))) return false;
  const auto product = einsum_product(g, n);
  return product && product->summed.empty();
}

}  // namespace perfc
