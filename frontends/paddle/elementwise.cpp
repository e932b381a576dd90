/// Arithmetic, comparison, activations, casts.
#include <algorithm>

#include "frontends/paddle/table.h"

namespace perfc::paddle {
namespace {

/// The type that two dtypes meet in: floats win over integers, wide over narrow.
DType wider(DType a, DType b) {
  const auto rank = [](DType d) { return d == DType::Bool ? 0 : is_integer(d) ? 1 : is_float(d) ? 2 : 3; };
  if (rank(a) != rank(b)) return rank(a) > rank(b) ? a : b;
  return bits(a) >= bits(b) ? a : b;
}

struct Pair {
  Operand x, y;
};

/// Both operands in one type. Old programs align y with x from dim `axis` on;
/// the IR aligns at the end, so that y gets dims of 1 there.
Result<Pair> aligned(Call& c) {
  std::string_view names = c.row->inputs;
  auto x = c.tensor(next_word(names, ' ')), y = c.tensor(next_word(names, ' '));
  if (!x || !y) return Failure{};
  const DType d = wider(c.dtype(*x), c.dtype(*y));
  const std::int64_t axis = c.integer_or("axis", -1);
  const Type &a = c.type(*x), &b = c.type(*y);
  if (axis >= 0 && a.ranked() && b.ranked() && b.rank() > 0 && b.rank() < a.rank()) {
    const std::int64_t missing = static_cast<std::int64_t>(a.rank()) - axis - static_cast<std::int64_t>(b.rank());
    Ints places;
    for (std::int64_t i = 0; i < missing; ++i) places.push_back(static_cast<std::int64_t>(b.rank()) + i);
    if (!places.empty()) y = c.expand_dims(y, places);
  }
  Pair p{c.cast(x, d), c.cast(y, d)};
  if (!p.x || !p.y) return Failure{};
  return p;
}

Operand scaled(Call& c, Operand x, double by) {
  return x && by != 1 ? c.emit(op("multiply"), {x, c.number(by, c.dtype(*x))}) : x;
}
Operand shifted(Call& c, Operand x, double by) {
  return x && by != 0 ? c.emit(op("add"), {x, c.number(by, c.dtype(*x))}) : x;
}
Operand negated(Call& c, Operand x) { return c.emit(op("negative"), {x}); }

/// clip(x, low, high).
Operand clipped(Call& c, Operand x, double low, double high) {
  return x ? c.emit(op("clip"), {x, c.number(low, c.dtype(*x)), c.number(high, c.dtype(*x))}) : x;
}

Operand as_bool(Call& c, Operand v) { return c.cast(v, DType::Bool); }

}  // namespace

Values binary(Call& c) {
  const auto p = aligned(c);
  if (!p) return Failure{};
  return one(c.emit(c.row->op, {p->x, p->y}));
}

Values divide(Call& c) {
  auto p = aligned(c);
  if (!p) return Failure{};
  if (!is_float(c.dtype(*p->x)) && c.importer.dialect() == Dialect::Pir) {  // true division
    p->x = c.cast(p->x, DType::Float32);
    p->y = c.cast(p->y, DType::Float32);
  }
  return one(c.emit(op("divide"), {p->x, p->y}));
}

Values remainder(Call& c) {
  const auto p = aligned(c);
  if (!p) return Failure{};
  Attrs attrs;
  if (is_float(c.dtype(*p->x))) attrs.set("fmod", std::int64_t{1});
  return one(c.emit(op("mod"), {p->x, p->y}, std::move(attrs)));
}

Values logical(Call& c) {
  const auto y = c.tensor_or_none("Y");
  if (!y) return Failure{};
  auto x = as_bool(c, c.tensor("X"));
  return one(*y ? c.emit(c.row->op, {x, as_bool(c, y)}) : c.emit(c.row->op, {x}));
}

/// Integers bit by bit, bools as logic.
Values bitwise(Call& c) {
  auto x = c.tensor("X");
  const auto y = c.tensor_or_none("Y");
  if (!x || !y) return Failure{};
  const std::string_view type = c.operation.type;
  if (c.dtype(*x) == DType::Bool) {
    const OpId o = type.find("and") != std::string_view::npos   ? op("logical_and")
                   : type.find("xor") != std::string_view::npos ? op("logical_xor")
                   : type.find("or") != std::string_view::npos  ? op("logical_or")
                                                                : op("logical_not");
    return one(*y ? c.emit(o, {x, y}) : c.emit(o, {x}));
  }
  return one(*y ? c.emit(c.row->op, {x, y}) : c.emit(op("bitwise_not"), {x}));
}

/// Sum of any number of tensors.
Values add_n(Call& c) {
  const auto all = c.tensors("X");
  if (!all) return Failure{};
  if (all->size() == 1) return *all;
  if (all->size() == 2) return one(c.emit(op("add"), {(*all)[0], (*all)[1]}));
  return one(c.emit(op("sum"), *all));
}

/// scale · x + bias, or scale · (x + bias).
Values scale(Call& c) {
  auto x = c.tensor("X");
  if (!x) return Failure{};
  const double bias = c.real_or("bias", 0);
  const bool after = c.flag("bias_after_scale", true);
  if (!after) x = shifted(c, x, bias);
  const auto* given = c.operands("ScaleTensor|scale");
  const bool known = !given || (given->size() == 1 && c.data(given->front()));
  if (known) {
    const auto by = c.real("ScaleTensor|scale", 1);
    if (!by) return Failure{};
    x = scaled(c, x, *by);
  } else {
    x = x ? c.emit(op("multiply"), {x, c.cast(c.tensor("ScaleTensor"), c.dtype(*x))}) : x;
  }
  return one(after ? shifted(c, x, bias) : x);
}

Values increment(Call& c) { return one(shifted(c, c.tensor("X"), c.real_or("step|value", 1))); }

Values power(Call& c) {
  auto x = c.tensor("X");
  const auto by = c.real("FactorTensor|factor|y", 1);
  if (!x || !by) return Failure{};
  if (*by == 1) return one(x);
  if (*by == 2) return one(c.emit(op("multiply"), {x, x}));
  if (*by == 0.5) return one(c.emit(op("sqrt"), {x}));
  return one(c.emit(op("power"), {x, c.number(*by, c.dtype(*x))}));
}

Values clip(Call& c) {
  auto x = c.tensor("X");
  const auto low = c.real("Min|min", -3.4e38), high = c.real("Max|max", 3.4e38);
  if (!low || !high) return Failure{};
  return one(clipped(c, x, *low, *high));
}

// ---- Functions of one operand

Values square(Call& c) {
  auto x = c.tensor("X");
  return one(c.emit(op("multiply"), {x, x}));
}
Values is_finite(Call& c) {
  auto x = c.tensor("X");
  return one(
      c.emit(op("logical_not"), {c.emit(op("logical_or"), {c.emit(op("isnan"), {x}), c.emit(op("isinf"), {x})})}));
}
/// |a − b| ≤ atol + rtol · |b|.
Values is_close(Call& c) {
  const auto x = c.tensor("Input|x"), y = c.tensor("Other|y");
  const auto rtol = c.real("Rtol|rtol", 1e-5), atol = c.real("Atol|atol", 1e-8);
  if (!x || !y || !rtol || !atol) return Failure{};
  auto distance = c.emit(op("abs"), {c.emit(op("subtract"), {x, y})});
  auto limit = shifted(c, scaled(c, c.emit(op("abs"), {y}), *rtol), *atol);
  return one(c.emit(op("less_equal"), {distance, limit}));
}

Values cast(Call& c) {
  const DType to = c.dtype_or("out_dtype|dtype", DType::Undefined);
  if (to == DType::Undefined) return c.error("names no element type");
  return one(c.cast(c.tensor("X"), to));
}

// ---- Activations

Values gelu(Call& c) {
  return one(c.emit(c.flag("approximate") ? op("nn.fast_gelu") : op("nn.gelu"), {c.tensor("X")}));
}
Values relu6(Call& c) { return one(clipped(c, c.tensor("X"), 0, c.real_or("threshold", 6))); }
Values hard_tanh(Call& c) { return one(clipped(c, c.tensor("X"), c.real_or("t_min", 0), c.real_or("t_max", 24))); }
Values hard_sigmoid(Call& c) {
  return one(c.emit(op("nn.hard_sigmoid"), {c.tensor("X")},
                    {{"alpha", c.real_or("slope", 0.2)}, {"beta", c.real_or("offset", 0.5)}}));
}
/// x · clip(x + offset, 0, threshold) / scale; its usual numbers are the IR's operator.
Values hard_swish(Call& c) {
  auto x = c.tensor("X");
  const double threshold = c.real_or("threshold", 6), by = c.real_or("scale", 6), offset = c.real_or("offset", 3);
  if (threshold == 6 && by == 6 && offset == 3) return one(c.emit(op("nn.hard_swish"), {x}));
  if (by == 0) return c.error("scale is 0");
  return one(scaled(c, c.emit(op("multiply"), {x, clipped(c, shifted(c, x, offset), 0, threshold)}), 1 / by));
}
Values swish(Call& c) {
  const double beta = c.real_or("beta", 1);
  Attrs attrs;
  if (beta != 1) attrs.set("alpha", beta);
  return one(c.emit(op("nn.silu"), {c.tensor("X")}, std::move(attrs)));
}
Values softplus(Call& c) {
  const double beta = c.real_or("beta", 1);
  if (beta == 0) return c.error("beta is 0");
  return one(scaled(c, c.emit(op("nn.softplus"), {scaled(c, c.tensor("X"), beta)}), 1 / beta));
}
Values tanh_shrink(Call& c) {
  auto x = c.tensor("X");
  return one(c.emit(op("subtract"), {x, c.emit(op("tanh"), {x})}));
}
Values stanh(Call& c) {
  return one(scaled(c, c.emit(op("tanh"), {scaled(c, c.tensor("X"), c.real_or("scale_a", 0.67))}),
                    c.real_or("scale_b", 1.7159)));
}
/// hard_shrink and softshrink: 0 within the threshold, outside x or x moved towards 0.
Values shrink(Call& c) {
  const double threshold = c.real_or("threshold|lambda", 0.5);
  const double bias = c.operation.type.starts_with("hard") ? 0 : threshold;
  return one(c.emit(op("nn.shrink"), {c.tensor("X")}, {{"bias", bias}, {"lambd", threshold}}));
}
/// log(1 + e^clip(x)).
Values soft_relu(Call& c) {
  const double t = c.real_or("threshold", 40);
  return one(c.emit(op("nn.softplus"), {clipped(c, c.tensor("X"), -t, t)}));
}
/// At inference: a leaky relu with the mean of the slopes.
Values rrelu(Call& c) {
  const double slope = (c.real_or("lower", 1.0 / 8) + c.real_or("upper", 1.0 / 3)) / 2;
  return one(c.emit(op("nn.leaky_relu"), {c.tensor("X")}, {{"alpha", slope}}));
}
/// One slope, one per channel, or one per element.
Values prelu(Call& c) {
  const auto x = c.tensor("X");
  auto slope = c.tensor("Alpha");
  const auto rank = c.rank(x), slope_rank = c.rank(slope);
  if (!rank || !slope_rank) return Failure{};
  if (c.text_or("mode", "all") == "channel" && *rank > 2) {
    Ints shape(static_cast<std::size_t>(*rank) - 1, 1);
    (c.text_or("data_format", "NCHW").ends_with('C') ? shape.back() : shape.front()) = -1;
    slope = c.reshape(slope, shape);
  }
  return one(c.emit(op("nn.prelu"), {x, slope}));
}
/// silu(x) · y; x holds both halves when there is no y.
Values swiglu(Call& c) {
  auto x = c.tensor("x"), y = c.tensor_or_none("y");
  if (!x || !y) return Failure{};
  if (!*y) {
    auto halves = c.emit_all(op("split"), {x}, {{"axis", std::int64_t{-1}}, {"num_outputs", std::int64_t{2}}}, 2);
    if (!halves) return Failure{};
    x = (*halves)[0];
    y = (*halves)[1];
  }
  return one(c.emit(op("multiply"), {c.emit(op("nn.silu"), {x}), y}));
}
/// The largest of each group of channels.
Values maxout(Call& c) {
  const auto x = c.tensor("X");
  const auto rank = c.rank(x);
  const std::int64_t groups = c.integer_or("groups", 1);
  if (!rank) return Failure{};
  const auto axis = c.axis(c.integer_or("axis", 1), *rank);
  const auto channels = axis ? c.known_dim(*x, *axis) : Result<std::int64_t>(Failure{});
  if (!channels) return Failure{};
  if (groups < 1 || *channels % groups != 0)
    return c.error(fmt::format("{} channels do not divide into groups of {}", *channels, groups));
  auto shape =
      c.emit(op("concatenate"),
             {c.shape_of(x, 0, *axis), c.int_constant({*channels / groups, groups}), c.shape_of(x, *axis + 1, *rank)},
             {{"axis", std::int64_t{0}}});
  return one(c.emit(op("max"), {c.emit(op("reshape"), {x, shape}), c.int_constant({*axis + 1})},
                    {{"keepdims", std::int64_t{0}}}));
}

Values absolute(Call& c) {
  const auto x = c.tensor("X");
  const bool complex = x && (c.dtype(*x) == DType::Complex64 || c.dtype(*x) == DType::Complex128);
  return one(c.emit(complex ? op("complex_abs") : op("abs"), {x}));
}

/// All elements of two tensors are close.
Values all_close(Call& c) {
  const auto close = is_close(c);
  if (!close) return Failure{};
  return one(
      c.cast(c.emit(op("min"), {c.cast(close->front(), DType::Int32)}, {{"keepdims", std::int64_t{0}}}), DType::Bool));
}

/// (label, PriorDist?): (1 − ε) · label + ε · prior, or ε / classes.
Values label_smooth(Call& c) {
  auto x = c.tensor("X");
  const auto prior = c.tensor_or_none("PriorDist");
  const auto rank = c.rank(x);
  if (!rank || !prior) return Failure{};
  const double epsilon = c.real_or("epsilon", 0);
  auto kept = scaled(c, x, 1 - epsilon);
  if (*prior) return one(c.emit(op("add"), {kept, scaled(c, prior, epsilon)}));
  const auto classes = c.known_dim(*x, -1);
  if (!classes) return Failure{};
  return one(shifted(c, kept, epsilon / static_cast<double>(std::max<std::int64_t>(*classes, 1))));
}

/// (x, mask, value).
Values masked_fill(Call& c) {
  const auto x = c.tensor("x");
  if (!x) return Failure{};
  return one(c.emit(op("where"), {as_bool(c, c.tensor("mask")), c.cast(c.tensor("value"), c.dtype(*x)), x}));
}

/// Lengths as rows of ones: i < length.
Values sequence_mask(Call& c) {
  const auto x = c.tensor("X");
  const auto most = c.integer("MaxLenTensor|max_len|maxlen");
  const auto rank = c.rank(x);
  if (!rank || !most) return Failure{};
  if (*most < 0) return c.unpriced();  // the longest of the lengths
  const DType d = c.dtype(*x);
  auto steps = c.emit(op("arange"), {c.number(0, d), c.number(static_cast<double>(*most), d), c.number(1, d)});
  return one(c.cast(c.emit(op("less"), {steps, c.expand_dims(x, {*rank})}), c.dtype_or("out_dtype", DType::Int64)));
}

/// softmax(x + noise); `hard` gives the largest as one.
Values gumbel_softmax(Call& c) {
  const auto x = c.tensor("X");
  const std::int64_t axis = c.integer_or("axis", -1);
  auto u = c.emit(op("random.uniform_like"), {x});
  auto noise = negated(c, c.emit(op("log"), {negated(c, c.emit(op("log"), {u}))}));
  const double temperature = c.real_or("temperature", 1);
  auto y = c.emit(op("nn.softmax"), {scaled(c, c.emit(op("add"), {x, noise}), temperature != 0 ? 1 / temperature : 1)},
                  {{"axis", axis}});
  return one(c.flag("hard") ? c.emit(op("nn.hardmax"), {y}, {{"axis", axis}}) : y);
}

/// fft_c2c, fft_r2c, fft_c2r over trailing axes.
Values fourier(Call& c) {
  const auto x = c.tensor("X");
  const auto rank = c.rank(x);
  auto axes = c.ints("axes");
  if (!rank || !axes) return Failure{};
  for (std::int64_t& a : *axes) {
    const auto axis = c.axis(a, *rank);
    if (!axis) return Failure{};
    a = *axis;
  }
  std::sort(axes->begin(), axes->end());
  const auto n = static_cast<std::int64_t>(axes->size());
  const std::string mode(c.operation.type.substr(4));
  if (n < 1 || n > 3 || axes->front() != *rank - n || axes->back() != *rank - 1 ||
      (mode == "r2c" && !c.flag("onesided", true)))
    return c.unpriced();
  Attrs attrs{{"mode", mode}, {"rank", n}};
  const std::int64_t last = c.integer_or("last_dim_size", 0);
  if (mode == "c2r" && last > 0) attrs.set("length", last);
  return one(c.emit(op("signal.fft"), {x}, std::move(attrs)));
}

Values where(Call& c) {
  auto x = c.tensor("X"), y = c.tensor("Y");
  if (!x || !y) return Failure{};
  const DType d = wider(c.dtype(*x), c.dtype(*y));
  return one(c.emit(op("where"), {as_bool(c, c.tensor("Condition")), c.cast(x, d), c.cast(y, d)}));
}

Values identity(Call& c) { return one(c.tensor("X|x|Input|input|tensor")); }
/// Printing and checking cost nothing.
Values no_values(Call&) { return std::vector<ValueId>{}; }

/// (X, scales) rounded to a grid and back, or only there.
Values fake_quantize(Call& c) {
  auto x = c.tensor("X");
  const double top =
      static_cast<double>((std::int64_t{1} << std::clamp<std::int64_t>(c.integer_or("bit_length", 8) - 1, 1, 31)) - 1);
  return one(clipped(c, c.emit(op("round"), {scaled(c, x, top)}), -top, top));
}

/// quantize_linear and dequantize_linear: (X, Scale, ZeroPoint).
Values quantize_linear(Call& c) {
  const auto x = c.tensor("X"), s = c.tensor("Scale");
  auto zero = c.tensor_or_none("ZeroPoint");
  if (!x || !s || !zero) return Failure{};
  Attrs attrs;
  const std::int64_t axis = c.integer_or("quant_axis", -1);
  if (axis >= 0) attrs.set("axis", axis);
  const bool there = c.operation.type == "quantize_linear";
  if (there)
    return one(c.emit(op("qnn.quantize"), {x, s, c.constant({c.type(*s).with_dtype(DType::Int8), nullptr})},
                      std::move(attrs)));
  auto q = is_float(c.dtype(*x)) ? c.cast(x, DType::Int8) : Operand(x);
  return one(c.emit(op("qnn.dequantize"), {q, s}, std::move(attrs)));
}

}  // namespace perfc::paddle
