/// Tensors made of nothing: fills, ranges, random numbers.
#include <cmath>
#include <numeric>

#include "frontends/torch/translate.h"
#include "ir/eager_marks.h"

namespace perfc::torch {
namespace {

/// What a fill's name says: zeros, ones; the argument otherwise. Uninitialised memory counts as zeros.
Result<double> fill_value(Call& c) {
  const std::string_view name = c.row->name;
  if (name.find("ones") != std::string_view::npos) return 1.0;
  return c.real_or("fill_value", 0);
}

Values filled(Call& c, ValueId shape, DType dtype) {
  const Scalar* s = c.arg("fill_value").scalar();
  if (s && !s->known()) {  // computed: spread instead
    auto value = promoted(c, c.arg("fill_value"), dtype);
    return value ? single(c, c.emit(op("broadcast_to"), {*value, shape})) : Failure{};
  }
  if (c.arg("fill_value").tensor()) {
    auto value = promoted(c, c.arg("fill_value"), dtype);
    return value ? single(c, c.emit(op("broadcast_to"), {*value, shape})) : Failure{};
  }
  const auto value = fill_value(c);
  if (!value) return Failure{};
  const bool left_as_is = std::string_view(c.row->name).find("empty") != std::string_view::npos;
  return single(c, c.full(shape, *value, dtype, left_as_is ? with_mark({}, kInside) : Attrs{}));
}

/// Random numbers in a shape: the IR's generators want it known.
Values random(Call& c, ValueId shape, DType dtype, bool normal) {
  const Data* d = c.data(shape);
  if (d && d->ints() && d->fully_known()) {
    std::vector<std::int64_t> dims;
    for (const SymInt& s : *d->ints()) dims.push_back(s.value());
    return single(c, c.emit(normal ? op("random.normal") : op("random.uniform"), {},
                            {{"dtype", std::string(name(dtype))}, {"shape", dims}}));
  }
  auto base = c.full(shape, 0, dtype);
  return base ? single(c, c.emit(normal ? op("random.normal_like") : op("random.uniform_like"), {*base})) : Failure{};
}

bool is_random(std::string_view name) { return name == "normal" || name.find("rand") != std::string_view::npos; }

}  // namespace

/// zeros, ones, full, empty, rand, randn, randint: (size, …, dtype, …).
Values make(Call& c) {
  auto shape = c.int_vector("size");
  DType fallback = DType::Float32;
  if (const Scalar* s = c.arg("fill_value").scalar(); s && !s->is_float()) fallback = s->dtype;
  const std::string_view name = c.row->name;
  if (name == "randint") fallback = DType::Int64;
  const auto dtype = c.dtype_or("dtype", fallback);
  if (!shape || !dtype) return Failure{};
  if (name == "randint") {
    auto u = c.full(*shape, 0, DType::Float32);
    auto r = u ? c.emit(op("random.uniform_like"), {*u}) : u;
    return r ? single(c, c.cast(*r, *dtype)) : Failure{};
  }
  if (is_random(name)) return random(c, *shape, *dtype, name != "rand");
  return filled(c, *shape, *dtype);
}

/// zeros_like, …: the shape and, unless given, the type of self.
Values make_like(Call& c) {
  auto v = c.tensor("self");
  if (!v) return Failure{};
  auto shape = c.shape_of(*v);
  const auto dtype = c.dtype_or("dtype", c.type(*v).dtype());
  if (!shape || !dtype) return Failure{};
  const std::string_view name = c.row->name;
  if (is_random(name)) {
    return single(c, c.emit(name == "randn_like" ? op("random.normal_like") : op("random.uniform_like"), {*v},
                            {{"dtype", std::string(perfc::name(*dtype))}}));
  }
  return filled(c, *shape, *dtype);
}

/// new_zeros, …: the type of self, a shape of its own.
Values make_new(Call& c) {
  auto v = c.tensor("self");
  auto shape = c.int_vector("size");
  if (!v || !shape) return Failure{};
  const auto dtype = c.dtype_or("dtype", c.type(*v).dtype());
  return dtype ? filled(c, *shape, *dtype) : Failure{};
}

/// uniform_, normal_, exponential_, …: self gets other contents, by one kernel.
Values randomize(Call& c) {
  auto v = c.tensor("self");
  if (!v) return Failure{};
  const std::string_view name = c.row->name;
  return single(c, c.emit(name == "normal" ? op("random.normal_like") : op("random.uniform_like"), {*v}));
}

/// Of means and deviations, of which one at least is a tensor: normal numbers, times the deviations where these are a
/// tensor, plus the means (aten/src/ATen/native/DistributionTemplates.h, normal_out_impl).
Values normal(Call& c) {
  const bool deviates = c.arg("std").tensor();
  const auto given = c.tensor(deviates ? "std" : "mean");
  if (!given) return Failure{};
  auto out = c.emit(op("random.normal_like"), {*given});
  if (out && deviates) out = c.emit(op("multiply"), {*out, *given});
  if (!out) return Failure{};
  const Scalar* mean = c.arg("mean").scalar();
  auto shift = mean ? c.scalar_tensor(*mean, c.type(*out).dtype()) : c.tensor("mean");
  return shift ? single(c, c.emit(op("add"), {*out, *shift})) : Failure{};
}

Values bernoulli(Call& c) {
  auto v = c.tensor("self");
  return v ? single(c, c.emit(op("random.bernoulli"), {*v})) : Failure{};
}
Values multinomial(Call& c) {
  auto v = c.tensor("self");
  const auto n = c.integer("num_samples");
  if (!v || !n) return Failure{};
  const auto rank = c.rank(*v);
  if (!rank) return Failure{};
  if (*rank == 1) {
    v = c.reshape(*v, {1, -1});
    if (!v) return Failure{};
  }
  auto y = c.emit(op("random.multinomial"), {*v}, {{"dtype", std::string("int64")}, {"sample_size", *n}});
  if (y && *rank == 1) y = c.squeeze(*y, {0});
  return single(c, y);
}

Values arange(Call& c) {
  const Value zero = Scalar::of(std::int64_t{0}), one = Scalar::of(std::int64_t{1});
  const Value& start = c.given("start") ? c.arg("start") : zero;
  const Value& step = c.given("step") ? c.arg("step") : one;
  const Value& end = c.arg("end");
  DType wanted = DType::Int64;
  for (const Value* v : {&start, &end, &step}) {
    const Scalar* s = v->scalar();
    if (s && s->is_float()) wanted = DType::Float32;
    if (const TensorRef* t = v->tensor(); t && is_float(c.type((*t)->value).dtype())) wanted = DType::Float32;
  }
  const auto dtype = c.dtype_or("dtype", wanted);
  if (!dtype) return Failure{};
  // The count is worked out in the arguments' type, unless the result's says the same: whole numbers.
  const auto whole = [](const Value* v) {
    const auto n = v->scalar() && v->scalar()->literal() ? v->scalar()->number() : std::nullopt;
    return n && *n == std::floor(*n);
  };
  if (is_float(*dtype) || is_float(wanted) == is_float(*dtype) || (whole(&start) && whole(&end) && whole(&step)))
    wanted = *dtype;
  auto a = promoted(c, start, wanted), b = promoted(c, end, wanted), d = promoted(c, step, wanted);
  if (!a || !b || !d) return Failure{};
  auto y = c.emit(op("arange"), {*a, *b, *d});
  return y ? single(c, c.cast(*y, *dtype)) : Failure{};
}

/// steps values from start to end: a range of counts, scaled and shifted.
Values linspace(Call& c) {
  const auto steps = c.integer_or("steps", 100);
  const auto dtype = c.dtype_or("dtype", DType::Float32);
  if (!steps || !dtype) return Failure{};
  if (*steps < 0) return c.error(fmt::format("{} steps", *steps));
  const DType d = is_float(*dtype) ? *dtype : DType::Float32;
  auto start = promoted(c, c.arg("start"), d), end = promoted(c, c.arg("end"), d);
  if (!start || !end) return Failure{};
  InsideKernel of_range(c);  // RangeFactories.cu: one kernel
  auto counts = c.emit(op("arange"), {c.number(0, d), c.number(static_cast<double>(*steps), d), c.number(1, d)});
  auto span = c.emit(op("subtract"), {*end, *start});
  auto step =
      span ? c.emit(op("divide"), {*span, c.number(static_cast<double>(std::max<std::int64_t>(*steps - 1, 1)), d)})
           : span;
  auto scaled = counts && step ? c.emit(op("multiply"), {*counts, *step}) : Result<ValueId>(Failure{});
  if (!scaled) return Failure{};
  const bool powers = std::string_view(c.row->name) == "logspace";
  if (!powers) of_range.end();
  auto y = c.emit(op("add"), {*scaled, *start});
  if (y && powers) {
    of_range.end();
    const auto base = c.real_or("base", 10);
    y = base ? c.emit(op("power"), {c.number(*base, d), *y}) : Result<ValueId>(Failure{});
  }
  return y ? single_as(c, y) : Failure{};
}

namespace {

/// `base` with `part`, copied by a kernel of its own, in a slice of it.
Result<ValueId> copied_into(Call& c, ValueId base, ValueId part, const std::vector<std::int64_t>& starts,
                            const std::vector<std::int64_t>& ends, const std::vector<std::int64_t>& steps) {
  std::vector<std::int64_t> axes(starts.size());
  std::iota(axes.begin(), axes.end(), 0);
  auto copy = c.emit(op("clone"), {part});
  if (!copy) return Failure{};
  const InsideKernel of_copy(c);
  return c.emit(op("strided_set"), {base, c.int_constant(starts), c.int_constant(ends), c.int_constant(axes),
                                    c.int_constant(steps), *copy});
}

}  // namespace

/// Zeros with the numbers copied to a diagonal (aten/src/ATen/native/TensorShape.cpp).
Values diag_embed(Call& c) {
  auto v = c.tensor("self");
  const auto offset = c.integer_or("offset", 0), first = c.integer_or("dim1", -2), second = c.integer_or("dim2", -1);
  const auto rank = v ? c.rank(*v) : Result<std::size_t>(Failure{});
  if (!offset || !first || !second || !rank) return Failure{};
  const Type from = c.type(*v);
  if (*rank == 0 || !from.is_static()) return c.error("needs a tensor of known shape");
  const auto a = c.axis(*first, *rank + 1), b = c.axis(*second, *rank + 1);
  if (!a || !b) return Failure{};
  if (*a == *b) return c.error(fmt::format("both dims are {}", *a));
  std::vector<std::int64_t> shape, starts(*rank, 0), steps(*rank, 1);
  for (const Dim& dim : from.shape()) shape.push_back(dim.value());
  std::vector<std::int64_t> ends = shape;
  const std::int64_t n = shape.back(), side = n + std::abs(*offset);
  starts.back() = *offset < 0 ? -*offset * side : *offset;
  steps.back() = side + 1;
  ends.back() = starts.back() + std::max<std::int64_t>(n - 1, 0) * (side + 1) + (n > 0 ? 1 : 0);
  shape.back() = side * side;
  auto zeros = c.full(c.int_constant(shape), 0, from.dtype(), with_mark({}, kLaunched));
  auto flat = zeros ? copied_into(c, *zeros, *v, starts, ends, steps) : zeros;
  if (!flat) return Failure{};
  shape.back() = side;
  shape.push_back(side);
  auto y = c.reshape(*flat, shape);
  if (!y) return Failure{};
  std::vector<std::int64_t> perm;
  for (std::size_t i = 0, next = 0; i <= *rank; ++i)
    perm.push_back(static_cast<std::int64_t>(i == *a ? *rank - 1 : i == *b ? *rank : next++));
  return single(c, c.transpose(*y, perm));
}

/// A tensor of the padding, into which each sequence is copied (aten/src/ATen/native/PackedSequence.cpp).
Values pad_sequence(Call& c) {
  const auto sequences = c.tensors("sequences");
  const auto batch_first = c.flag_or("batch_first", false);
  const auto padding = c.real_or("padding_value", 0);
  if (!sequences || !batch_first || !padding) return Failure{};
  if (sequences->empty()) return c.error("needs a sequence");
  std::vector<std::vector<std::int64_t>> shapes;
  std::int64_t longest = 0;
  for (ValueId v : *sequences) {
    const Type t = c.type(v);
    if (!t.is_static() || t.rank() == 0) return c.error("needs sequences of known shape");
    shapes.emplace_back();
    for (const Dim& dim : t.shape()) shapes.back().push_back(dim.value());
    longest = std::max(longest, shapes.back()[0]);
  }
  const std::size_t samples = *batch_first ? 0 : 1, places = 1 - samples;
  std::vector<std::int64_t> whole(shapes[0].begin() + 1, shapes[0].end());
  whole.insert(whole.begin(), {0, 0});
  whole[samples] = static_cast<std::int64_t>(shapes.size());
  whole[places] = longest;
  const std::vector<std::int64_t> steps(whole.size(), 1);
  auto y = c.full(c.int_constant(whole), *padding, c.type(sequences->front()).dtype(), with_mark({}, kLaunched));
  const bool left = c.text_or("padding_side", "right") == "left";
  for (std::size_t i = 0; y && i < shapes.size(); ++i) {
    std::vector<std::int64_t> starts(whole.size(), 0), ends = whole;
    starts[samples] = static_cast<std::int64_t>(i);
    ends[samples] = starts[samples] + 1;
    starts[places] = left ? longest - shapes[i][0] : 0;
    ends[places] = starts[places] + shapes[i][0];
    auto part = c.emit(op("expand_dims"), {(*sequences)[i], c.int_constant({static_cast<std::int64_t>(samples)})});
    y = part ? copied_into(c, *y, *part, starts, ends, steps) : part;
  }
  return single(c, y);
}

Values eye(Call& c) {
  const auto n = c.integer("n");
  const auto m = n ? c.integer_or("m", *n) : n;
  const auto dtype = c.dtype_or("dtype", DType::Float32);
  if (!n || !m || !dtype) return Failure{};
  auto zeros = c.full(c.int_constant({*n, *m}), 0, *dtype);
  return zeros ? single(c, c.emit(op("eye_like"), {*zeros})) : Failure{};
}

Values tril_indices(Call& c) {
  const auto rows = c.integer("row"), columns = c.integer("col");
  const auto offset = c.integer_or("offset", 0);
  if (!rows || !columns || !offset) return Failure{};
  if (*rows < 0 || *columns < 0 || *rows > 100'000 || *columns > 100'000)
    return c.error(fmt::format("{} × {} entries", *rows, *columns));
  const bool lower = std::string_view(c.row->name) == "tril_indices";
  std::vector<SymInt> is, js;
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < *rows; ++i) {
    const std::int64_t edge = std::clamp<std::int64_t>(i + *offset + (lower ? 1 : 0), 0, *columns);
    const std::int64_t from = lower ? 0 : edge, to = lower ? edge : *columns;
    count += to - from;
    for (std::int64_t j = from; j < to && 2 * count <= Data::kMaxElements; ++j) {
      is.emplace_back(i);
      js.emplace_back(j);
    }
  }
  DataRef data;
  if (2 * count <= Data::kMaxElements) {
    is.insert(is.end(), js.begin(), js.end());
    auto d = std::make_shared<Data>();
    d->elements = std::move(is);
    data = std::move(d);
  }
  return single_as(c, c.constant({Type::tensor(DType::Int64, {2, count}), std::move(data)}));
}

