/// com.microsoft's operators that stand for several of ours, as ONNX Runtime's optimiser writes them
/// (docs/ContribOperators.md of microsoft/onnxruntime).
#include <fmt/format.h>

#include <algorithm>

#include "frontends/onnx/contrib.h"

namespace perfc::onnx {
namespace {

using Values = Result<std::vector<ValueId>>;

/// `name`: an operator of ai.onnx with one operand, "Relu".
Values activated(NodeContext& c, Result<ValueId> x, std::string_view name, Attrs attrs = {}) {
  if (!x) return Failure{};
  const auto activation = find_onnx_op(std::string(name));
  if (!activation) return c.error(fmt::format("unknown activation '{}'", name));
  return c.finish(*activation, {*x}, std::move(attrs));
}

Attrs without(Attrs attrs, std::string_view prefix) {
  std::vector<std::string> gone;
  for (const auto& [name, value] : attrs)
    if (name.starts_with(prefix)) gone.push_back(name);
  for (const std::string& name : gone) attrs.erase(name);
  return attrs;
}

/// What a fused activation takes beside its operand: `activation_alpha`, `activation_beta`, `activation_gamma`.
Attrs of_activation(const Attrs& attrs) {
  Attrs out;
  for (const char* name : {"alpha", "beta", "gamma"}) {
    const std::string given = fmt::format("activation_{}", name);
    if (attrs.has(given)) out.set(name, attrs.float_or(given, 0));
  }
  return out;
}

Values fused_gemm(Importer&, NodeContext& c) {
  const auto product = c.emit(op("nn.dense"), c.inputs, without(c.attrs, "activation"));
  return activated(c, product, c.attrs.string_or("activation", "Relu"), of_activation(c.attrs));
}

Values fused_matmul_activation(Importer&, NodeContext& c) {
  const auto product = c.emit(op("nn.batch_matmul"), c.inputs, without(c.attrs, "activation"));
  return activated(c, product, c.attrs.string_or("activation", "Relu"), of_activation(c.attrs));
}

/// (data, bias), `axis`: from it on all dims are one, as in Softmax-1.
Values bias_softmax(Importer& importer, NodeContext& c) {
  if (c.inputs.size() != 2) return c.error(fmt::format("takes 2 operands, got {}", c.inputs.size()));
  const auto sum = c.emit(op("add"), {c.inputs[0], c.inputs[1]});
  if (!sum) return Failure{};
  c.inputs = {*sum};
  c.attrs.erase("is_inner_broadcast");
  return as_standard(importer, c, "Softmax", 1);
}

/// (data, bias, residual?, ratio?, training_mode?) → the sum, and the mask of a dropout that inference leaves out.
Values bias_dropout(Importer&, NodeContext& c) {
  if (c.inputs.size() < 2) return c.error(fmt::format("takes 2 to 5 operands, got {}", c.inputs.size()));
  auto sum = c.emit(op("add"), {c.inputs[0], c.inputs[1]});
  if (c.has(2)) sum = c.emit(op("add"), {sum, c.inputs[2]});
  std::vector<ValueId> operands(1);
  if (!sum) return Failure{};
  operands[0] = *sum;
  for (std::size_t i = 3; i < std::min<std::size_t>(c.inputs.size(), 5); ++i) operands.push_back(c.inputs[i]);
  return c.finish(op("nn.dropout"), std::move(operands), {});
}

/// (x, axis: a number). Caffe2's has the attribute `dims`: where the result has extents of 1.
Values expand_dims(Importer&, NodeContext& c) {
  if (!c.has(0)) return c.error("takes 1 to 2 operands, has no first");
  if (const auto dims = c.attrs.ints_or_empty("dims"); !dims.empty())
    return c.finish(op("expand_dims"), {c.inputs[0], c.int_constant({dims.begin(), dims.end()})}, {});
  const Data* axis = c.has(1) ? c.data(c.inputs[1]) : nullptr;
  if (!axis || !axis->ints() || axis->size() != 1 || !axis->fully_known())
    return c.error("the axis is not known when importing");
  return c.finish(op("expand_dims"), {c.inputs[0], c.int_constant({axis->ints()->front().value()})}, {});
}

/// (X [tokens, channels], weight, ends of sequences, bias?, initial_state, capture_count?, …): sequences one behind the
/// other, none of which reads another's tokens.
Values varlen_causal_conv(Importer&, NodeContext& c) {
  for (const std::size_t i : {0, 1, 2, 4})
    if (!c.has(i)) return c.error(fmt::format("operand {} is missing", i));
  if (c.has(6) || c.has(7)) return c.error("weights that each token changes (kernel_delta) are not supported");
  const auto rank = c.rank(c.inputs[0]);
  if (!rank) return Failure{};
  if (*rank != 2) return c.error(fmt::format("input must have 2 dims, has {}", *rank));
  return c.finish(op("nn.causal_conv"), {c.inputs[0], c.inputs[1], c.inputs[3], c.inputs[4]}, c.attrs);
}

}  // namespace

std::span<const TranslatorRow> contrib_table() {
  static const std::vector<TranslatorRow> table{
      {"ms:FusedGemm", fused_gemm, "nn.dense nn.relu"},
      {"ms:FusedMatMulActivation", fused_matmul_activation, "nn.batch_matmul nn.relu"},
      {"ms:BiasSoftmax", bias_softmax, "add nn.softmax"},
      {"ms:BiasDropout", bias_dropout, "add nn.dropout"},
      {"ms:ExpandDims", expand_dims, "expand_dims"},
      {"ms:VarlenCausalConvWithState", varlen_causal_conv, "nn.causal_conv"},
      {"ms:MoE", experts, "topk take nn.grouped_matmul nn.glu sum_axes"},
      {"ms:MoEPacked", experts, "topk take nn.grouped_matmul sum_axes"},
      {"ms:QMoE", experts, "topk take nn.grouped_matmul nn.glu sum_axes"},
  };
  return table;
}

Failure runtime_layout(const NodeContext& c) {
  return c.error(
      "an operator of the layout that ONNX Runtime chose for one kind of hardware, whose cost elsewhere it does not "
      "tell; save the optimised model at level extended (graph_optimization_level = ORT_ENABLE_EXTENDED), or give the "
      "model from before");
}

}  // namespace perfc::onnx
