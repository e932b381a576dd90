/// Matrix products and attention.
#include <cmath>

#include "frontends/torch/translate.h"
#include "ir/ops/einsum.h"

namespace perfc::torch {
namespace {

/// A matrix that is the transpose of another: the other, so that a product says
/// "transposed" instead of moving data.
std::optional<ValueId> untransposed(Call& c, ValueId v) {
  const Node& n = c.builder().node(v.node);
  if (!n.is(op("transpose")) || n.attrs.ints_or_empty("perm") != std::vector<std::int64_t>{1, 0}) return std::nullopt;
  return n.operands[0];
}

/// x · w (+ bias) with a matrix w.
Result<ValueId> dense(Call& c, ValueId x, ValueId w, ValueId bias, Attrs attrs = {}) {
  if (const auto plain = untransposed(c, w)) {
    attrs.set("transB", std::int64_t{1});
    w = *plain;
  }
  return c.emit(op("nn.dense"), {x, w, bias}, std::move(attrs));
}

bool is_bias(Call& c, ValueId v) { return v && c.type(v).ranked() && c.type(v).rank() <= 2; }

Result<ValueId> times(Call& c, ValueId v, double factor) {
  return factor == 1 ? Result<ValueId>(v) : c.emit(op("multiply"), {v, c.number(factor, c.type(v).dtype())});
}

/// (batch, tokens, heads · width) → (batch, heads, tokens, width)
Result<ValueId> split_heads(Call& c, ValueId v, std::int64_t heads) {
  const auto width = c.known_dim(v, 2, "the width of an embedding");
  if (!width) return Failure{};
  if (heads < 1 || *width % heads != 0)
    return c.error(fmt::format("a width of {} does not split into {} heads", *width, heads));
  std::vector<Value> shape{c.size_of(v, 0), c.size_of(v, 1), Scalar::of(heads), Scalar::of(*width / heads)};
  auto target = c.int_vector(shape);
  auto wide = target ? c.emit(op("reshape"), {v, *target}) : target;
  return wide ? c.transpose(*wide, {0, 2, 1, 3}) : wide;
}
Result<ValueId> join_heads(Call& c, ValueId v) {
  auto y = c.transpose(v, {0, 2, 1, 3});
  if (!y) return Failure{};
  const auto heads = c.known_dim(*y, 2, "the number of heads"), width = c.known_dim(*y, 3, "the width of a head");
  if (!heads || !width) return Failure{};
  std::vector<Value> shape{c.size_of(*y, 0), c.size_of(*y, 1), Scalar::of(*heads * *width)};
  auto target = c.int_vector(shape);
  return target ? c.emit(op("reshape"), {*y, *target}) : target;
}

/// Self-attention of a packed in-projection, heads and an out-projection.
Result<ValueId> self_attention(Call& c, ValueId x, std::int64_t heads, std::string_view in_weight,
                               std::string_view in_bias, std::string_view out_weight, std::string_view out_bias) {
  auto wi = c.tensor(in_weight), bi = c.tensor_or_none(in_bias), wo = c.tensor(out_weight),
       bo = c.tensor_or_none(out_bias);
  if (!wi || !bi || !wo || !bo) return Failure{};
  const Attrs transposed{{"transB", std::int64_t{1}}};
  auto qkv = c.emit(op("nn.dense"), {x, *wi, *bi}, transposed);
  if (!qkv) return Failure{};
  auto parts = c.emit_all(op("split"), {*qkv}, {{"axis", std::int64_t{2}}}, 3);
  if (!parts) return Failure{};
  std::vector<ValueId> split;
  for (ValueId p : *parts) {
    auto h = split_heads(c, p, heads);
    if (!h) return Failure{};
    split.push_back(*h);
  }
  auto y = c.emit(op("nn.sdpa"), split);
  auto joined = y ? join_heads(c, *y) : y;
  return joined ? c.emit(op("nn.dense"), {*joined, *wo, *bo}, transposed) : joined;
}

}  // namespace

Values linear(Call& c) {
  auto x = c.tensor("input"), w = c.tensor("weight"), b = c.tensor_or_none("bias");
  if (!x || !w || !b) return Failure{};
  const auto rank = c.rank(*x), w_rank = c.rank(*w);
  if (!rank || !w_rank) return Failure{};
  if (*w_rank == 1) {  // a row that gives one number
    auto y = c.emit(op("nn.batch_matmul"), {*x, *w});
    if (y && *b) y = c.emit(op("add"), {*y, *b});
    return single(c, y);
  }
  if (*rank >= 2) return single(c, c.emit(op("nn.dense"), {*x, *w, *b}, {{"transB", std::int64_t{1}}}));
  auto row = c.expand_dims(*x, {0});
  auto y = row ? c.emit(op("nn.dense"), {*row, *w, *b}, {{"transB", std::int64_t{1}}}) : row;
  return y ? single(c, c.squeeze(*y, {0})) : Failure{};
}

/// beta · self + alpha · mat1 · mat2
Values addmm(Call& c) {
  auto self = c.tensor("self"), a = c.tensor("mat1"), b = c.tensor("mat2");
  const auto beta = c.real_or("beta", 1), alpha = c.real_or("alpha", 1);
  if (!self || !a || !b || !beta || !alpha) return Failure{};
  if (is_bias(c, *self)) {
    Attrs attrs;
    if (*alpha != 1) attrs.set("alpha", *alpha);
    if (*beta != 1) attrs.set("beta", *beta);
    return single(c, dense(c, *a, *b, *self, std::move(attrs)));
  }
  auto y = dense(c, *a, *b, {});
  auto scaled = y ? times(c, *y, *alpha) : y;
  auto base = times(c, *self, *beta);
  if (!scaled || !base) return Failure{};
  return single(c, c.emit(op("add"), {*base, *scaled}));
}

Values mm(Call& c) {
  auto a = c.tensor("self"), b = c.tensor("mat2");
  return a && b ? single(c, dense(c, *a, *b, {})) : Failure{};
}

/// _grouped_mm: one kernel on Hopper and later; elsewhere, and not in bfloat16, a product per group after the ends of
/// the groups have come to the host (aten/src/ATen/native/GroupedMMUtils.h, _grouped_mm_fallback).
Values grouped_mm(Call& c) {
  auto a = c.tensor("self"), b = c.tensor("mat2"), ends = c.tensor_or_none("offs"), bias = c.tensor_or_none("bias");
  if (!a || !b || !ends || !bias) return Failure{};
  auto y = *ends ? c.emit(op("nn.grouped_matmul"), {*a, *b, *ends}) : c.emit(op("nn.grouped_matmul"), {*a, *b});
  if (y && *bias) y = c.emit(op("add"), {*y, *bias});
  return single_as(c, y, "out_dtype");
}

/// What transformers exports in its place on a CPU: the same products (transformers/integrations/moe.py).
Values grouped_mm_fallback(Call& c) {
  auto x = c.tensor("input"), w = c.tensor("weight"), ends = c.tensor("offs");
  return x && w && ends ? single(c, c.emit(op("nn.grouped_matmul"), {*x, *w, *ends})) : Failure{};
}

/// _weight_int8pack_mm, _weight_int4pack_mm: weights of few bits, which the product unpacks as it reads.
Values packed_mm(Call& c) {
  auto x = c.tensor("self"), w = c.tensor("mat2");
  const bool wide = std::string_view(c.row->name) == "_weight_int8pack_mm";
  auto scales = c.tensor(wide ? "scales" : "qScaleAndZeros");
  if (!x || !w || !scales) return Failure{};
  const Type &data = c.type(*x), &weight = c.type(*w);
  const auto group = wide ? Result<std::int64_t>(1) : c.integer("qGroupSize");
  if (!group) return Failure{};
  const auto k = c.known_dim(*x, 1, "columns of self");
  if (!k) return Failure{};
  if (!weight.is_static() || !data.ranked() || weight.rank() != (wide ? 2 : 4) || data.rank() != 2)
    return c.error("'self' must have two dims, 'mat2' two (8 bits) or four (4 bits), all known");
  const std::int64_t n = weight.shape()[0].value() * (wide ? 1 : 8);  // tiles of eight rows
  if (!wide) w = c.reshape(*w, {n, -1});
  return w ? single(c, c.emit(op("nn.matmul_nbits"), {*x, *w, *scales},
                              {{"K", *k},
                               {"N", n},
                               {"bits", std::int64_t{wide ? 8 : 4}},
                               {wide ? "per_row" : "block_size", *group}}))
           : Failure{};
}

/// matmul, bmm, mv, dot: NumPy's rules for ranks.
Values matmul(Call& c) {
  auto a = c.tensor("self"), b = c.tensor("other");
  if (!a || !b) return Failure{};
  const DType d = result_type(c, {&c.arg("self"), &c.arg("other")});
  a = c.cast(*a, d);
  b = c.cast(*b, d);
  if (!a || !b) return Failure{};
  return single(c, c.emit(op("nn.batch_matmul"), {*a, *b}));
}

/// beta · self + alpha · batch1 · batch2; addbmm sums over the batch, too.
Values baddbmm(Call& c) {
  auto self = c.tensor("self"), a = c.tensor("batch1"), b = c.tensor("batch2");
  const auto beta = c.real_or("beta", 1), alpha = c.real_or("alpha", 1);
  if (!self || !a || !b || !beta || !alpha) return Failure{};
  auto y = c.emit(op("nn.batch_matmul"), {*a, *b});
  if (y && std::string_view(c.row->name) == "addbmm") {
    const InsideKernel adds_up(c);
    y = c.emit(op("sum_axes"), {*y, c.int_constant({0})}, {{"keepdims", std::int64_t{0}}});
  }
  const InsideKernel of_product(c);  // cuBLAS scales and adds
  auto scaled = y ? times(c, *y, *alpha) : y;
  if (!scaled) return Failure{};
  if (*beta == 0) return c.result(*scaled);
  auto base = times(c, *self, *beta);
  return base ? single(c, c.emit(op("add"), {*base, *scaled})) : Failure{};
}

/// beta · self + alpha · (mat · vec) or vec1 ⊗ vec2
Values addmv(Call& c) {
  auto self = c.tensor("self"), a = c.tensor("mat"), b = c.tensor("vec");
  const auto beta = c.real_or("beta", 1), alpha = c.real_or("alpha", 1);
  if (!self || !a || !b || !beta || !alpha) return Failure{};
  auto y = c.emit(op("nn.batch_matmul"), {*a, *b});
  const InsideKernel of_product(c);  // cuBLAS scales and adds
  auto scaled = y ? times(c, *y, *alpha) : y;
  auto base = times(c, *self, *beta);
  if (!scaled || !base) return Failure{};
  return single(c, c.emit(op("add"), {*base, *scaled}));
}

Values outer(Call& c) {
  auto a = c.tensor("self"), b = c.tensor("vec2");
  auto column = a ? c.reshape(*a, {-1, 1}) : a;
  auto row = b ? c.reshape(*b, {1, -1}) : b;
  if (!column || !row) return Failure{};
  const DType dtype = promote(c.type(*a).dtype(), c.type(*b).dtype());
  column = c.promote(*column, dtype);
  row = c.promote(*row, dtype);
  if (!column || !row) return Failure{};
  return single(c, c.emit(op("multiply"), {*column, *row}));
}

namespace {

/// Whether an equation only lays its operands out, or multiplies them element by element: at::einsum sums nothing then.
bool sums_nothing(const rules::Einsum& e) {
  for (const std::vector<int>& labels : e.operands) {
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const bool twice = std::find(labels.begin(), labels.begin() + static_cast<std::ptrdiff_t>(i), labels[i]) !=
                         labels.begin() + static_cast<std::ptrdiff_t>(i);
      if (twice || std::ranges::find(e.output, labels[i]) == e.output.end()) return false;
    }
  }
  return true;
}

/// A view with the dims of `labels` where `output` has them, and one of a single element for each that is not there.
Result<ValueId> placed(Call& c, ValueId v, const std::vector<int>& labels, const std::vector<int>& output) {
  std::vector<std::int64_t> perm, absent;
  for (std::size_t i = 0; i < output.size(); ++i) {
    const auto at = std::ranges::find(labels, output[i]);
    (at == labels.end() ? absent : perm)
        .push_back(static_cast<std::int64_t>(at == labels.end() ? i : static_cast<std::size_t>(at - labels.begin())));
  }
  Result<ValueId> y = std::ranges::is_sorted(perm) ? v : c.transpose(v, perm);
  return y && !absent.empty() ? c.emit(op("expand_dims"), {*y, c.int_constant(absent)}) : y;
}

}  // namespace

