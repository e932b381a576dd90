/// com.microsoft's mixtures of experts, MoE, QMoE and MoEPacked (docs/ContribOperators.md and
/// docs/contrib_ops/cuda/moe_qmoe.md of microsoft/onnxruntime): softmax, the best k experts of each token, rows by
/// expert, two or three products of groups.
#include <fmt/format.h>

#include <algorithm>

#include "frontends/onnx/contrib.h"
#include "ir/ops/grouped_rows.h"

namespace perfc::onnx {
namespace {

/// Where a layer's operands stand; 0: it has none.
struct Layer {
  std::size_t weights, scales, bias;
  const char* bits;  ///< attribute for those of this layer alone; of blocks of a format, which it is
};
struct Operands {
  Layer fc1, fc2, fc3;
  std::size_t weights_of_experts;  ///< what mixes results, where it is not what chooses experts
  bool in_blocks = false;          ///< weights are blocks of a format, routing is scores where it has weights
};
constexpr Operands kPlain{{2, 0, 3, ""}, {4, 0, 5, ""}, {6, 0, 7, ""}, 0};
constexpr Operands kQuantised{
    {2, 3, 4, "fc1_expert_weight_bits"}, {5, 6, 7, "fc2_expert_weight_bits"}, {8, 9, 10, "fc3_expert_weight_bits"}, 14};
constexpr Operands kPacked{{2, 0, 0, "gate_type"}, {4, 0, 0, "down_type"}, {3, 0, 0, "up_type"}, 5, /*in_blocks=*/true};

/// A format of packed weights by its number, which is ggml's (ggml/include/ggml.h, ggml-common.h): how many weights a
/// block holds and in how many bytes.
struct BlockFormat {
  std::int64_t number, weights, bytes;
};
constexpr BlockFormat kFormats[] = {
    {2, 32, 18},    {3, 32, 20},    {6, 32, 22},    {7, 32, 24},    {8, 32, 34},   {10, 256, 84}, {11, 256, 110},
    {12, 256, 144}, {13, 256, 176}, {14, 256, 210}, {16, 256, 66},  {17, 256, 74}, {18, 256, 98}, {19, 256, 50},
    {20, 32, 18},   {21, 256, 110}, {22, 256, 82},  {23, 256, 136}, {29, 256, 56}, {39, 32, 17},
};

class Experts {
 public:
  Experts(NodeContext& c, const Operands& at) : c_(c), at_(at) {}

