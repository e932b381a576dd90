#include "frontends/torch/containers.h"

#include <fmt/format.h>

#include <algorithm>

namespace perfc::torch::python {

Status arity(Call& c, std::size_t least) {
  if (c.args.size() >= least) return ok();
  return c.error(fmt::format("takes {} arguments, got {}", least, c.args.size()));
}

Values container(Call& c, Value v) {
  if (is_bounded(v)) return one(std::move(v));
  if (const List* l = v.list()) l->items->clear();  // a cycle would keep itself alive
  if (const Dict* d = v.dict()) d->items->clear();
  return c.error("lists that hold too many items, or each other");
}

namespace {

void put(const Dict& d, const Value& key, const Value& value) {
  const auto old = std::ranges::find_if(*d.items, [&](const auto& kv) { return same_key(kv.first, key); });
  if (old != d.items->end()) old->second = value;
  else d.items->emplace_back(key, value);
}

/// Whether a value is of a type as annotations spell it: "Tensor", "list", "List[int]". Nothing: neither is certain.
std::optional<bool> is_of_type(const Value& v, std::string_view type) {
  const std::string_view name = type.substr(0, type.find('['));
  const Scalar* s = v.scalar();
  if (name == "Tensor") return v.tensor() != nullptr;
  if (name == "NoneType") return v.is_none();
  if (name == "str") return v.string() != nullptr;
  if (name == "int") return s && s->dtype == DType::Int64;
  if (name == "float") return s && s->dtype == DType::Float64;
  if (name == "bool") return s && s->dtype == DType::Bool;
  const bool of_items = name != type;
  const List* l = v.list();
  if (name == "list" || name == "List") {
    if (!l || l->kind != List::Kind::List) return false;
    if (!of_items || l->items->empty()) return true;
    return is_of_type(l->items->front(), type.substr(name.size() + 1, type.size() - name.size() - 2));
  }
  if (name == "tuple" || name == "Tuple") {
    if (!l || l->kind != List::Kind::Tuple) return false;
    return name == type ? std::optional(true) : std::nullopt;  // of as many items, each of its type
  }
  if (name == "dict" || name == "Dict") {
    if (!v.dict()) return false;
    return name == type ? std::optional(true) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

Values make_list(Call& c) { return container(c, Value::list(c.args)); }
Values make_tuple(Call& c) { return container(c, Value::list(c.args, List::Kind::Tuple)); }

Values make_dict(Call& c) {
  Dict d{std::make_shared<std::vector<std::pair<Value, Value>>>()};
  for (std::size_t i = 0; i + 1 < c.args.size(); i += 2) d.items->emplace_back(c.args[i], c.args[i + 1]);
  return container(c, d);
}

Values copy_dict(Call& c) {
  Dict d{std::make_shared<std::vector<std::pair<Value, Value>>>()};
  if (c.args.empty()) return one(d);
  if (const Dict* given = c.args[0].dict()) {
    *d.items = *given->items;
    return one(d);
  }
  const List* pairs = c.args[0].list();
  if (!pairs) return c.error(fmt::format("makes a dict of {}", c.args[0].kind()));
  for (const Value& item : *pairs->items) {
    const List* pair = item.list();
    if (!pair || pair->items->size() != 2) return c.error(fmt::format("makes a dict of {}, not of pairs", item.kind()));
    put(d, (*pair->items)[0], (*pair->items)[1]);
  }
  return container(c, d);
}

/// dict.update: a dict, or what a dict is made of.
Values update(Call& c) {
  if (!arity(c, 2)) return Failure{};
  const Dict *d = c.args[0].dict(), *more = c.args[1].dict();
  if (!d || !more) return c.error(fmt::format("updates {} by {}", c.args[0].kind(), c.args[1].kind()));
  for (const auto& [key, value] : std::vector(*more->items)) put(*d, key, value);
  return container(c, c.args[0]) ? nothing() : Failure{};
}

/// The types are in the node's attribute, as Python's annotations spell them.
Values is_instance(Call& c) {
  if (!arity(c, 1)) return Failure{};
  const List* types = c.args.size() > 1 ? c.args[1].list() : nullptr;
  if (!types) return c.error("the file does not say of which types; export it again");
  const Value& v = c.args[0];
  for (const Value& type : *types->items) {
    const std::string* name = type.string();
    const auto is = name ? is_of_type(v, *name) : std::nullopt;
    if (!is) return c.error(fmt::format("asks whether {} is of a type that is not known here", v.kind()));
    if (*is) return one(Scalar::truth(true));
  }
  return one(Scalar::truth(false));
}

Values unpack(Call& c) {
  if (!arity(c, 1)) return Failure{};
  const List* l = c.args[0].list();
  if (!l) return c.error(fmt::format("unpacks {}", c.args[0].kind()));
  if (l->items->size() != c.outputs()) {
    return c.error(fmt::format("unpacks {} items into {} names", l->items->size(), c.outputs()));
  }
  return std::vector<Value>(*l->items);
}

Result<std::size_t> position(Call& c, const Value& index, std::size_t size) {
  const Scalar* s = index.scalar();
  if (!s || s->is_float() || !s->integer.known()) return c.error("the index must be an int known when importing");
  const auto n = static_cast<std::int64_t>(size);
  const std::int64_t i = s->integer.value();
  if (i < -n || i >= n) return c.error(fmt::format("index {} is out of range for {} items", i, n));
  return static_cast<std::size_t>(i < 0 ? i + n : i);
}

bool same_key(const Value& a, const Value& b) {
  if (a.string() && b.string()) return *a.string() == *b.string();
  if (a.scalar() && b.scalar()) return a.scalar()->number() && a.scalar()->number() == b.scalar()->number();
  return false;
}

Values get_item(Call& c) {
  if (!arity(c, 2)) return Failure{};
  if (const Dict* d = c.args[0].dict()) {
    for (const auto& [key, value] : *d->items) {
      if (same_key(key, c.args[1])) return one(value);
    }
    return c.error("the dict has no such key");
  }
  const List* l = c.args[0].list();
  if (!l) return c.error(fmt::format("takes an item of {}", c.args[0].kind()));
  const auto i = position(c, c.args[1], l->items->size());
  if (!i) return Failure{};
  return one((*l->items)[*i]);
}

Values set_item(Call& c) {
  if (!arity(c, 3)) return Failure{};
  if (const Dict* d = c.args[0].dict()) {
    put(*d, c.args[1], c.args[2]);
    return container(c, c.args[0]) ? nothing() : Failure{};
  }
  const List* l = c.args[0].list();
  if (!l) return c.error(fmt::format("sets an item of {}", c.args[0].kind()));
  const auto i = position(c, c.args[1], l->items->size());
  if (!i) return Failure{};
  (*l->items)[*i] = c.args[2];
  return container(c, c.args[0]);
}

Values contains(Call& c) {
  if (!arity(c, 2)) return Failure{};
  if (const Dict* d = c.args[0].dict()) {
    return one(Scalar::truth(std::any_of(d->items->begin(), d->items->end(),
                                         [&](const auto& kv) { return same_key(kv.first, c.args[1]); })));
  }
  const List* l = c.args[0].list();
  if (!l) return c.error(fmt::format("looks into {}", c.args[0].kind()));
  return one(Scalar::truth(
      std::any_of(l->items->begin(), l->items->end(), [&](const Value& v) { return same_key(v, c.args[1]); })));
}

Values length(Call& c) {
  if (!arity(c, 1)) return Failure{};
  if (const List* l = c.args[0].list()) return one(Scalar::of(static_cast<std::int64_t>(l->items->size())));
  if (const Dict* d = c.args[0].dict()) return one(Scalar::of(static_cast<std::int64_t>(d->items->size())));
  if (const std::string* s = c.args[0].string()) return one(Scalar::of(static_cast<std::int64_t>(s->size())));
  if (const TensorRef* t = c.args[0].tensor()) {
    auto v = c.read(*t);
    if (!v) return Failure{};
    return one(c.size_of(*v, 0));
  }
  return c.error(fmt::format("{} has no length", c.args[0].kind()));
}

Values append(Call& c) {
  if (!arity(c, 2)) return Failure{};
  const List* l = c.args[0].list();
  if (!l) return c.error(fmt::format("appends to {}", c.args[0].kind()));
  l->items->push_back(c.args[1]);
  // Loops append tensors one by one: only containers and round sizes need a look.
  const bool look = c.args[1].list() || c.args[1].dict() || l->items->size() % 1024 == 0;
  return look ? container(c, c.args[0]) : one(c.args[0]);
}

Values extend(Call& c) {
  if (!arity(c, 2)) return Failure{};
  const List *a = c.args[0].list(), *b = c.args[1].list();
  if (!a || !b) return c.error("extends a list by a list");
  const std::vector<Value> more = *b->items;
  a->items->insert(a->items->end(), more.begin(), more.end());
  return container(c, c.args[0]) ? nothing() : Failure{};
}

Values insert(Call& c) {
  if (!arity(c, 3)) return Failure{};
  const List* l = c.args[0].list();
  if (!l) return c.error(fmt::format("inserts into {}", c.args[0].kind()));
  const auto i = position(c, c.args[1], l->items->size() + 1);
  if (!i) return Failure{};
  l->items->insert(l->items->begin() + static_cast<std::ptrdiff_t>(*i), c.args[2]);
  return container(c, c.args[0]) ? nothing() : Failure{};
}

Values pop(Call& c) {
  if (!arity(c, 1)) return Failure{};
  const List* l = c.args[0].list();
  if (!l) return c.error(fmt::format("pops from {}", c.args[0].kind()));
  const auto i = position(c, c.args.size() > 1 ? c.args[1] : Value(Scalar::of(std::int64_t{-1})), l->items->size());
  if (!i) return Failure{};
  Value v = (*l->items)[*i];
  l->items->erase(l->items->begin() + static_cast<std::ptrdiff_t>(*i));
  return one(std::move(v));
}

Values reverse(Call& c) {
  if (!arity(c, 1)) return Failure{};
  const List* l = c.args[0].list();
  if (!l) return c.error(fmt::format("reverses {}", c.args[0].kind()));
  std::reverse(l->items->begin(), l->items->end());
  return nothing();
}

Values copy_list(Call& c) {
  if (!arity(c, 1)) return Failure{};
  if (const List* l = c.args[0].list()) return one(Value::list(*l->items));
  return c.error(fmt::format("{} is no list", c.args[0].kind()));
}

Values slice_list(Call& c, const List& l) {
  const auto n = static_cast<std::int64_t>(l.items->size());
  const auto bound = [&](std::size_t i, std::int64_t fallback) -> Result<std::int64_t> {
    if (i >= c.args.size() || c.args[i].is_none()) return fallback;
    const Scalar* s = c.args[i].scalar();
    if (!s || !s->integer.known()) return c.error("slices a list at a place that is not known when importing");
    return std::clamp<std::int64_t>(s->integer.value() < 0 ? s->integer.value() + n : s->integer.value(), 0, n);
  };
  const auto start = bound(1, 0), end = bound(2, n);
  if (!start || !end) return Failure{};
  std::int64_t step = 1;
  if (c.args.size() > 3 && c.args[3].scalar() && c.args[3].scalar()->integer.known())
    step = c.args[3].scalar()->integer.value();
  if (step < 1) return c.error(fmt::format("slices a list in steps of {}", step));
  std::vector<Value> out;
  for (std::int64_t i = *start; i < *end; i += step) out.push_back((*l.items)[static_cast<std::size_t>(i)]);
  return one(Value::list(std::move(out)));
}

/// What `range` loops count by, which scripts write out: __range_length(start, end, step) and
/// __derive_index(index, start, step).
Values range_number(Call& c) {
  if (!arity(c, 3)) return Failure{};
  std::int64_t n[3];
  for (std::size_t i = 0; i < 3; ++i) {
    const Scalar* s = c.args[i].scalar();
    if (!s || s->is_float() || !s->integer.known()) return c.error("counts by what is not known when importing");
    n[i] = s->integer.value();
  }
  const std::int64_t step = n[2];
  std::int64_t out = 0;
  if (c.operation.op == "aten::__derive_index") {
    if (__builtin_mul_overflow(n[0], step, &out) || __builtin_add_overflow(out, n[1], &out))
      return c.error("counts too far");
    return one(Scalar::of(out));
  }
  if (step == 0 || step == INT64_MIN || __builtin_sub_overflow(n[1], n[0], &out)) return c.error("counts too far");
  if (step < 0 && out == INT64_MIN) return c.error("counts too far");
  const std::int64_t span = step < 0 ? -out : out, stride = step < 0 ? -step : step;
  return one(Scalar::of(span <= 0 ? 0 : (span - 1) / stride + 1));
}

Values dict_part(Call& c) {
  if (!arity(c, 1)) return Failure{};
  const Dict* d = c.args[0].dict();
  if (!d) return c.error(fmt::format("{} is no dict", c.args[0].kind()));
  std::vector<Value> out;
  for (const auto& [key, value] : *d->items) {
    if (c.operation.op == "aten::keys") out.push_back(key);
    else if (c.operation.op == "aten::values") out.push_back(value);
    else out.push_back(Value::list({key, value}, List::Kind::Tuple));
  }
  return one(Value::list(std::move(out)));
}

}  // namespace perfc::torch::python
