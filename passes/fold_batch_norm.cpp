#include <algorithm>

#include "ir/layout.h"
#include "passes/passes.h"

namespace perfc::passes {
namespace {

/// nn.dense and convolutions.
bool is_weighted_product(const Node& n) { return n.kind == NodeKind::Call && def(n.op).splits_bias; }

/// A batch-norm that can go, with what it goes into.
struct Fold {
  NodeId product = ValueId::kNone;  ///< convolution or dense
  NodeId between = ValueId::kNone;  ///< bias_add, or the multiply of a batch-norm that is written out; may be missing
  ValueId shift;                    ///< parameter that becomes the bias
  std::int64_t axis = 1;            ///< of the channels
};

class Folder {
 public:
  Folder(const Graph& graph, Contents contents, Diagnostics& diags)
      : graph_(graph), contents_(contents), uses_(graph.use_counts()), weight_(graph.weight_only()),
        rewriter_(graph, diags) {}

  Result<Graph> run() {
    std::vector<Fold> folds(graph_.size());
    std::vector<bool> gone(graph_.size(), false);
    for (NodeId id = 0; id < graph_.size(); ++id) {
      folds[id] = find(id);
      if (folds[id].product == ValueId::kNone) continue;
      gone[folds[id].product] = true;
      if (folds[id].between != ValueId::kNone) gone[folds[id].between] = true;
    }
    for (NodeId id = 0; id < graph_.size(); ++id) {
      if (gone[id]) continue;
      const Status status = folds[id].product == ValueId::kNone ? rewriter_.copy(id) : fold(id, folds[id]);
      if (!status) return Failure{};
    }
    return rewriter_.finish();
  }

 private:
  bool only_use(ValueId v) const { return v.result == 0 && uses_[v.node] == 1; }

  /// The operand of a binary call that is a weight with one entry per channel; the other one is `data`.
  ValueId channel_parameter(const Node& n, std::size_t axis, ValueId& data) const {
    if (n.operands.size() != 2) return {};
    for (const std::size_t w : {1, 0}) {
      const ValueId v = n.operands[w];
      data = n.operands[1 - w];
      if (!v || !data || !weight_[v.node] || weight_[data.node]) continue;
      const Type &type = graph_.type(v), &of = graph_.type(data);
      if (!type.is_static() || !of.ranked() || type.rank() > of.rank() || type.rank() + axis < of.rank()) continue;
      const auto c = type.shape()[axis + type.rank() - of.rank()];
      if (type.elements() == c.value() && c == of.shape()[axis]) return v;
    }
    return {};
  }

  /// x · scale + shift after a convolution: a batch-norm in inference, as frozen TensorFlow graphs have it.
  Fold find_written_out(NodeId id) const {
    const Node& add = graph_.node(id);
    if (!add.is(op("add")) || !add.results[0].type.ranked() || add.results[0].type.rank() < 2) return {};
    ValueId scaled, data;
    const std::size_t rank = add.results[0].type.rank();
    for (const std::size_t axis : {rank - 1, std::size_t{1}}) {
      const ValueId shift = channel_parameter(add, axis, scaled);
      if (!shift || !graph_.node(scaled).is(op("multiply")) || !only_use(scaled)) continue;
      if (!channel_parameter(graph_.node(scaled), axis, data)) continue;
      const Node& product = graph_.node(data);
      if (!is_weighted_product(product) || !only_use(data) || product.operands.size() != 2 ||
          graph_.node(product.operands[1]).kind != NodeKind::Constant)
        continue;
      if (axis != (product.is(op("nn.dense")) ? rank - 1 : channel_axis(product.attrs, rank))) continue;
      return {.product = data.node, .between = scaled.node, .shift = shift, .axis = static_cast<std::int64_t>(axis)};
    }
    return {};
  }

  Fold find(NodeId id) const {
    const Node& norm = graph_.node(id);
    if (norm.is(op("add"))) return contents_ == Contents::Kept ? Fold{} : find_written_out(id);
    if (!norm.is(op("nn.batch_norm")) || norm.results.size() != 1 || norm.attrs.int_or("training_mode", 0) != 0)
      return {};
    for (std::size_t i = 1; i < norm.operands.size(); ++i) {
      if (!norm.operands[i] || !weight_[norm.operands[i].node]) return {};
    }
    Fold fold;
    ValueId x = norm.operands[0];
    if (graph_.node(x).is(op("nn.bias_add")) && only_use(x) && graph_.node(x).operands.size() == 2 &&
        weight_[graph_.node(x).operands[1].node]) {
      fold.between = x.node;
      x = graph_.node(x).operands[0];
    }
    const Node& product = graph_.node(x);
    const Type& type = graph_.type(x);
    if (!type.ranked() || type.rank() < 2) return {};
    const auto rank = static_cast<std::int64_t>(type.rank());
    const std::int64_t given = norm.attrs.int_or("axis", 1);
    const auto axis = static_cast<std::size_t>(given < 0 ? given + rank : given);
    const bool same_channels =
        axis == (product.is(op("nn.dense")) ? type.rank() - 1 : channel_axis(product.attrs, type.rank()));
    if (!is_weighted_product(product) || !only_use(x) || !same_channels || product.operands.size() < 2) return {};
    if (graph_.node(product.operands[1]).kind != NodeKind::Constant) return {};
    if (product.operands.size() > 2 && product.operands[2] && !weight_[product.operands[2].node]) return {};
    if (contents_ == Contents::Kept && !can_be_scaled(product, norm)) return {};
    fold.product = x.node;
    fold.shift = norm.operands[2];
    fold.axis = static_cast<std::int64_t>(axis);
    return fold;
  }

