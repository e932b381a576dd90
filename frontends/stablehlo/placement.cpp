/// How values are placed: views, broadcasts, and operators that work element by element.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "frontends/common/permutation.h"
#include "frontends/stablehlo/importer.h"

namespace perfc::stablehlo {
namespace {

constexpr int kDropped = Value::kDropped;

/// Are the dims of the base the last ones of the value, in order?
bool is_aligned(const Value& v) {
  const int missing = static_cast<int>(v.type.rank()) - static_cast<int>(v.where.size());
  if (missing < 0) return false;
  for (std::size_t i = 0; i < v.where.size(); ++i) {
    if (v.where[i] != missing + static_cast<int>(i)) return false;
  }
  return true;
}

/// Gives dims of extent 1 that were dropped a place between their neighbours, where there is one.
void place_dropped(Value& v) {
  int after = -1;
  for (std::size_t i = 0; i < v.where.size(); ++i) {
    if (v.where[i] != kDropped) {
      after = v.where[i];
      continue;
    }
    int before = static_cast<int>(v.type.rank());
    for (std::size_t j = i + 1; j < v.where.size(); ++j) {
      if (v.where[j] != kDropped) {
        before = v.where[j];
        break;
      }
    }
    if (after + 1 < before) v.where[i] = ++after;
  }
}

std::vector<std::size_t> longer_dims(const Shape& shape) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (!shape[i].is(1)) out.push_back(i);
  }
  return out;
}

}  // namespace

Value Call::whole(ValueId v) const {
  Value out{.base = v, .type = type(v)};
  for (std::size_t i = 0; out.type.is_tensor() && out.type.ranked() && i < out.type.rank(); ++i)
    out.where.push_back(static_cast<int>(i));
  return out;
}

Result<Value> Call::whole(Result<ValueId> v) const {
  if (!v) return Failure{};
  return whole(*v);
}

Result<ValueId> Call::aligned(const Value& v) const {
  if (!v.base) return error("an operand is no tensor");
  if (v.scalar() || is_aligned(v)) return v.base;
  Ints dropped, added;
  std::vector<int> kept;
  for (std::size_t i = 0; i < v.where.size(); ++i) {
    if (v.where[i] == kDropped) dropped.push_back(static_cast<std::int64_t>(i));
    else kept.push_back(v.where[i]);
  }
  for (int i = kept.empty() ? static_cast<int>(v.type.rank()) : kept.front(); i < static_cast<int>(v.type.rank());
       ++i) {
    if (std::ranges::find(kept, i) == kept.end()) added.push_back(i - kept.front());
  }
  Result<ValueId> out = v.base;
  if (!dropped.empty()) out = squeeze(out, dropped);
  if (!added.empty()) out = expand_dims(out, added);
  return out;
}

Result<ValueId> Call::tensor(const Value& v) const {
  auto out = aligned(v);
  if (!out || !v.type.is_tensor() || !v.type.ranked()) return out;
  const Type now = type(*out);
  if (!now.ranked() || now.shape() == v.type.shape()) return out;
  const bool covers = now.rank() == v.type.rank() &&
                      std::equal(now.shape().begin(), now.shape().end(), v.type.shape().begin(),
                                 [](const Dim& a, const Dim& b) { return a == b || (!a.is(1) && !b.known()); });
  if (covers) return out;
  Ints front;
  const std::size_t missing = v.type.rank() - std::min(v.type.rank(), now.rank());
  for (std::size_t i = 0; i < missing && v.type.shape()[i].is(1); ++i) front.push_back(static_cast<std::int64_t>(i));
  const bool only_front =
      front.size() == missing &&
      std::equal(now.shape().begin(), now.shape().end(), v.type.shape().begin() + static_cast<std::ptrdiff_t>(missing));
  if (only_front) return expand_dims(out, front);
  ValueId target = v.extents;
  if (!target) {
    auto data = std::make_shared<Data>();
    data->elements = std::vector<SymInt>(v.type.shape().begin(), v.type.shape().end());
    target = constant({Type::tensor(DType::Int64, {static_cast<std::int64_t>(v.type.rank())}), std::move(data)});
  }
  return emit(op("broadcast_to"), {*out, target});
}