Values einsum(Call& c) {
  auto operands = c.tensors("tensors");
  if (!operands) return Failure{};
  std::string equation = c.text_or("equation", "");
  std::erase(equation, ' ');
  std::vector<const Shape*> shapes;
  std::vector<Type> types;
  shapes.reserve(operands->size());
  types.reserve(operands->size());
  for (ValueId v : *operands) types.push_back(c.type(v));
  for (const Type& t : types) shapes.push_back(t.ranked() ? &t.shape() : nullptr);
  std::string why;
  const auto parsed = rules::parse_einsum(equation, shapes, why);
  if (parsed && parsed->result && sums_nothing(*parsed)) {
    if (operands->size() == 1) return single(c, placed(c, operands->front(), parsed->operands[0], parsed->output));
    if (operands->size() == 2) {
      auto a = placed(c, (*operands)[0], parsed->operands[0], parsed->output),
           b = placed(c, (*operands)[1], parsed->operands[1], parsed->output);
      return a && b ? single(c, c.emit(op("multiply"), {*a, *b})) : Failure{};
    }
  }
  return single(c, c.emit(op("einsum"), std::move(*operands), {{"equation", std::move(equation)}}));
}

/// x1 · W · x2 + b, as two contractions.
Values bilinear(Call& c) {
  auto a = c.tensor("input1"), b = c.tensor("input2"), w = c.tensor("weight"), bias = c.tensor_or_none("bias");
  if (!a || !b || !w || !bias) return Failure{};
  auto y = c.emit(op("einsum"), {*a, *w, *b}, {{"equation", std::string("...i,oij,...j->...o")}});
  if (y && *bias) y = c.emit(op("add"), {*y, *bias});
  return single(c, y);
}

