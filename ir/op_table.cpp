#include "ir/op_table.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <vector>

#include "ir/infer_context.h"
#include "ir/ops/table/rows.h"

namespace perfc {
namespace {

constexpr std::size_t kSlots = 1024;  ///< a power of two, several times the number of rows

constexpr OpId id_of(std::string_view name) { return OpId{operator_hash(name)}; }

/// The rows of all files, and where the hash of a name finds one: open addressing, linear probes.
struct Table {
  struct Slot {
    OpId id;
    const OpDef* row = nullptr;  ///< null: an empty slot
    std::size_t index = 0;       ///< of the row
  };
  std::vector<const OpDef*> rows;
  std::array<Slot, kSlots> slots;

  Table() {
    for (const auto& file : {rules::elementwise_rows(), rules::products_rows(), rules::reductions_rows(),
                             rules::movement_rows(), rules::others_rows()}) {
      for (const OpDef& row : file) {
        const OpId id = id_of(row.name);
        std::size_t at = id.hash % kSlots;
        while (slots[at].row) at = (at + 1) % kSlots;
        slots[at] = {id, &row, rows.size()};
        rows.push_back(&row);
      }
    }
  }

  /// An empty slot where there is none.
  const Slot& find(OpId id) const {
    std::size_t at = id.hash % kSlots;
    while (slots[at].row && slots[at].id != id) at = (at + 1) % kSlots;
    return slots[at];
  }
};

const Table& table() {
  static const Table all;
  return all;
}

using Spellings = std::unordered_map<std::string_view, const OpDef*>;

const Spellings& by_onnx() {
  static const Spellings index = [] {
    Spellings m;
    for (const Spelling& s : spellings(&OpDef::onnx)) m.emplace(s.name, s.row);
    return m;
  }();
  return index;
}

}  // namespace

const OpDef& def(OpId id) {
  const Table& t = table();
  const OpDef* row = t.find(id).row;
  return row ? *row : *t.rows.back();
}

bool is_operator(OpId id) { return table().find(id).row != nullptr; }

std::span<const OpDef* const> op_table() { return table().rows; }

std::vector<Spelling> spellings(std::string_view OpDef::*column) {
  std::vector<Spelling> out;
  for (const OpDef* row : op_table()) {
    std::string_view rest = row->*column;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find_first_of(" ("), rest.size());
      Spelling s{.row = row, .name = rest.substr(0, end)};
      rest.remove_prefix(end);
      if (rest.starts_with('(')) {
        const std::size_t close = std::min(rest.find(')'), rest.size() - 1);
        s.parameters = rest.substr(1, close - 1);
        s.bare = false;
        rest.remove_prefix(close + 1);
      }
      if (!s.name.empty()) out.push_back(s);
      if (rest.starts_with(' ')) rest.remove_prefix(1);
    }
  }
  return out;
}

std::size_t index_of(OpId id) {
  const Table::Slot& slot = table().find(id);
  return slot.row ? slot.index : table().rows.size() - 1;
}

Result<OpId> find_op(std::string_view name) {
  const OpId id = id_of(name);
  const OpDef* row = table().find(id).row;
  return row && row->name == name ? Result<OpId>(id) : Failure{};
}

Result<OpId> find_onnx_op(std::string_view spelling) {
  const auto it = by_onnx().find(spelling);
  if (it == by_onnx().end()) return Failure{};
  return id_of(it->second->name);
}

std::string_view name(Category c) {
  constexpr std::array<std::string_view, 26> kNames{
      "elementwise", "activation", "convolution", "matmul",   "attention",     "recurrent", "normalization",
      "softmax",     "pooling",    "reduction",   "resize",   "data-movement", "gather",    "scatter",
      "sort",        "shape",      "quantize",    "random",   "signal",        "loss",      "control",
      "sequence",    "text",       "classical",   "training", "opaque"};
  return kNames[static_cast<std::size_t>(c)];
}

const Type& CostContext::type(std::size_t i) const {
  static const Type none;
  return has(i) ? graph_.type(node_.operands[i]) : none;
}
double CostContext::elements(std::size_t i) const { return static_cast<double>(type(i).elements().value_or(0)); }
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

void OpCost::leave_unread(const CostContext& c, std::size_t operand, double share) {
  const double bytes = share * c.type(operand).bytes();
  bytes_read -= bytes;
  if (c.constant(operand)) weight_bytes -= bytes;
  unread.push_back({operand, share});
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
  def(n.op).cost(ctx, cost);
  return cost;
}

}  // namespace perfc