Result<std::vector<ValueId>> Call::tensors(std::size_t from, std::size_t to) const {
  std::vector<ValueId> out;
  for (std::size_t i = from; i < to; ++i) {
    auto v = tensor(i);
    if (!v) return Failure{};
    out.push_back(*v);
  }
  return out;
}

Result<Value> Call::pointwise(OpId op, std::vector<const Value*> values, Attrs attrs) const {
  const Value* frame = nullptr;  // where the first operand with dims has them
  bool same_place = true;
  for (const Value* v : values) {
    if (v->scalar()) continue;
    if (!frame) frame = v;
    same_place = same_place && v->where == frame->where;
  }
  std::vector<ValueId> operands;
  for (const Value* v : values) {
    auto id = same_place ? Result<ValueId>(v->base) : aligned(*v);
    if (!id) return Failure{};
    operands.push_back(*id);
  }
  auto result = emit(op, std::move(operands), std::move(attrs));
  if (!result) return Failure{};
  Value out{.base = *result};
  Shape shape = (frame ? *frame : *values.front()).type.shape();
  for (const Value* v : values) {
    for (std::size_t i = 0; i < shape.size() && v->type.rank() == shape.size(); ++i) {
      if (!shape[i].known() && v->type.shape()[i].known()) shape[i] = v->type.shape()[i];
    }
    if (v->extents) out.extents = v->extents;
  }
  out.type = Type::tensor(dtype(*result), std::move(shape));
  if (frame && same_place) {
    out.where = frame->where;
  } else {
    const std::size_t missing = out.type.rank() - std::min(out.type.rank(), type(*result).rank());
    for (std::size_t i = missing; i < out.type.rank(); ++i) out.where.push_back(static_cast<int>(i));
  }
  return out;
}

Result<Value> Call::broadcast(const Value& v, const Ints& dims, const Type& to, ValueId extents) const {
  if (!to.ranked() || dims.size() != v.type.rank())
    return error(fmt::format("places {} dims of a value of rank {}", dims.size(), v.type.rank()));
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] < 0 || dims[i] >= static_cast<std::int64_t>(to.rank()))
      return error(fmt::format("dim {} is not one of {}", dims[i], to_string(to)));
  }
  if (!std::ranges::is_sorted(dims)) {
    Ints order(dims.size()), sorted = dims;
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, {}, [&](std::int64_t i) { return dims[static_cast<std::size_t>(i)]; });
    std::ranges::sort(sorted);
    auto turned = permuted(v, order);
    return turned ? broadcast(*turned, sorted, to, extents) : turned;
  }
  Value out{.base = v.base, .type = to.with_dtype(v.type.dtype()), .where = v.where, .extents = extents};
  for (int& w : out.where) {
    if (w != kDropped) w = static_cast<int>(dims[static_cast<std::size_t>(w)]);
  }
  place_dropped(out);
  // Dims that the file leaves open are those of the operand.
  Shape shape = out.type.shape();
  for (std::size_t i = 0; i < dims.size(); ++i) {
    Dim& d = shape[static_cast<std::size_t>(dims[i])];
    if (!d.known() && !v.type.shape()[i].is(1)) d = v.type.shape()[i];
  }
  out.type = Type::tensor(v.type.dtype(), std::move(shape));
  return out;
}

