#include "frontends/common/emitter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ir/eager_marks.h"

namespace perfc {
namespace {

constexpr double kMostInteger = 9e18;  ///< that converts to int64

std::int64_t to_integer(double value) {
  return static_cast<std::int64_t>(std::clamp(value, -kMostInteger, kMostInteger));
}

}  // namespace

void Operands::take(std::span<const Result<ValueId>> all) {
  ids_.reserve(all.size());
  for (const Result<ValueId>& v : all) {
    if (!v) failed_ = true;
    else ids_.push_back(*v);
  }
}

Failure Emitter::error(std::string_view message) const {
  const std::string at = from_.empty() ? "" : fmt::format(" (from {})", from_);
  return builder_->diagnostics().error(loc, name, fmt::format("{}: {}{}", spelling, message, at));
}

void Emitter::warning(std::string_view message) const {
  builder_->diagnostics().warning(loc, name, fmt::format("{}: {}", spelling, message));
}

Dim Emitter::dim(ValueId v, std::int64_t axis) const {
  const Type& t = type(v);
  if (!t.is_tensor() || !t.ranked()) return Dim::unknown();
  const auto rank = static_cast<std::int64_t>(t.rank());
  if (axis < 0) axis += rank;
  return axis >= 0 && axis < rank ? t.shape()[static_cast<std::size_t>(axis)] : Dim::unknown();
}

Result<std::int64_t> Emitter::rank(Result<ValueId> v) const {
  if (!v) return Failure{};
  const Type& t = type(*v);
  if (!t.is_tensor() || !t.ranked()) return error("the rank of an operand must be known when importing");
  return static_cast<std::int64_t>(t.rank());
}

Result<std::int64_t> Emitter::known_dim(ValueId v, std::int64_t axis) const {
  const Dim d = dim(v, axis);
  if (!d.known()) {
    return error(
        fmt::format("dim {} of an operand is {} and must be known when importing; bind it with --dim or --shape", axis,
                    to_string(d)));
  }
  return d.value();
}

Result<std::int64_t> Emitter::axis(std::int64_t given, std::int64_t rank) const {
  const std::int64_t r = std::max<std::int64_t>(rank, 1);
  if (given < -r || given >= r) return error(fmt::format("axis {} is out of range for rank {}", given, rank));
  return given < 0 ? given + r : given;
}

Attrs Emitter::marked(Attrs attrs, const std::vector<ValueId>& operands) const {
  if (inside_) attrs = with_mark(std::move(attrs), kInside);
  if (recast_.empty()) return attrs;
  OperandSet recast;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (operands[i] && std::ranges::find(recast_, operands[i]) != recast_.end()) recast.insert(i);
  }
  if (!recast.empty()) attrs.set(kRecast, recast.bits());
  return attrs;
}

Result<ValueId> Emitter::emit(OpId op, Operands operands, Attrs attrs) const {
  if (operands.failed()) return Failure{};
  attrs = marked(std::move(attrs), operands.ids());
  return builder_->value({.op = op,
                          .operands = std::move(operands.ids()),
                          .attrs = std::move(attrs),
                          .results = 1,
                          .name = name,
                          .loc = loc});
}

Result<std::vector<ValueId>> Emitter::emit_all(OpId op, Operands operands, Attrs attrs, std::size_t results) const {
  if (operands.failed()) return Failure{};
  attrs = marked(std::move(attrs), operands.ids());
  const auto id = builder_->call({.op = op,
                                  .operands = std::move(operands.ids()),
                                  .attrs = std::move(attrs),
                                  .results = static_cast<int>(results),
                                  .name = name,
                                  .loc = loc});
  if (!id) return Failure{};
  std::vector<ValueId> out;
  for (std::uint32_t i = 0; i < results; ++i) out.push_back({*id, i});
  return out;
}

Result<ValueId> Emitter::cast(Result<ValueId> v, DType to) const {
  if (!v || to == DType::Undefined || dtype(*v) == to) return v;
  return emit(op("cast"), {v}, {{"to", std::string(perfc::name(to))}});
}

Result<ValueId> Emitter::reshape(Result<ValueId> v, const Ints& shape) const {
  return v ? emit(op("reshape"), {v, int_constant(shape)}) : v;
}

Result<ValueId> Emitter::transpose(Result<ValueId> v, Ints perm) const {
  return emit(op("transpose"), {v}, {{"perm", std::move(perm)}});
}

Result<ValueId> Emitter::expand_dims(Result<ValueId> v, const Ints& axes) const {
  return v ? emit(op("expand_dims"), {v, int_constant(axes)}) : v;
}

Result<ValueId> Emitter::squeeze(Result<ValueId> v, const Ints& axes) const {
  return v ? emit(op("squeeze"), {v, int_constant(axes)}) : v;
}

