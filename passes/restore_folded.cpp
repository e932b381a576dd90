#include <fmt/format.h>

#include <algorithm>

#include "ir/layout.h"
#include "ir/tables.h"
#include "passes/passes.h"

namespace perfc::passes {
namespace {

bool has_folded_norm(const Node& n) { return n.attrs.has(kFoldedNorm); }
bool has_written_out_norm(const Node& n) { return n.attrs.has(kWrittenOutNorm) && n.is(op("add")); }

/// An exporter folded it in, or it differs from side to side, which cuDNN's convolutions cannot do: frameworks pad
/// before (torch.nn.functional.pad; TensorFlow's conv_ops_impl.h).
bool has_folded_pad(const Node& n) {
  if (def(n.op).category != Category::Convolution || is_transposed_convolution(n.op)) return false;
  const std::vector<std::int64_t> padding = n.attrs.ints_or_empty("padding");
  const auto half = static_cast<std::ptrdiff_t>(padding.size() / 2);
  if (padding.empty() || padding.size() % 2 != 0) return false;
  const bool pads = std::ranges::any_of(padding, [](std::int64_t p) { return p > 0; });
  return pads &&
         (n.attrs.has(kFoldedPad) || !std::equal(padding.begin(), padding.begin() + half, padding.begin() + half));
}

class Restorer {
 public:
  Restorer(const Graph& graph, Diagnostics& diags) : graph_(graph), rewriter_(graph, diags) {}

  Result<Graph> run() {
    for (NodeId id = 0; id < graph_.size(); ++id) {
      if (!restore(id)) return Failure{};
    }
    return rewriter_.finish();
  }

 private:
  Status restore(NodeId id) {
    const Node& n = graph_.node(id);
    const bool call = n.kind == NodeKind::Call;
    if (call && has_written_out_norm(n) && channels_of(n) && graph_.node(n.operands[0]).is(op("multiply"))) {
      const auto norm = norm_behind(n, rewriter_[graph_.node(n.operands[0]).operands[0]]);
      if (!norm) return Failure{};
      rewriter_.map({id, 0}, *norm);
      return ok();
    }
    const auto padded = call && has_folded_pad(n) ? padded_axes(n) : std::nullopt;
    const bool norm = call && has_folded_norm(n) && channels_of(n);
    if (!padded && !norm) return rewriter_.copy(id);
    CallSpec product{.op = n.op,
                     .operands = rewriter_.operands(id),
                     .attrs = n.attrs,
                     .declared = {n.results[0].type},
                     .name = n.name,
                     .loc = n.loc};
    product.attrs.erase(kFoldedNorm);
    product.attrs.erase(kFoldedPad);
    if (padded && !pad_before(n, *padded, product)) return Failure{};
    if (norm && n.attrs.string_or(kFoldedNorm, "") == kNormAlone && product.operands.size() > 2)
      product.operands.resize(2);
    auto value = rewriter_.builder().value(std::move(product));
    if (value && norm) value = norm_behind(n, *value);
    if (!value) return Failure{};
    rewriter_.map({id, 0}, *value);
    return ok();
  }

  /// Of the data, where its padding has an entry for either end of each.
  std::optional<TensorAxes> padded_axes(const Node& n) const {
    const Type& data = graph_.type(n.operands[0]);
    const auto axes = data.ranked() && data.rank() > 2 ? data_axes(n.attrs, data.rank()) : std::nullopt;
    return axes && axes->spatial.size() * 2 == n.attrs.ints_or_empty("padding").size() ? axes : std::nullopt;
  }

  Status pad_before(const Node& n, const TensorAxes& axes, CallSpec& product) {
    GraphBuilder& b = rewriter_.builder();
    const Type& data = graph_.type(n.operands[0]);
    const std::vector<std::int64_t> padding = n.attrs.ints_or_empty("padding");
    std::vector<std::int64_t> pads(2 * data.rank(), 0);  // in front of each dim, then behind each
    for (std::size_t i = 0; i < axes.spatial.size(); ++i) {
      pads[axes.spatial[i]] = padding[i];
      pads[data.rank() + axes.spatial[i]] = padding[axes.spatial.size() + i];
    }
    const ValueId amounts = b.constant(int64_vector(pads)), zero = b.constant(float_scalar(0, data.dtype()));
    const auto padded =
        b.value({.op = op("nn.pad"), .operands = {product.operands[0], amounts, zero}, .name = n.name, .loc = n.loc});
    if (!padded) return Failure{};
    product.operands[0] = *padded;
    product.attrs.set("padding", std::vector<std::int64_t>(padding.size(), 0));
    return ok();
  }

  /// Of the channels of its result.
  static std::size_t axis_of(const Node& n) {
    const std::size_t rank = n.results[0].type.rank();
    return n.is(op("nn.dense")) ? rank - 1 : channel_axis(n.attrs, rank);
  }

  static bool channels_of(const Node& n) {
    const Type& result = n.results[0].type;
    return result.ranked() && result.rank() >= 2 && result.shape()[axis_of(n)].known();
  }

  /// Its parameters' names are those of PyTorch behind the node's; what they were is not known.
  Result<ValueId> norm_behind(const Node& n, ValueId product) {
    GraphBuilder& b = rewriter_.builder();
    const Type channels = Type::tensor(graph_.type(n.operands[1]).dtype(), {n.results[0].type.shape()[axis_of(n)]});
    const auto named = [&](std::string_view role) {
      return n.name.empty() ? std::string() : fmt::format("{}.{}", n.name, role);
    };
    const auto learned = [&](std::string_view role) { return b.constant({channels, nullptr}, named(role), n.loc); };
    const auto counted = [&](std::string_view role) { return add_table(b, {channels, nullptr}, named(role), n.loc); };
    return b.value(
        {.op = op("nn.batch_norm"),
         .operands = {product, learned("weight"), learned("bias"), counted("running_mean"), counted("running_var")},
         .attrs = {{"axis", static_cast<std::int64_t>(axis_of(n))}},
         .declared = {n.results[0].type},
         .name = n.name,
         .loc = n.loc});
  }

  const Graph& graph_;
  Rewriter rewriter_;
};

}  // namespace

Result<Graph> restore_folded(Graph graph, const PassOptions& options, Diagnostics& diags) {
  if (options.contents == Contents::Kept) return graph;  // a norm's parameters are not known any more
  const auto restores = [](const Graph& g, NodeId id) {
    return has_folded_norm(g.node(id)) || has_written_out_norm(g.node(id)) || has_folded_pad(g.node(id));
  };
  if (!any_call(graph, restores)) return graph;
  return for_each_region(std::move(graph), diags, [&](const Graph& g) { return Restorer(g, diags).run(); });
}

}  // namespace perfc::passes