Result<Value> Call::reshaped(const Value& v, const Type& to, ValueId extents) const {
  const auto from = longer_dims(v.type.shape()), onto = longer_dims(to.shape());
  bool same = from.size() == onto.size();
  for (std::size_t i = 0; same && i < from.size(); ++i) {
    const Dim &a = v.type.shape()[from[i]], &b = to.shape()[onto[i]];
    same = a == b || (!b.known() && from.size() == 1);
  }
  if (v.scalar() || same) {
    Value out{.base = v.base, .type = to.with_dtype(v.type.dtype()), .where = v.where, .extents = extents};
    for (int& w : out.where) {
      const auto it = w == kDropped ? from.end() : std::ranges::find(from, static_cast<std::size_t>(w));
      w = it == from.end() ? kDropped : static_cast<int>(onto[static_cast<std::size_t>(it - from.begin())]);
    }
    place_dropped(out);
    Shape shape = to.shape();
    for (std::size_t i = 0; same && i < from.size(); ++i) shape[onto[i]] = v.type.shape()[from[i]];
    out.type = Type::tensor(v.type.dtype(), std::move(shape));
    return out;
  }
  auto x = tensor(v);
  if (!x) return Failure{};
  if (const Node& n = builder().node(x->node); n.is(op("reshape")) && to.is_static()) {
    const ValueId source = n.operands[0];  // a view of a view
    if (type(source).is_static() && type(source).shape() == to.shape()) return whole(source);
    if (type(source).is_static()) x = source;
  }
  Ints target;
  std::size_t open = 0;
  for (const Dim& d : to.shape()) {
    target.push_back(d.known() ? d.value() : -1);
    open += d.known() ? 0 : 1;
  }
  if (extents && open > 0) return whole(emit(op("reshape"), {*x, extents}));
  if (open > 1) return error("several dims of its result are open");
  return whole(reshape(*x, target));
}

Result<ValueId> Call::transposed(Result<ValueId> v, const Ints& perm) const {
  if (!v || is_identity(perm)) return v;
  const Node& n = builder().node(v->node);
  if (!n.is(op("transpose"))) return transpose(*v, perm);
  const Ints inner = n.attrs.ints_or_empty("perm");
  const ValueId source = n.operands[0];
  Ints both;
  for (std::int64_t p : perm) both.push_back(inner[static_cast<std::size_t>(p)]);
  return is_identity(both) ? Result<ValueId>(source) : transpose(source, both);
}

Result<Value> Call::permuted(const Value& v, const Ints& perm) const {
  Ints seen = perm;
  std::ranges::sort(seen);
  if (perm.size() != v.type.rank() || !is_identity(seen))
    return error(fmt::format("[{}] is no order of {} dims", fmt::join(perm, ", "), v.type.rank()));
  Value out = v;
  Shape shape;
  for (std::int64_t p : perm) shape.push_back(v.type.shape()[static_cast<std::size_t>(p)]);
  out.type = Type::tensor(v.type.dtype(), std::move(shape));
  out.extents = {};
  Ints place(perm.size());
  for (std::size_t i = 0; i < perm.size(); ++i) place[static_cast<std::size_t>(perm[i])] = static_cast<std::int64_t>(i);
  if (std::ranges::find(out.where, kDropped) != out.where.end()) return whole(transposed(tensor(v), perm));
  // Dims of extent 1 need not be moved; where the others keep their order, nothing is.
  Ints order(v.where.size());
  std::iota(order.begin(), order.end(), 0);
  for (int& w : out.where) w = static_cast<int>(place[static_cast<std::size_t>(w)]);
  std::ranges::sort(order, {}, [&](std::int64_t i) { return out.where[static_cast<std::size_t>(i)]; });
  std::ranges::sort(out.where);
  auto turned = transposed(v.base, order);
  if (!turned) return Failure{};
  out.base = *turned;
  return out;
}

Result<ValueId> Call::reduction(OpId name, ValueId v, const Ints& axes) const {
  const auto key = std::tuple(name, v, axes);
  if (const auto it = scope.site.reductions.find(key); it != scope.site.reductions.end()) return it->second;
  auto out = emit(name, {v, int_constant(axes)}, {{"keepdims", std::int64_t{1}}});
  if (out) scope.site.reductions.emplace(key, *out);
  return out;
}

Value Call::without(const Value& v, const Ints& axes) const {
  Value out = v;
  Shape shape;
  for (std::size_t i = 0; i < v.type.rank(); ++i) {
    const bool gone = std::ranges::find(axes, static_cast<std::int64_t>(i)) != axes.end();
    for (std::size_t k = 0; k < v.where.size(); ++k) {
      if (v.where[k] == static_cast<int>(i)) out.where[k] = gone ? kDropped : static_cast<int>(shape.size());
    }
    if (!gone) shape.push_back(v.type.shape()[i]);
  }
  out.type = Type::tensor(v.type.dtype(), std::move(shape));
  out.extents = {};
  return out;
}

}  // namespace perfc::stablehlo