/// Products over the dims named: transposed into one matrix product.
Values tensordot(Call& c) {
  auto a = c.tensor("self"), b = c.tensor("other");
  const auto da = c.ints("dims_self"), db = c.ints("dims_other");
  if (!a || !b || !da || !db) return Failure{};
  const auto ra = c.rank(*a), rb = c.rank(*b);
  if (!ra || !rb) return Failure{};
  if (da->size() != db->size() || *ra + *rb > 26) return c.error("the dims to contract do not fit");
  std::string left, right, out;
  for (std::size_t i = 0; i < *ra; ++i) left += static_cast<char>('a' + i);
  for (std::size_t i = 0; i < *rb; ++i) right += static_cast<char>('a' + *ra + i);
  for (std::size_t i = 0; i < da->size(); ++i) {
    const auto x = c.axis((*da)[i], *ra), y = c.axis((*db)[i], *rb);
    if (!x || !y) return Failure{};
    right[*y] = left[*x];
  }
  for (char ch : left) out += right.find(ch) == std::string::npos ? std::string(1, ch) : "";
  for (char ch : right) out += left.find(ch) == std::string::npos ? std::string(1, ch) : "";
  return single(c, c.emit(op("einsum"), {*a, *b}, {{"equation", fmt::format("{},{}->{}", left, right, out)}}));
}