/// A number as a tensor.
/// A list of numbers as a vector: of float32 where one of them is a float, unless the call says its type.
static Result<ValueId> number_vector(Call& c, const List& list) {
  std::vector<double> reals;
  bool real = false;
  for (const Value& item : *list.items) {
    const Scalar* s = item.scalar();
    real = real || (s && s->is_float());
    if (const auto n = s && s->literal() ? s->number() : std::nullopt) reals.push_back(*n);
  }
  const auto dtype = c.dtype_or("dtype", real ? DType::Float32 : DType::Int64);
  if (!dtype) return Failure{};
  if (!real) {
    auto v = c.int_vector(*list.items);
    return v ? c.cast(*v, *dtype) : v;
  }
  const auto n = static_cast<std::int64_t>(list.items->size());
  if (static_cast<std::int64_t>(reals.size()) != n)
    return c.error("makes a tensor of a list whose numbers are not all known when importing");
  auto data = std::make_shared<Data>();
  data->elements = std::move(reals);
  return c.cast(c.constant({Type::tensor(DType::Float32, {n}), data}), *dtype);
}

Values scalar_tensor(Call& c) {
  const Scalar* s = c.args.empty() ? nullptr : c.args[0].scalar();
  if (!s) {
    if (!c.args.empty() && c.args[0].tensor()) return std::vector<Value>{c.args[0]};
    const List* l = c.args.empty() ? nullptr : c.args[0].list();
    if (!l) return c.error("makes a tensor of what is no number");
    return single(c, number_vector(c, *l));
  }
  const auto dtype = c.dtype_or("dtype", s->is_float() ? DType::Float32 : s->dtype);
  if (!dtype) return Failure{};
  const auto n = s->literal() ? s->number() : std::nullopt;
  const bool filled = n && std::string_view(c.row->name) == "scalar_tensor";
  return single(c, filled ? c.full(c.int_constant({}), *n, *dtype) : c.scalar_tensor(*s, *dtype));
}

Values window(Call& c) {
  const std::string_view name = c.row->name;
  const auto n = c.integer("window_length");
  if (!n) return Failure{};
  return single_as(c, c.emit(name == "hann_window"      ? op("signal.hann_window")
                             : name == "hamming_window" ? op("signal.hamming_window")
                                                        : op("signal.blackman_window"),
                             {c.number(static_cast<double>(*n), DType::Int64)}));
}

}  // namespace perfc::torch