  Result<std::vector<ValueId>> run() {
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}, at_.fc1.weights, at_.fc2.weights})
      if (!c_.has(i)) return c_.error(fmt::format("operand {} is missing", i));
    const auto rank = c_.rank(c_.inputs[0]);
    const auto experts = c_.known_dim(c_.inputs[at_.fc1.weights], 0);
    if (!rank || !experts || !layers_fit()) return Failure{};
    if (at_.in_blocks ? *rank < 1 : *rank != 2 && *rank != 3)
      return c_.error(fmt::format("data must have 2 or 3 dims, have {}", *rank));
    const auto hidden = c_.known_dim(c_.inputs[0], -1);
    if (!hidden) return Failure{};
    auto tokens = *rank != 2 ? c_.reshape(c_.inputs[0], {-1, *hidden}) : Result(c_.inputs[0]);
    if (!tokens || !route(*experts)) return Failure{};
    auto rows = c_.emit(op("take"), {*tokens, token_}, axis(0));
    auto wide = activated(rows);
    auto parts = product(wide, at_.fc2);
    auto mixed = parts ? c_.emit(op("multiply"), {*parts, share_}) : parts;
    InsideKernel into_sum(c_);  // rows are put back and added by one kernel
    auto back = mixed ? c_.emit(op("take"), {*mixed, place_}, axis(0)) : mixed;
    auto by_token = c_.reshape(back, {-1, k_, *hidden});
    into_sum.end();
    auto sum = by_token ? c_.emit(op("sum_axes"), {*by_token, c_.int_constant({1})}, {{"keepdims", std::int64_t{0}}})
                        : by_token;
    if (*rank != 2) {
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
    const std::size_t mixes = at_.weights_of_experts;
    const bool scores = at_.in_blocks && c_.has(mixes);  // the best are chosen by them as they are
    InsideKernel into_choice(c_);
    auto odds = scores ? Result(c_.inputs[1]) : c_.emit(op("nn.softmax"), {c_.inputs[1]}, axis(-1));
    into_choice.end();
    if (!odds) return Failure{};
    auto best = c_.emit_all(op("topk"), {*odds, c_.int_constant({k_})}, axis(-1), 2);
    if (!best) return Failure{};
    InsideKernel of_choice(c_);
    Result<ValueId> mixed = (*best)[0];
    if (mixes > 0 && c_.has(mixes)) mixed = c_.emit(op("gather"), {c_.inputs[mixes], (*best)[1]}, axis(-1));
    if (c_.attrs.int_or("normalize_routing_weights", at_.in_blocks ? 1 : 0) == 1 && mixed) {
      auto all = c_.emit(op("sum_axes"), {*mixed, c_.int_constant({-1})}, {{"keepdims", std::int64_t{1}}});
      if (const double least = c_.attrs.float_or("routing_epsilon", 0); least != 0 && all)
        all = c_.emit(op("add"), {*all, c_.number_like(*all, least)});
      mixed = all ? c_.emit(op("divide"), {*mixed, *all}) : all;
    }
    if (const double factor = c_.attrs.float_or("routed_scaling_factor", 1); factor != 1 && mixed)
      mixed = c_.emit(op("multiply"), {*mixed, c_.number_like(*mixed, factor)});
    mixed = c_.cast(mixed, c_.dtype(c_.inputs[0]));
    auto chosen = c_.reshape((*best)[1], {-1});
    auto count = c_.shape_of(chosen);
    of_choice.end();
    if (!mixed || !count) return Failure{};
    auto sorted =
        c_.emit_all(op("topk"), {*chosen, *count}, {{"axis", std::int64_t{0}}, {"largest", std::int64_t{0}}}, 2);
    if (!sorted) return Failure{};
    InsideKernel of_sort(c_);
    auto token = c_.emit(op("floor_divide"), {(*sorted)[1], c_.number(static_cast<double>(k_), DType::Int64)});
    auto place =
        c_.emit_all(op("topk"), {(*sorted)[1], *count}, {{"axis", std::int64_t{0}}, {"largest", std::int64_t{0}}}, 2);
    auto counts = c_.emit(op("histogram"), {(*sorted)[0]}, {{"bins", experts}});
    auto ends = counts ? c_.emit(op("cumsum"), {*counts, c_.number(0, DType::Int64)}) : counts;
    auto flat = c_.reshape(mixed, {-1});
    auto share = flat ? c_.emit(op("take"), {*flat, (*sorted)[1]}, axis(0)) : flat;
    share = c_.expand_dims(share, {1});
    of_sort.end();
    if (!token || !place || !ends || !share) return Failure{};
    token_ = *token, place_ = (*place)[1], ends_ = *ends, share_ = *share;
    return ok();
  }