/// Distances of all pairs: the matrix product that torch runs for p = 2, else differences.
Values cdist(Call& c) {
  auto a = c.tensor("x1"), b = c.tensor("x2");
  const auto p = c.real_or("p", 2);
  if (!a || !b || !p) return Failure{};
  const auto rank = c.rank(*a);
  if (!rank) return Failure{};
  auto rows = c.expand_dims(*a, {static_cast<std::int64_t>(*rank) - 1});
  auto columns = c.expand_dims(*b, {static_cast<std::int64_t>(*rank) - 2});
  if (!rows || !columns) return Failure{};
  const auto d = [&] {
    const InsideKernel of_distance(c);
    return c.emit(op("subtract"), {*rows, *columns});
  }();
  return d ? single(c, c.emit(*p == 1 ? op("reduce_l1") : op("reduce_l2"), {*d, c.int_constant({-1})},
                              {{"keepdims", std::int64_t{0}}}))
           : Failure{};
}

/// (query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa); the
/// forms that name a kernel (flash, efficient, cudnn) give statistics besides.
Values sdpa(Call& c) {
  auto q = c.tensor("query"), k = c.tensor("key"), v = c.tensor("value"), mask = c.tensor_or_none("attn_mask");
  const auto causal = c.flag_or("is_causal", false);
  if (!q || !k || !v || !mask || !causal) return Failure{};
  Attrs attrs;
  if (c.given("scale")) {
    const auto scale = c.real("scale");
    if (!scale) return Failure{};
    attrs.set("scale", *scale);
  }
  if (*causal) attrs.set("is_causal", std::int64_t{1});
  auto y = c.attention(*q, *k, *v, *mask, std::move(attrs));
  if (!y) return Failure{};
  auto out = c.result(*y);
  for (std::size_t i = 1; out && i < c.outputs(); ++i) {
    // Log-sum-exp, seeds: read by the backward pass only.
    const Type& declared = c.operation.outputs[i].tensor;
    out->push_back(declared.is_tensor() ? Call::fresh(c.constant({declared, nullptr})) : Value::none());
  }
  return out;
}

