/// com.microsoft's mixtures of experts, MoE and QMoE (docs/ContribOperators.md and docs/contrib_ops/cuda/moe_qmoe.md of
/// microsoft/onnxruntime): softmax, the best k experts of each token, rows by expert, two or three products of groups.
#include <fmt/format.h>

#include "frontends/onnx/importer.h"
#include "ir/ops/grouped_rows.h"

namespace perfc::onnx {
namespace {

/// Where a layer's operands stand; 0: it has none.
struct Layer {
  std::size_t weights, scales, bias;
  const char* bits;  ///< attribute for those of this layer alone
};
struct Operands {
  Layer fc1, fc2, fc3;
  std::size_t weights_of_experts;  ///< what mixes results, where it is not what chooses experts
};
constexpr Operands kPlain{{2, 0, 3, ""}, {4, 0, 5, ""}, {6, 0, 7, ""}, 0};
constexpr Operands kQuantised{
    {2, 3, 4, "fc1_expert_weight_bits"}, {5, 6, 7, "fc2_expert_weight_bits"}, {8, 9, 10, "fc3_expert_weight_bits"}, 14};

class Experts {
 public:
  Experts(NodeContext& c, const Operands& at) : c_(c), at_(at) {}

  Result<std::vector<ValueId>> run() {
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}, at_.fc1.weights, at_.fc2.weights})
      if (!c_.has(i)) return c_.error(fmt::format("operand {} is missing", i));
    const auto rank = c_.rank(c_.inputs[0]);
    const auto experts = c_.known_dim(c_.inputs[at_.fc1.weights], 0);
    if (!rank || !experts) return Failure{};
    if (*rank != 2 && *rank != 3) return c_.error(fmt::format("data must have 2 or 3 dims, have {}", *rank));
    const Type whole = c_.type(c_.inputs[0]);
    const auto hidden = c_.known_dim(c_.inputs[0], -1);
    if (!hidden) return Failure{};
    auto tokens = *rank == 3 ? c_.reshape(c_.inputs[0], {-1, *hidden}) : Result(c_.inputs[0]);
    if (!tokens || !route(*experts)) return Failure{};
    auto rows = c_.emit(op("take"), {*tokens, token_}, axis(0));
    auto wide = activated(rows);
    auto parts = product(wide, at_.fc2);
    auto mixed = parts ? c_.emit(op("multiply"), {*parts, share_}) : parts;
    c_.inside = true;  // rows are put back and added by one kernel
    auto back = mixed ? c_.emit(op("take"), {*mixed, place_}, axis(0)) : mixed;
    auto by_token = c_.reshape(back, {-1, k_, *hidden});
    c_.inside = false;
    auto sum = by_token ? c_.emit(op("sum_axes"), {*by_token, c_.int_constant({1})}, {{"keepdims", std::int64_t{0}}})
                        : by_token;
    if (*rank == 3) {
      auto shape = c_.shape_of(c_.inputs[0]);
      sum = sum && shape ? c_.emit(op("reshape"), {*sum, *shape}) : Result<ValueId>(Failure{});
    }
    return sum ? Result(std::vector<ValueId>{*sum}) : Failure{};
  }

 private:
  static Attrs axis(std::int64_t a) { return {{"axis", a}}; }

  /// Which rows go to which expert: one kernel chooses, one sorts; the rest are numbers beside them.
  Status route(std::int64_t experts) {
    k_ = c_.attrs.int_or("k", 1);
    if (k_ < 1 || k_ > experts) return Status(c_.error(fmt::format("k is {}, there are {} experts", k_, experts)));
    c_.inside = true;
    auto odds = c_.emit(op("nn.softmax"), {c_.inputs[1]}, axis(-1));
    c_.inside = false;
    if (!odds) return Failure{};
    auto best = c_.emit_all(op("topk"), {*odds, c_.int_constant({k_})}, axis(-1), 2);
    if (!best) return Failure{};
    c_.inside = true;
    Result<ValueId> mixed = (*best)[0];
    if (const std::size_t i = at_.weights_of_experts; i > 0 && c_.has(i))
      mixed = c_.emit(op("gather"), {c_.inputs[i], (*best)[1]}, axis(-1));
    if (c_.attrs.int_or("normalize_routing_weights", 0) == 1 && mixed) {
      auto all = c_.emit(op("sum_axes"), {*mixed, c_.int_constant({-1})}, {{"keepdims", std::int64_t{1}}});
      mixed = all ? c_.emit(op("divide"), {*mixed, *all}) : all;
    }
    auto chosen = c_.reshape((*best)[1], {-1});
    auto count = c_.shape_of(chosen);
    c_.inside = false;
    if (!mixed || !count) return Failure{};
    auto sorted =
        c_.emit_all(op("topk"), {*chosen, *count}, {{"axis", std::int64_t{0}}, {"largest", std::int64_t{0}}}, 2);
    if (!sorted) return Failure{};
    c_.inside = true;
    auto token = c_.emit(op("floor_divide"), {(*sorted)[1], c_.number(static_cast<double>(k_), DType::Int64)});
    auto place =
        c_.emit_all(op("topk"), {(*sorted)[1], *count}, {{"axis", std::int64_t{0}}, {"largest", std::int64_t{0}}}, 2);
    auto counts = c_.emit(op("histogram"), {(*sorted)[0]}, {{"bins", experts}});
    auto ends = counts ? c_.emit(op("cumsum"), {*counts, c_.number(0, DType::Int64)}) : counts;
    auto flat = c_.reshape(mixed, {-1});
    auto share = flat ? c_.emit(op("take"), {*flat, (*sorted)[1]}, axis(0)) : flat;
    share = c_.expand_dims(share, {1});
    c_.inside = false;
    if (!token || !place || !ends || !share) return Failure{};
    token_ = *token, place_ = (*place)[1], ends_ = *ends, share_ = *share;
    return ok();
  }

  Result<ValueId> product(Result<ValueId> rows, const Layer& layer) {
    if (!rows) return rows;
    std::vector<ValueId> operands{*rows, c_.inputs[layer.weights], ends_};
    if (layer.scales > 0 && c_.has(layer.scales)) operands.push_back(c_.inputs[layer.scales]);
    if (c_.has(layer.bias)) {
      operands.resize(GroupedOperand::kBiases);
      operands.push_back(c_.inputs[layer.bias]);
    }
    Attrs attrs{{"transB", std::int64_t{1}}};
    if (layer.scales > 0 && bits(c_.dtype(c_.inputs[layer.weights])) == 8)
      attrs.set("bits", c_.attrs.int_or(layer.bits, c_.attrs.int_or("expert_weight_bits", 4)));
    return c_.emit(op("nn.grouped_matmul"), std::move(operands), std::move(attrs));
  }

  /// The first layer and its activation, of which some multiply by a second half, or a third layer's result.
  Result<ValueId> activated(Result<ValueId> rows) {
    const std::string name(c_.attrs.string_or("activation_type", "relu"));
    auto y = product(rows, at_.fc1);
    if (!y) return y;
    const bool silu = name == "silu" || name == "swiglu", gelu = name == "gelu" || name == "geglu";
    if (!silu && !gelu && name != "relu" && name != "identity")
      return c_.error(fmt::format("unknown activation_type '{}'", name));
    const bool halves = name.ends_with("glu") && !c_.has(at_.fc3.weights);
    if (halves)
      return c_.emit(op("nn.glu"), {*y},
                     {{"axis", std::int64_t{-1}}, {"activation", std::string(silu ? "silu" : "gelu")}});
    if (name != "identity") y = c_.emit(silu ? op("nn.silu") : gelu ? op("nn.gelu") : op("nn.relu"), {*y});
    if (!c_.has(at_.fc3.weights)) return y;
    auto other = product(rows, at_.fc3);
    return y && other ? c_.emit(op("multiply"), {*y, *other}) : Result<ValueId>(Failure{});
  }

  NodeContext& c_;
  const Operands& at_;
  std::int64_t k_ = 1;
  ValueId token_, place_, ends_, share_;  ///< of each row: its token, where it came from; of groups; of each row
};

}  // namespace

Result<std::vector<ValueId>> experts(Importer&, NodeContext& c) {
  return Experts(c, c.spelling == "ms:QMoE" ? kQuantised : kPlain).run();
}

}  // namespace perfc::onnx
