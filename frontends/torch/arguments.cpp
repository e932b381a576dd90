/// Arguments of a call by the names of the schema: read, checked, in the kind that was asked for.
#include <algorithm>

#include "frontends/torch/aten_table.h"

namespace perfc::torch {

const Value& Call::arg(std::string_view parameter) const {
  static const Value nothing;
  if (!row) return nothing;
  const auto& all = slots(*row);
  for (std::size_t i = 0; i < all.size() && i < args.size(); ++i) {
    if (all[i].name == parameter || all[i].attribute == parameter) return args[i];
  }
  return nothing;
}

bool Call::given(std::string_view parameter) const {
  const Value& v = arg(parameter);
  return v.given() && !v.is_none();
}

Result<ValueId> Call::tensor(std::string_view parameter) {
  const Value& v = arg(parameter);
  if (const TensorRef* t = v.tensor()) return read(*t);
  if (const Scalar* s = v.scalar()) return scalar_tensor(*s, s->is_float() ? DType::Float32 : s->dtype);
  return error(fmt::format("'{}' must be a tensor, is {}", parameter, v.kind()));
}

Result<ValueId> Call::tensor_or_none(std::string_view parameter) {
  if (!given(parameter)) return ValueId{};
  return tensor(parameter);
}

Result<std::vector<ValueId>> Call::tensors(std::string_view parameter) {
  const Value& v = arg(parameter);
  const List* l = v.list();
  if (!l) return error(fmt::format("'{}' must be a list of tensors, is {}", parameter, v.kind()));
  std::vector<ValueId> out;
  for (const Value& item : *l->items) {
    const TensorRef* t = item.tensor();
    if (!t) return error(fmt::format("'{}' must hold tensors, holds {}", parameter, item.kind()));
    auto r = read(*t);
    if (!r) return Failure{};
    out.push_back(*r);
  }
  return out;
}

Result<std::int64_t> Call::integer(std::string_view parameter) {
  const Value& v = arg(parameter);
  if (const Scalar* s = v.scalar()) {
    if (!s->is_float() && s->integer.known()) return s->integer.value();
    if (s->is_float() && s->real &&
        *s->real == static_cast<double>(static_cast<std::int64_t>(std::clamp(*s->real, -9e15, 9e15)))) {
      return static_cast<std::int64_t>(*s->real);
    }
    return error(fmt::format("'{}' must be known when importing; bind open dims with --dim or --shape", parameter));
  }
  if (const TensorRef* t = v.tensor()) {
    auto r = read(*t);
    if (!r) return Failure{};
    const Data* d = data(*r);
    if (d && d->ints() && d->size() == 1 && d->fully_known()) return (*d->ints())[0].value();
    return error(fmt::format("'{}' must be known when importing", parameter));
  }
  return error(fmt::format("'{}' must be an int, is {}", parameter, v.kind()));
}

Result<std::int64_t> Call::integer_or(std::string_view parameter, std::int64_t fallback) {
  if (!given(parameter)) return fallback;
  return integer(parameter);
}

Result<double> Call::real(std::string_view parameter) {
  const Value& v = arg(parameter);
  if (const Scalar* s = v.scalar()) {
    if (const auto n = s->number()) return *n;
    return error(fmt::format("'{}' must be known when importing", parameter));
  }
  return error(fmt::format("'{}' must be a number, is {}", parameter, v.kind()));
}

Result<double> Call::real_or(std::string_view parameter, double fallback) {
  if (!given(parameter)) return fallback;
  return real(parameter);
}

Result<bool> Call::flag_or(std::string_view parameter, bool fallback) {
  if (!given(parameter)) return fallback;
  auto v = integer(parameter);
  if (!v) return Failure{};
  return *v != 0;
}

std::string Call::text_or(std::string_view parameter, std::string_view fallback) const {
  const std::string* s = arg(parameter).string();
  return s ? *s : std::string(fallback);
}

Result<std::vector<std::int64_t>> Call::ints(std::string_view parameter) {
  const Value& v = arg(parameter);
  if (v.scalar()) {
    auto one = integer(parameter);
    if (!one) return Failure{};
    return std::vector<std::int64_t>{*one};
  }
  const auto all = symbolic_ints(parameter);
  if (!all) return Failure{};
  std::vector<std::int64_t> out;
  for (const SymInt& each : *all) {
    if (!each.known()) {
      return error(fmt::format("'{}' must be known when importing; bind open dims with --dim or --shape", parameter));
    }
    out.push_back(each.value());
  }
  return out;
}

Result<std::vector<SymInt>> Call::symbolic_ints(std::string_view parameter) {
  const Value& v = arg(parameter);
  const List* l = v.list();
  if (!l) return error(fmt::format("'{}' must be a list of ints, is {}", parameter, v.kind()));
  std::vector<SymInt> out;
  for (const Value& item : *l->items) {
    if (const Scalar* s = item.scalar()) {
      out.push_back(s->integer);
    } else if (const TensorRef* t = item.tensor()) {
      auto r = read(*t);
      if (!r) return Failure{};
      out.push_back(scalar_of(*r, DType::Int64).integer);
    } else {
      return error(fmt::format("'{}' must hold ints, holds {}", parameter, item.kind()));
    }
  }
  return out;
}

Result<std::vector<std::int64_t>> Call::spread(std::string_view parameter, std::size_t count, std::int64_t fallback) {
  if (!given(parameter)) return std::vector<std::int64_t>(count, fallback);
  auto v = ints(parameter);
  if (!v) return Failure{};
  if (v->empty()) v->assign(count, fallback);
  if (v->size() == 1) v->assign(count, v->front());
  if (v->size() != count) {
    return error(fmt::format("'{}' has {} entries, {} are needed", parameter, v->size(), count));
  }
  return v;
}

Result<DType> Call::dtype_or(std::string_view parameter, DType fallback) {
  const Value& v = arg(parameter);
  const Scalar* s = v.scalar();
  if (!v.given() || v.is_none()) return fallback;
  if (s && !s->is_float() && s->integer.known()) {
    const DType d = dtype_of(s->integer.value());
    if (d != DType::Undefined) return d;
    return error(
        fmt::format("'{}' is element type {} of torch, which perfc does not know", parameter, s->integer.value()));
  }
  return error(fmt::format("'{}' must be an element type, is {}", parameter, v.kind()));
}

Result<ValueId> Call::int_vector(std::string_view parameter) {
  const Value& v = arg(parameter);
  if (v.scalar()) return int_vector(std::vector<Value>{v});
  if (const List* l = v.list()) return int_vector(*l->items);
  return error(fmt::format("'{}' must be a list of ints, is {}", parameter, v.kind()));
}

Result<ValueId> Call::int_vector(const std::vector<Value>& items) {
  std::vector<ValueId> parts;
  std::vector<std::int64_t> run;
  const auto flush = [&] {
    if (!run.empty()) parts.push_back(int_constant(run));
    run.clear();
  };
  for (const Value& item : items) {
    if (const TensorRef* t = item.tensor()) {
      auto v = read(*t);
      if (!v) return Failure{};
      flush();
      auto wide = cast(*v, DType::Int64);
      if (!wide) return Failure{};
      auto vector = reshape(*wide, {1});
      if (!vector) return Failure{};
      parts.push_back(*vector);
      continue;
    }
    const Scalar* s = item.scalar();
    if (!s || s->is_float()) return error(fmt::format("a list of ints holds {}", item.kind()));
    if (s->literal()) {
      if (!s->integer.known()) return error("a list of ints holds one that is not known");
      run.push_back(s->integer.value());
      continue;
    }
    flush();
    auto v = vector_of(*s);
    if (!v) return Failure{};
    parts.push_back(*v);
  }
  flush();
  if (parts.empty()) return int_constant({});
  if (parts.size() == 1) return parts.front();
  return emit(op("concatenate"), std::move(parts), {{"axis", std::int64_t{0}}});
}

Result<std::size_t> Call::axis(std::int64_t given, std::size_t rank) {
  // A 0-d tensor counts as one dim, as torch has it.
  const auto r = static_cast<std::int64_t>(std::max<std::size_t>(rank, 1));
  if (given < -r || given >= r) return error(fmt::format("dim {} is out of range for rank {}", given, rank));
  return static_cast<std::size_t>(given < 0 ? given + r : given);
}

Result<std::size_t> Call::axis(std::string_view parameter, std::size_t rank) {
  auto v = integer(parameter);
  if (!v) return Failure{};
  return axis(*v, rank);
}

Result<std::vector<std::int64_t>> Call::axes(const std::vector<std::int64_t>& given, std::size_t rank) {
  std::vector<std::int64_t> out;
  for (const std::int64_t d : given) {
    const auto a = axis(d, rank);
    if (!a) return Failure{};
    out.push_back(static_cast<std::int64_t>(*a));
  }
  return out;
}

}  // namespace perfc::torch
