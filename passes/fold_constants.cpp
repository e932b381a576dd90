#include <algorithm>

#include "ir/eager_marks.h"
#include "ir/tables.h"
#include "passes/passes.h"

namespace perfc::passes {
namespace {

/// Scales of axes are computed from constants; longer vectors of floats are results of weights. Those
/// stay: the patterns that they are part of (the scale of a batch-norm in parts) are still to be
/// recognised, and a state that begins as zeros is no weight.
constexpr std::size_t kMostFloats = 8;

bool known(const ResultInfo& r) {
  if (!r.data || !r.type.is_static() || !r.type.is_tensor() || !r.data->fully_known()) return false;
  return !r.data->floats() || r.data->floats()->size() <= kMostFloats;
}

/// Moves elements without changing any: on a weight that nothing else uses, a
/// weight stored that way from the start. Not what launches a copy whenever it is called.
bool is_layout(const Node& n, const PassOptions& options) {
  if (n.kind != NodeKind::Call || options.contents == Contents::Kept) return false;
  if (options.mode == ExecMode::Eager && def(n.op).runs.launch == Launch::Kernel) return false;
  const Moves moves = def(n.op).moves;
  return moves == Moves::Reshapes || moves == Moves::Permutes || moves == Moves::Copies;
}

/// Calls whose value is known but which run all the same: those that the program launches, and what reads their results
/// rather than their dims.
std::vector<bool> launched_calls(const Graph& g, ExecMode mode) {
  std::vector<bool> out(g.size(), false);
  if (mode == ExecMode::Compiled) return out;
  for (NodeId id = 0; id < g.size(); ++id) {
    const Node& n = g.node(id);
    if (n.kind != NodeKind::Call || def(n.op).dims_only) continue;
    out[id] = n.attrs.has(kLaunched) ||
              std::any_of(n.operands.begin(), n.operands.end(), [&](ValueId v) { return v && out[v.node]; });
  }
  return out;
}

/// Weights that an exporter cuts up and joins (the gates of recurrent layers in ONNX's order): runtimes do so once, as
/// they load a model (onnxruntime/core/optimizer/constant_folding.cc), and no program that was exported does it at all.
/// By node: what becomes a weight of that type. Views alone cost nothing and stay; what repeats weights is the model's.
std::vector<bool> joined_weights(const Graph& g, const PassOptions& options) {
  std::vector<bool> out(g.size(), false);
  if (!is_exported(options.written_by) || options.contents == Contents::Kept) return out;
  std::vector<double> sources(g.size(), 0);  ///< elements of the weights that it moves; 0: does something else
  for (NodeId id = 0; id < g.size(); ++id) {
    const Node& n = g.node(id);
    if (n.results.size() != 1 || !n.results[0].type.is_static() || !is_float(n.results[0].type.dtype())) continue;
    const auto elements = static_cast<double>(n.results[0].type.elements().value_or(0));
    if (n.kind == NodeKind::Constant && !n.attrs.has(kTable)) sources[id] = n.results[0].data ? 0 : elements;
    if (n.kind != NodeKind::Call || n.regions.size() > 0) continue;
    const Category category = def(n.op).category;
    if (category != Category::DataMovement && category != Category::Shape) continue;
    bool moves = true, joined = def(n.op).runs.launch == Launch::Kernel;
    double of = 0;
    for (const ValueId v : n.operands) {
      if (!v) continue;
      const bool number = g.node(v).kind == NodeKind::Constant && !is_float(g.type(v).dtype());  // axes, extents
      moves = moves && (number || sources[v.node] > 0);
      joined = joined || out[v.node];
      of += number ? 0 : sources[v.node];
    }
    if (!moves || elements > of) continue;
    sources[id] = of;
    out[id] = joined;
  }
  return out;
}

bool all_results_known(const Node& n) {
  return n.kind == NodeKind::Call && !n.results.empty() && std::all_of(n.results.begin(), n.results.end(), known);
}

}  // namespace

Result<Graph> fold_constants(Graph graph, const PassOptions& options, Diagnostics& diags) {
  const bool exported = is_exported(options.written_by) && options.contents == Contents::Types;
  const bool nothing = !exported && !any_call(graph, [&](const Graph& g, NodeId id) {
    const Node& n = g.node(id);
    return all_results_known(n) || (is_layout(n, options) && g.node(n.operands[0]).kind == NodeKind::Constant);
  });
  if (nothing) return graph;
  return for_each_region(std::move(graph), diags, [&](const Graph& g) -> Result<Graph> {
    const std::vector<std::uint32_t> uses = g.use_counts();
    const std::vector<bool> launched = launched_calls(g, options.mode);
    const std::vector<bool> joined = joined_weights(g, options);
    std::vector<bool> weight(g.size(), false), table(g.size(), false);
    Rewriter rewriter(g, diags);
    for (NodeId id = 0; id < g.size(); ++id) {
      const Node& n = g.node(id);
      weight[id] = n.kind == NodeKind::Constant;
      // What is computed from a table is one; of layouts only the first operand is data.
      const std::size_t data_operands = is_layout(n, options) ? 1 : n.operands.size();
      table[id] = n.attrs.has(kTable);
      for (std::size_t i = 0; i < data_operands && i < n.operands.size(); ++i) {
        if (n.operands[i] && table[n.operands[i].node]) table[id] = true;
      }
      if (n.kind != NodeKind::Call) {
        if (!rewriter.copy(id)) return Failure{};
        continue;
      }
      const bool all_known = !launched[id] && all_results_known(n);
      const bool moved_weight = !all_known && is_layout(n, options) && n.results[0].type.is_static() &&
                                weight[n.operands[0].node] && uses[n.operands[0].node] == 1;
      if (!all_known && !moved_weight && !joined[id]) {
        if (!rewriter.copy(id)) return Failure{};
        continue;
      }
      weight[id] = moved_weight || joined[id] || n.results.size() == 1;
      const std::string& name = moved_weight ? g.node(n.operands[0]).name : n.name;
      for (std::uint32_t r = 0; r < n.results.size(); ++r) {
        const ResultInfo& result = n.results[r];
        Literal literal{result.type, result.data};
        rewriter.map({id, r}, table[id] ? add_table(rewriter.builder(), std::move(literal), name, n.loc)
                                        : rewriter.builder().constant(std::move(literal), name, n.loc));
      }
    }
    return rewriter.finish();
  });
}

}  // namespace perfc::passes