Result<ValueId> Emitter::slice(Result<ValueId> v, std::int64_t axis, std::int64_t start, std::int64_t end,
                               std::optional<std::int64_t> step) const {
  if (!v) return v;
  std::vector<ValueId> operands{*v, int_constant({start}), int_constant({end}), int_constant({axis})};
  if (step) operands.push_back(int_constant({*step}));
  return emit(op("strided_slice"), std::move(operands));
}

Result<ValueId> Emitter::join(const std::vector<Result<ValueId>>& parts, std::int64_t axis) const {
  return parts.size() == 1 ? parts.front() : emit(op("concatenate"), parts, {{"axis", axis}});
}

Result<ValueId> Emitter::shape_of(Result<ValueId> v) const { return emit(op("shape_of"), {v}); }

Result<ValueId> Emitter::shape_of(Result<ValueId> v, std::int64_t start, std::int64_t end) const {
  return emit(op("shape_of"), {v}, {{"end", end}, {"start", start}});
}

Result<ValueId> Emitter::whole_shape(ValueId v) const {
  const auto all = rank(v);
  if (!all) return Failure{};
  return shape_of(v, 0, *all);
}

Result<ValueId> Emitter::attention(Result<ValueId> q, Result<ValueId> k, Result<ValueId> v, Result<ValueId> mask,
                                   Attrs attrs) const {
  if (!q || !k) return Failure{};
  const auto heads = [&](ValueId x) { return type(x).ranked() && type(x).rank() == 4 ? dim(x, 1) : Dim(); };
  const Dim of_queries = heads(*q), of_keys = heads(*k);
  const bool grouped = of_queries.known() && of_keys.known() && of_queries != of_keys && !of_keys.is(1);
  return emit(grouped ? op("nn.attention") : op("nn.sdpa"), {q, k, v, mask}, std::move(attrs));
}

Result<ValueId> Emitter::erfc(Result<ValueId> x) const {
  if (!x) return x;
  const auto one_more = [&](Result<ValueId> positive) {
    const auto e = emit(op("erf"), {positive});
    return e ? emit(op("add"), {e, number_like(*e, 1)}) : e;
  };
  const Node& n = builder_->node(x->node);
  if (n.is(op("negative"))) return one_more(n.operands[0]);
  if (n.is(op("multiply")) && n.operands.size() == 2) {
    const std::array factors{n.operands[0], n.operands[1]};
    for (std::size_t i = 0; i < 2; ++i) {
      const Data* d = builder_->data(factors[i]);
      if (!d || !d->floats() || d->floats()->size() != 1 || d->floats()->front() >= 0) continue;
      return one_more(emit(op("multiply"), {factors[1 - i], number_like(factors[i], -d->floats()->front())}));
    }
    // −y / √2 with the sign on the other factor.
    for (std::size_t i = 0; i < 2; ++i) {
      const Node& factor = builder_->node(factors[i].node);
      if (factor.is(op("negative"))) return one_more(emit(op("multiply"), {factor.operands[0], factors[1 - i]}));
    }
  }
  return emit(op("erfc"), {x});
}

Result<ValueId> Emitter::complex(Result<ValueId> real, Result<ValueId> imaginary) const {
  const auto last = rank(real);
  if (!last || !imaginary) return Failure{};
  return emit(op("as_complex"), {join({expand_dims(real, {*last}), expand_dims(imaginary, {*last})}, *last)});
}

Result<ValueId> Emitter::full(Result<ValueId> shape, double value, DType dtype, Attrs attrs) const {
  auto data = std::make_shared<Data>();
  if (is_float(dtype)) data->elements = std::vector<double>{value};
  else data->elements = std::vector<SymInt>{SymInt(to_integer(value == value ? value : 0.0))};
  attrs.set("value", Literal{Type::tensor(dtype, {1}), std::move(data)});
  return emit(op("full"), {shape}, std::move(attrs));
}

ValueId Emitter::number(double value, DType dtype) const {
  if (is_float(dtype)) return constant(float_scalar(value, dtype));
  auto data = std::make_shared<Data>();
  data->elements = std::vector<SymInt>{value == value ? SymInt(to_integer(value)) : SymInt()};
  return constant({Type::tensor(dtype, {}), std::move(data)});
}

ValueId Emitter::uniform(double value, const Dim& length, DType dtype) const {
  const std::int64_t n = length.known() ? length.value() : 1;
  DataRef data;
  if (n <= Data::kMaxElements) {
    auto d = std::make_shared<Data>();
    d->elements = std::vector<double>(static_cast<std::size_t>(n), value);
    data = std::move(d);
  }
  return constant({Type::tensor(dtype, {n}), std::move(data)});
}

}  // namespace perfc
