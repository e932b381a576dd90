#include "ir/op_table.h"

#include <array>
#include <unordered_map>

#include "ir/infer_context.h"

namespace perfc {
namespace {

using Index = std::unordered_map<std::string_view, std::uint16_t>;

const Index& by_name() {
  static const Index index = [] {
    Index m;
    for (std::uint16_t i = 0; i < kOpCount; ++i) m.emplace(kOps[i].name, i);
    return m;
  }();
  return index;
}

const Index& by_onnx() {
  static const Index index = [] {
    Index m;
    for (std::uint16_t i = 0; i < kOpCount; ++i) {
      std::string_view rest = kOps[i].onnx;
      while (!rest.empty()) {
        const std::size_t end = std::min(rest.find(' '), rest.size());
        m.emplace(rest.substr(0, end), i);
        rest.remove_prefix(std::min(end + 1, rest.size()));
      }
    }
    return m;
  }();
  return index;
}

Result<OpId> look_up(const Index& index, std::string_view key) {
  const auto it = index.find(key);
  if (it == index.end()) return Failure{};
  return OpId{it->second};
}

}  // namespace

Result<OpId> find_op(std::string_view name) { return look_up(by_name(), name); }
Result<OpId> find_onnx_op(std::string_view spelling) { return look_up(by_onnx(), spelling); }

std::string_view name(Category c) {
  constexpr std::array<std::string_view, 26> kNames{
      "elementwise", "activation", "convolution", "matmul", "attention", "recurrent",
      "normalization", "softmax", "pooling", "reduction", "resize", "data-movement", "gather",
      "scatter", "sort", "shape", "quantize", "random", "signal", "loss", "control", "sequence",
      "text", "classical", "training", "opaque"};
  return kNames[static_cast<std::size_t>(c)];
}

const Type& CostContext::type(std::size_t i) const {
  static const Type none;
  return has(i) ? graph_.type(node_.operands[i]) : none;
}
double CostContext::elements(std::size_t i) const {
  return static_cast<double>(type(i).elements().value_or(0));
}
double CostContext::result_elements(std::size_t i) const {
  return i < node_.results.size() ? static_cast<double>(result(i).elements().value_or(0)) : 0.0;
}
double CostContext::dim(std::size_t i, int d) const {
  const Type& t = type(i);
  if (!t.is_tensor() || !t.ranked()) return 0;
  const int rank = static_cast<int>(t.rank());
  if (d < 0) d += rank;
  if (d < 0 || d >= rank) return 0;
  const Dim& dim = t.shape()[static_cast<std::size_t>(d)];
  return dim.known() ? static_cast<double>(dim.value()) : 0;
}

OpCost op_cost(const Graph& graph, NodeId id) {
  const Node& n = graph.node(id);
  OpCost cost;
  if (n.kind != NodeKind::Call) return cost;
  const CostContext ctx(graph, id);
  for (std::size_t i = 0; i < n.operands.size(); ++i) {
    if (!ctx.has(i)) continue;
    const double bytes = ctx.type(i).bytes();
    cost.bytes_read += bytes;
    if (graph.node(n.operands[i]).kind == NodeKind::Constant) cost.weight_bytes += bytes;
  }
  for (const ResultInfo& r : n.results) cost.bytes_written += r.type.bytes();
  const OpDef& d = def(n.op);
  if (d.cost) {
    d.cost(ctx, cost);
  } else {
    cost.flops = ctx.result_elements(0);
  }
  return cost;
}

}  // namespace perfc
