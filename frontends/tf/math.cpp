/// Elementwise operators, reductions, sorting, random numbers.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "frontends/tf/translators.h"

namespace perfc::tf {
/// As many operands as the node has inputs, attributes as the row maps them.
Result<Values> direct(Call& c, const OpRow& row) {
  auto operands = c.tensors(0, c.inputs.size());
  if (!operands) return Failure{};
  return c.finish(row_op(row), std::move(*operands), mapped_attributes(c, row));
}

Result<Values> cast(Call& c, const OpRow&) {
  auto x = c.tensor(0);
  const DType to = c.dtype_attr("DstT", DType::Undefined);
  if (!x) return Failure{};
  if (to == DType::Undefined) return c.error("has no element type to cast to");
  return one(c.cast(*x, to));
}

Result<Values> as_string(Call& c, const OpRow&) {
  auto x = c.tensor(0);
  if (!x) return Failure{};
  return one(c.emit(op("cast"), {*x}, {{"to", "string"}}));
}

Result<Values> square(Call& c, const OpRow&) {
  auto x = c.tensor(0);
  if (!x) return Failure{};
  return one(c.emit(op("multiply"), {*x, *x}));
}

Result<Values> erfc(Call& c, const OpRow&) { return one(c.erfc(c.tensor(0))); }

Result<Values> is_finite(Call& c, const OpRow&) {
  auto x = c.tensor(0);
  if (!x) return Failure{};
  auto nan = c.emit(op("isnan"), {*x});
  auto inf = c.emit(op("isinf"), {*x});
  if (!nan || !inf) return Failure{};
  auto either = c.emit(op("logical_or"), {*nan, *inf});
  if (!either) return Failure{};
  return one(c.emit(op("logical_not"), {*either}));
}

/// a where the condition holds, else b. Select (1) takes a vector for a condition on rows.
Result<Values> select(Call& c, const OpRow& row) {
  auto operands = c.tensors(0, 3);
  if (!operands) return Failure{};
  const auto cond = c.rank(0), data = c.rank(1);
  if (row.name == "Select" && cond == 1 && data && *data > 1) {
    std::vector<std::int64_t> axes(*data - 1);
    std::iota(axes.begin(), axes.end(), 1);
    auto view = c.expand_dims((*operands)[0], axes);
    if (!view) return Failure{};
    (*operands)[0] = *view;
  }
  return c.finish(op("where"), *operands);
}

Result<Values> leaky_relu(Call& c, const OpRow&) {
  auto x = c.tensor(0);
  if (!x) return Failure{};
  return c.finish(op("nn.leaky_relu"), {*x}, {{"alpha", c.float_attr("alpha", 0.2)}});
}

Result<Values> clip_by_value(Call& c, const OpRow&) {
  auto operands = c.tensors(0, 3);
  if (!operands) return Failure{};
  // Limits of the operand's shape are a minimum and a maximum.
  for (std::size_t i = 1; i < 3; ++i) {
    if (c.rank(i) == 0) continue;
    auto low = c.emit(op("minimum"), {(*operands)[0], (*operands)[2]});
    if (!low) return Failure{};
    return one(c.emit(op("maximum"), {*low, (*operands)[1]}));
  }
  return c.finish(op("clip"), *operands);
}

// ---- Reductions

/// (x, axes)
Result<Values> reduction(Call& c, const OpRow& row) {
  auto x = c.tensor(0);
  if (!x) return Failure{};
  std::vector<ValueId> operands{*x};
  auto axes = c.known_ints(1);
  if (axes) {
    // No axes mean no reduction here; ONNX's default would be all of them.
    if (axes->empty()) return one(*x);
    operands.push_back(c.int_constant(*axes));
  } else if (c.has(1)) {
    auto given = c.tensor(1);
    if (!given) return Failure{};
    operands.push_back(*given);
  }
  return c.finish(
      row_op(row), std::move(operands),
      {{"keepdims", c.int_attr("keep_dims", c.int_attr("keepdims", 0)) != 0 ? std::int64_t{1} : std::int64_t{0}}});
}

/// Σ x² / 2.
Result<Values> l2_loss(Call& c, const OpRow&) {
  auto x = c.tensor(0);
  if (!x) return Failure{};
  auto sum = c.emit(op("reduce_sum_square"), {*x}, {{"keepdims", std::int64_t{0}}});
  if (!sum) return Failure{};
  return one(c.emit(op("multiply"), {*sum, c.number_like(*sum, 0.5)}));
}

Result<Values> arg_reduction(Call& c, const OpRow& row) {
  auto x = c.tensor(0);
  if (!x) return Failure{};
  std::int64_t axis = 0;
  if (c.has(1)) {
    auto given = c.integer(1, "dimension");
    if (!given) return Failure{};
    axis = *given;
  }
  auto y = c.emit(row_op(row), {*x}, {{"axis", axis}, {"keepdims", std::int64_t{0}}});
  if (!y) return Failure{};
  return one(c.cast(*y, c.dtype_attr("output_type", DType::Int64)));
}

Result<Values> top_k(Call& c, const OpRow& row) {
  auto x = c.tensor(0);
  if (!x) return Failure{};
  ValueId k;
  if (row.name == "TopK") {
    k = c.int_constant({c.int_attr("k", 1)});
  } else {
    auto given = c.tensor(1);
    if (!given) return Failure{};
    const auto known = c.known_ints(1);
    if (known && known->size() == 1) {
      k = c.int_constant(*known);
    } else {
      auto view = c.reshape(*given, {1});
      if (!view) return Failure{};
      k = *view;
    }
  }
  auto id = c.builder().call({.op = op("topk"), .operands = {*x, k}, .name = c.name, .loc = c.loc});
  if (!id) return Failure{};
  auto indices = c.cast({*id, 1}, c.dtype_attr("index_type", DType::Int32));
  if (!indices) return Failure{};
  return Values{Value::tensor({*id, 0}), Value::tensor(*indices)};
}

/// → distinct values, and for each element the position of its value.
Result<Values> unique(Call& c, const OpRow&) {
  auto x = c.tensor(0);
  if (!x) return Failure{};
  auto all = c.finish(op("unique"), {*x}, {}, 4);
  if (!all) return Failure{};
  const DType index = c.dtype_attr("out_idx", DType::Int32);
  auto inverse = c.cast((*all)[2].id, index);
  auto counts = c.cast((*all)[3].id, index);
  if (!inverse || !counts) return Failure{};
  return Values{(*all)[0], Value::tensor(*inverse), Value::tensor(*counts)};
}

Result<Values> cumulative(Call& c, const OpRow& row) {
  auto operands = c.tensors(0, 2);
  if (!operands) return Failure{};
  return c.finish(row_op(row), *operands, mapped_attributes(c, row));
}

// ---- Random numbers: (shape, …)

Result<Values> random(Call& c, const OpRow& row) {
  auto shape = c.tensor(0);
  if (!shape) return Failure{};
  const DType dtype = c.dtype_attr("dtype", DType::Float32);
  const auto known = c.known_ints(0);
  if (known) return c.finish(row_op(row), {}, {{"shape", *known}, {"dtype", std::string(perfc::name(dtype))}});
  // Shapes that depend on an input: like a tensor of that shape.
  auto filled = c.emit(op("full"), {*shape}, {{"value", Literal{Type::tensor(dtype, {1}), nullptr}}});
  if (!filled) return Failure{};
  return c.finish(row.ir.starts_with("random.uniform") ? op("random.uniform_like") : op("random.normal_like"),
                  {*filled}, {{"dtype", std::string(perfc::name(dtype))}});
}

Result<Values> multinomial(Call& c, const OpRow&) {
  auto x = c.tensor(0);
  auto n = c.integer(1, "num_samples");
  if (!x || !n) return Failure{};
  return c.finish(
      op("random.multinomial"), {*x},
      {{"sample_size", *n}, {"dtype", std::string(perfc::name(c.dtype_attr("output_dtype", DType::Int64)))}});
}

// ---- Complex numbers

Result<Values> complex(Call& c, const OpRow&) { return one(c.complex(c.tensor(0), c.tensor(1))); }

// ---- Fourier transforms: (x, lengths of the last axes where real data take part)

Result<Values> fourier(Call& c, const OpRow& row) {
  auto x = c.tensor(0);
  if (!x) return Failure{};
  std::string_view name = row.name;
  const bool inverse = name.starts_with("I");
  if (inverse) name.remove_prefix(1);
  const bool real = name.starts_with("R");
  const std::int64_t rank = name.ends_with("3D") ? 3 : name.ends_with("2D") ? 2 : 1;
  Attrs attrs{{"rank", rank}, {"mode", std::string(!real ? "c2c" : inverse ? "c2r" : "r2c")}};
  if (real && c.has(1)) {
    auto lengths = c.ints(1, "fft_length");
    if (!lengths) return Failure{};
    if (lengths->size() != static_cast<std::size_t>(rank) || lengths->back() < 1)
      return c.error("fft_length does not fit");
    attrs.set("length", lengths->back());
  }
  return c.finish(op("signal.fft"), {*x}, std::move(attrs));
}

// ---- Quantisation: fake quantisation rounds and clips in place

Result<Values> fake_quantize(Call& c, const OpRow&) {
  auto x = c.tensor(0);
  if (!x) return Failure{};
  return c.finish(op("qnn.fake_quantize"), {*x}, {{"bits", c.int_attr("num_bits", 8)}});
}

}  // namespace perfc::tf