  /// Are the new weights written out in a few calls? Of convolutions whose parameters have one element type.
  bool can_be_scaled(const Node& product, const Node& norm) const {
    const Type& kernel = graph_.type(product.operands[1]);
    if (product.is(op("nn.dense")) || def(product.op).transposed || !kernel_axes(graph_, product)) return false;
    return std::all_of(norm.operands.begin() + 1, norm.operands.end(),
                       [&](ValueId v) { return v && graph_.type(v).dtype() == kernel.dtype(); });
  }

  /// A call on weights; empty where it failed, which is reported.
  ValueId computed(OpId o, std::vector<ValueId> operands, const Node& for_node) {
    if (std::any_of(operands.begin(), operands.end(), [](ValueId v) { return !v; })) return {};
    auto v = rewriter_.builder().value(
        {.op = o, .operands = std::move(operands), .name = for_node.name, .loc = for_node.loc});
    return v ? *v : ValueId{};
  }

  /// Kernel and bias of a convolution that does what it and the norm did: with s = scale / √(variance + ε), kernel · s
  /// and (bias − mean) · s + shift.
  std::pair<ValueId, ValueId> scaled_parameters(const Node& norm, const Fold& fold) {
    const Node& product = graph_.node(fold.product);
    const auto parameter = [&](std::size_t i) { return rewriter_[norm.operands[i]]; };
    const Type& kernel = graph_.type(product.operands[1]);
    const ValueId epsilon =
        rewriter_.builder().constant(float_scalar(norm.attrs.float_or("epsilon", 1e-5), kernel.dtype()));
    const ValueId deviation = computed(op("sqrt"), {computed(op("add"), {parameter(4), epsilon}, norm)}, norm);
    const ValueId scale = computed(op("divide"), {parameter(1), deviation}, norm);
    std::vector<std::int64_t> along(kernel.rank(), 1);
    along[kernel_axes(graph_, product)->outer] = -1;
    const ValueId factors =
        computed(op("reshape"), {scale, rewriter_.builder().constant(int64_vector(along))}, product);
    ValueId bias = product.operands.size() > 2 ? rewriter_[product.operands[2]] : ValueId{};
    if (fold.between != ValueId::kNone) {
      const ValueId added = rewriter_[graph_.node(fold.between).operands[1]];
      bias = bias ? computed(op("add"), {bias, added}, norm) : added;
    }
    const ValueId centred =
        bias ? computed(op("subtract"), {bias, parameter(3)}, norm) : computed(op("negative"), {parameter(3)}, norm);
    return {computed(op("multiply"), {rewriter_[product.operands[1]], factors}, product),
            computed(op("add"), {computed(op("multiply"), {centred, scale}, norm), parameter(2)}, norm)};
  }

  /// A weight of the same type with contents that were not computed: the place of the weight would say that they are
  /// the file's.
  ValueId recomputed(ValueId weight, const Node& norm) {
    return rewriter_.builder().constant({graph_.type(weight), nullptr}, graph_.node(weight).name, norm.loc);
  }

  /// One entry per channel; written-out shifts may have more dims.
  ValueId bias_of(const Fold& fold, const Node& norm) {
    const Type& type = graph_.type(fold.shift);
    if (type.rank() == 1) return recomputed(fold.shift, norm);
    const Node& n = graph_.node(fold.shift);
    return rewriter_.builder().constant({Type::tensor(type.dtype(), {Dim(*type.elements())}), nullptr}, n.name,
                                        norm.loc);
  }

  Status fold(NodeId id, const Fold& fold) {
    const Node& norm = graph_.node(id);
    const Node& product = graph_.node(fold.product);
    const auto [kernel, bias] = contents_ == Contents::Kept
                                    ? scaled_parameters(norm, fold)
                                    : std::pair{recomputed(product.operands[1], norm), bias_of(fold, norm)};
    if (!kernel || !bias) return Failure{};
    auto scaled = rewriter_.builder().value({.op = product.op,
                                             .operands = {rewriter_[product.operands[0]], kernel},
                                             .attrs = product.attrs,
                                             .declared = {product.results[0].type},
                                             .name = product.name,
                                             .loc = product.loc});
    if (!scaled) return Failure{};
    auto shifted = rewriter_.builder().value({.op = op("nn.bias_add"),
                                              .operands = {*scaled, bias},
                                              .attrs = {{"axis", fold.axis}},
                                              .declared = {norm.results[0].type},
                                              .name = norm.name,
                                              .loc = norm.loc});
    if (!shifted) return Failure{};
    rewriter_.map({id, 0}, *shifted);
    return ok();
  }

  const Graph& graph_;
  const Contents contents_;
  const std::vector<std::uint32_t> uses_;
  const std::vector<bool> weight_;
  Rewriter rewriter_;
};

}  // namespace

Result<Graph> fold_batch_norm(Graph graph, const PassOptions& options, Diagnostics& diags) {
  return for_each_region(std::move(graph), diags,
                         [&](const Graph& g) { return Folder(g, options.contents, diags).run(); });
}

}  // namespace perfc::passes