/// The fast path of torch.nn.MultiheadAttention.
Values multi_head_attention(Call& c) {
  auto q = c.tensor("query"), k = c.tensor("key"), v = c.tensor("value");
  const auto heads = c.integer("num_head");
  if (!q || !k || !v || !heads) return Failure{};
  if (*q != *k || *k != *v) return c.error("of different query, key and value is not supported");
  auto y = self_attention(c, *q, *heads, "qkv_weight", "qkv_bias", "proj_weight", "proj_bias");
  if (!y) return Failure{};
  auto out = c.result(*y);
  for (std::size_t i = 1; out && i < c.outputs(); ++i) out->push_back(Value::none());
  return out;
}

/// The fast path of torch.nn.TransformerEncoderLayer.
Values transformer_encoder_layer(Call& c) {
  auto x = c.tensor("src");
  const auto heads = c.integer("num_heads");
  const auto gelu = c.flag_or("use_gelu", false), norm_first = c.flag_or("norm_first", false);
  const auto eps = c.real_or("eps", 1e-5);
  auto w1 = c.tensor("ffn_weight_1"), b1 = c.tensor("ffn_bias_1"), w2 = c.tensor("ffn_weight_2"),
       b2 = c.tensor("ffn_bias_2");
  auto s1 = c.tensor("norm_weight_1"), o1 = c.tensor("norm_bias_1"), s2 = c.tensor("norm_weight_2"),
       o2 = c.tensor("norm_bias_2");
  if (!x || !heads || !gelu || !norm_first || !eps || !w1 || !b1 || !w2 || !b2 || !s1 || !o1 || !s2 || !o2)
    return Failure{};
  const Attrs transposed{{"transB", std::int64_t{1}}};
  const auto norm = [&](ValueId v, ValueId scale, ValueId bias) {
    return c.emit(op("nn.layer_norm"), {v, scale, bias}, {{"axis", std::int64_t{-1}}, {"epsilon", *eps}});
  };
  const auto feed_forward = [&](ValueId v) -> Result<ValueId> {
    auto h = c.emit(op("nn.dense"), {v, *w1, *b1}, transposed);
    auto a = h ? c.emit(*gelu ? op("nn.gelu") : op("nn.relu"), {*h}) : h;
    return a ? c.emit(op("nn.dense"), {*a, *w2, *b2}, transposed) : a;
  };
  const auto block = [&](ValueId v, bool first) -> Result<ValueId> {
    const ValueId scale = first ? *s1 : *s2, bias = first ? *o1 : *o2;
    Result<ValueId> in = *norm_first ? norm(v, scale, bias) : Result<ValueId>(v);
    if (!in) return Failure{};
    auto y = first ? self_attention(c, *in, *heads, "qkv_weight", "qkv_bias", "proj_weight", "proj_bias")
                   : feed_forward(*in);
    auto sum = y ? c.emit(op("add"), {v, *y}) : y;
    return sum && !*norm_first ? norm(*sum, scale, bias) : sum;
  };
  auto y = block(*x, true);
  y = y ? block(*y, false) : y;
  return single(c, y);
}

}  // namespace perfc::torch