  /// Weights in blocks: rows are whole blocks of a known format, as many as they have weights for.
  Status layers_fit() const {
    if (!at_.in_blocks) return ok();
    const std::string_view name = c_.attrs.string_or("activation_type", "swiglu");
    if (name != "swiglu" && name != "relu2" && name != "relu_squared")
      return Status(c_.error(fmt::format("unknown activation_type '{}'; swiglu and relu2 exist", name)));
    const bool gated = name == "swiglu";
    if (gated != c_.has(at_.fc3.weights))
      return Status(
          c_.error(gated ? "operand 3 (up) is missing, which swiglu needs" : "operand 3 (up) is swiglu's alone"));
    const auto inner = rank_of(c_, at_.fc1.weights, "gate", 3, 3) ? extent_of(c_, c_.inputs[at_.fc1.weights], 1)
                                                                  : Result<std::int64_t>(Failure{});
    const auto hidden = extent_of(c_, c_.inputs[0], -1);
    if (!inner || !hidden) return Failure{};
    for (const Layer* layer : {&at_.fc1, &at_.fc2, &at_.fc3}) {
      if (!c_.has(layer->weights)) continue;
      const bool down = layer == &at_.fc2;
      const std::int64_t columns = down ? *inner : *hidden, rows = down ? *hidden : *inner;
      const auto number = whole_number(c_, layer->bits);
      if (!number) return Failure{};
      const auto* format = std::ranges::find(kFormats, *number, &BlockFormat::number);
      if (format == std::end(kFormats))
        return Status(
            c_.error(fmt::format("{} is {}, a format of packed weights that is not known", layer->bits, *number)));
      if (columns % format->weights != 0)
        return Status(c_.error(fmt::format("rows of {} weights are not whole blocks of {} ({} {})", columns,
                                           format->weights, layer->bits, *number)));
      if (!require_dims(
              c_, layer->weights, fmt::format("the weight of {}", layer->bits),
              {c_.dim(c_.inputs[at_.fc1.weights], 0), Dim(rows), Dim(columns / format->weights * format->bytes)}))
        return Failure{};
    }
    return ok();
  }

  Result<ValueId> product(Result<ValueId> rows, const Layer& layer) {
    if (!rows) return rows;
    std::vector<ValueId> operands{*rows, c_.inputs[layer.weights], ends_};
    if (layer.scales > 0 && c_.has(layer.scales)) operands.push_back(c_.inputs[layer.scales]);
    if (layer.bias > 0 && c_.has(layer.bias)) {
      operands.resize(GroupedOperand::kBiases);
      operands.push_back(c_.inputs[layer.bias]);
    }
    Attrs attrs{{"transB", std::int64_t{1}}};
    if (at_.in_blocks) attrs.set("block_format", c_.attrs.int_or(layer.bits, 0));
    if (layer.scales > 0 && bits(c_.dtype(c_.inputs[layer.weights])) == 8)
      attrs.set("bits", c_.attrs.int_or(layer.bits, c_.attrs.int_or("expert_weight_bits", 4)));
    return c_.emit(op("nn.grouped_matmul"), std::move(operands), std::move(attrs));
  }

  /// The first layer and its activation, of which some multiply by a second half, or a third layer's result.
  Result<ValueId> activated(Result<ValueId> rows) {
    const std::string name(c_.attrs.string_or("activation_type", at_.in_blocks ? "swiglu" : "relu"));
    auto y = product(rows, at_.fc1);
    if (!y) return y;
    const bool silu = name == "silu" || name == "swiglu", gelu = name == "gelu" || name == "geglu";
    const bool squared = at_.in_blocks && (name == "relu2" || name == "relu_squared");
    if (!silu && !gelu && !squared && name != "relu" && name != "identity")
      return c_.error(fmt::format("unknown activation_type '{}'", name));
    const bool halves = name.ends_with("glu") && !c_.has(at_.fc3.weights);
    if (halves)
      return c_.emit(op("nn.glu"), {*y},
                     {{"axis", std::int64_t{-1}}, {"activation", std::string(silu ? "silu" : "gelu")}});
    if (name != "identity") y = c_.emit(silu ? op("nn.silu") : gelu ? op("nn.gelu") : op("nn.relu"), {*y});
    if (squared && y) y = c_.emit(op("multiply"), {*y, *y});
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
  return Experts(c, c.spelling == "ms:QMoE" ? kQuantised : c.spelling == "ms:MoEPacked" ? kPacked : kPlain).run();
}

}  // namespace perfc::onnx
