/// Calls of libraries, random numbers, and what exporters add.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "frontends/stablehlo/translators.h"

namespace perfc::stablehlo {
namespace {

using Ints = Emitter::Ints;

Result<Values> random_of(Call& c, OpId op, const Type& type) {
  Ints shape;
  for (const Dim& d : type.shape()) {
    if (!d.known()) return c.unknown("makes numbers for open dims");
    shape.push_back(d.value());
  }
  const DType dtype = is_float(type.dtype()) ? type.dtype() : DType::Float32;
  auto v = c.emit(op, {}, {{"dtype", std::string(perfc::name(dtype))}, {"shape", shape}});
  return one(c.whole(c.cast(v, type.dtype())));
}

// ---- custom_call

/// A single operand that comes out as it went in: shardings and other annotations.
bool passes_on(const Call& c) {
  return c.operands.size() == 1 && c.operation.result_types.size() == 1 && c.declared(0).dtype() == c.type(0).dtype() &&
         c.declared(0).shape() == c.type(0).shape();
}

struct Target {
  std::string_view name;
  OpId op;
};
/// Functions of one operand that exporters write as calls.
constexpr std::array kFunctions{
    Target{"mhlo.erf", op("erf")},     Target{"mhlo.tan", op("tan")},     Target{"mhlo.asin", op("asin")},
    Target{"mhlo.acos", op("acos")},   Target{"mhlo.sinh", op("sinh")},   Target{"mhlo.cosh", op("cosh")},
    Target{"mhlo.asinh", op("asinh")}, Target{"mhlo.acosh", op("acosh")}, Target{"mhlo.atanh", op("atanh")}};

/// cuDNN's fused attention, as jax.nn.dot_product_attention(implementation="cudnn") calls it: q, k, v as
/// [batch, rows, heads, width], perhaps a bias; the first result is [batch, heads, rows, width]
/// (jax/_src/cudnn/fused_attention_stablehlo.py).
Result<Values> fused_attention(Call& c, bool biased) {
  constexpr std::string_view kScale = "fmha_scale\\22: ";
  auto parts = c.tensors(0, std::min<std::size_t>(c.operands.size(), biased ? 4 : 3));
  if (!parts) return Failure{};
  if (parts->size() < 3 || c.type(0).rank() != 4) return c.unknown("an attention whose operands are not known");
  std::vector<ValueId> operands;
  for (std::size_t i = 0; i < 3; ++i) {
    auto heads_first = c.transposed((*parts)[i], {0, 2, 1, 3});
    if (!heads_first) return Failure{};
    operands.push_back(*heads_first);
  }
  if (parts->size() > 3) operands.push_back((*parts)[3]);
  Attrs attrs;
  const std::string_view config = c.operation.find("backend_config").value_or("");
  if (const auto at = config.find(kScale); at != config.npos) {
    const std::string number(config.substr(at + kScale.size(), 24));
    attrs.set("scale", std::strtod(number.c_str(), nullptr));
  }
  auto y = c.emit(op("nn.sdpa"), std::move(operands), std::move(attrs));
  if (!y) return Failure{};
  Values out{c.whole(*y)};
  for (std::size_t i = 1; i < c.operation.result_types.size(); ++i)  // workspace, and what only a backward pass reads
    out.push_back(c.whole(c.constant({c.declared(i), nullptr})));
  return out;
}

constexpr std::array<std::string_view, 6> kAnnotations{
    "Sharding",         "SPMDFullToShardShape",      "SPMDShardToFullShape", "annotate_device_placement",
    "LayoutConstraint", "xla.sdy.FuncResultSharding"};

}  // namespace

Result<Values> custom_call(Call& c, const OpRow& row) {
  std::string_view target = c.operation.symbol;
  if (const auto text = c.operation.find("call_target_name"); target.empty() && text) target = unquoted(*text);
  if (target == "shape_assertion" || c.operation.result_types.empty()) return Values{};
  if (std::ranges::find(kAnnotations, target) != kAnnotations.end() && passes_on(c)) return Values{c.operands[0]};
  for (const Target& t : kFunctions) {
    if (t.name == target && c.operands.size() == 1) return one(c.pointwise(t.op, {&c.operands[0]}));
  }
  if (target == "__cudnn$fmhaSoftmax") return fused_attention(c, false);
  if (target == "__cudnn$fmhaScaleBiasSoftmax") return fused_attention(c, true);
  if (target == "mhlo.topk" || target == "TopK") return top_k(c, row);
  c.spelling = fmt::format("{} @{}", c.spelling, target);
  return c.unknown("a call of a library that is not known");
}

Result<Values> fourier(Call& c, const OpRow&) {
  auto x = c.tensor(0);
  if (!x) return Failure{};
  const auto type = c.operation.find("type");
  const auto length = c.ints("length", "fft_length").value_or(Ints{});
  return c.unknown(fmt::format("a transform of type {} over {} dims", type.value_or("?"), length.size()));
}

/// rng: uniform or normal numbers.
Result<Values> random(Call& c, const OpRow&) {
  const auto text = c.operation.find("distribution");
  const auto& words = c.operation.words;
  const bool normal = (text && text->find("NORMAL") != text->npos) || std::ranges::find(words, "NORMAL") != words.end();
  return random_of(c, normal ? op("random.normal") : op("random.uniform"), c.declared(0));
}

/// rng_bit_generator(state) → state, bits
Result<Values> random_bits(Call& c, const OpRow&) {
  if (c.operands.empty() || c.operation.result_types.size() != 2) return c.error("has no state and numbers");
  auto bits = random_of(c, op("random.uniform"), c.declared(1));
  if (!bits) return Failure{};
  return Values{c.operands[0], bits->front()};
}

}  // namespace perfc::stablehlo
