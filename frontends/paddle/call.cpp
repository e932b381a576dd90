#include "frontends/paddle/call.h"

#include <algorithm>
#include <cmath>

#include "frontends/paddle/table.h"

namespace perfc::paddle {
namespace {

/// Do two lists of alternatives share a name?
bool share(std::string_view a, std::string_view b) {
  while (!a.empty()) {
    const std::string_view word = next_word(a, '|');
    std::string_view rest = b;
    while (!rest.empty()) {
      if (next_word(rest, '|') == word) return true;
    }
  }
  return false;
}

std::string node_name(const Operation& o) {
  std::string_view output;
  for (const Slot& s : o.outputs) {
    if (s.values.empty()) continue;
    output = s.values.front();
    break;
  }
  std::string_view scope = o.scope;
  if (scope.starts_with('/')) scope.remove_prefix(1);
  return scope.empty() ? std::string(output) : fmt::format("{}{}{}", scope, scope.ends_with('/') ? "" : "/", output);
}

std::string_view first_of(std::string_view names) { return names.substr(0, names.find('|')); }

}  // namespace

Call::Call(Importer& i, Frame& f, const Operation& o, const PaddleRow* r)
    : Emitter(f.builder, o.loc, node_name(o), std::string(o.type)), importer(i), frame(f), operation(o), row(r) {}

Values Call::unpriced() {
  opaque = true;
  return std::vector<ValueId>{};
}

Status Call::resolve() {
  const bool pir = importer.dialect() == Dialect::Pir;
  std::string_view params = row ? row->inputs : std::string_view{};
  for (const Slot& s : operation.inputs) {
    const std::string_view param = pir ? next_word(params, ' ') : s.name;
    if (s.values.empty()) continue;
    std::vector<ValueId> values;
    for (std::string_view v : s.values) {
      auto binding = importer.look_up(frame, v, operation);
      if (!binding) return Failure{};
      values.insert(values.end(), binding->values.begin(), binding->values.end());
    }
    operands_.emplace_back(param, std::move(values));
  }
  return ok();
}

const std::vector<ValueId>* Call::operands(std::string_view names) const {
  while (!names.empty()) {
    const std::string_view word = next_word(names, '|');
    for (const auto& [param, values] : operands_) {
      if (share(param, word)) return &values;
    }
  }
  return nullptr;
}

const Attr* Call::attr(std::string_view names) const {
  while (!names.empty()) {
    if (const Attr* a = operation.attr(next_word(names, '|'))) return a;
  }
  return nullptr;
}

bool Call::given(std::string_view names) const { return operands(names) || attr(names); }

Operand Call::tensor(std::string_view names) {
  auto v = tensor_or_none(names);
  if (v && !*v) return error(fmt::format("has no operand '{}'", first_of(names)));
  return v;
}

Operand Call::tensor_or_none(std::string_view names) {
  const auto* values = operands(names);
  if (!values) return ValueId{};
  if (values->size() != 1)
    return error(fmt::format("operand '{}' has {} values, one is needed", first_of(names), values->size()));
  return values->front();
}

Values Call::tensors(std::string_view names) {
  const auto* values = operands(names);
  if (!values || values->empty()) return error(fmt::format("has no operands '{}'", first_of(names)));
  return *values;
}

std::int64_t Call::integer_or(std::string_view names, std::int64_t fallback) const {
  const Attr* a = attr(names);
  if (!a) return fallback;
  if (const auto* i = std::get_if<std::int64_t>(a)) return *i;
  const auto* d = std::get_if<double>(a);
  return d && std::abs(*d) < 9e15 ? static_cast<std::int64_t>(*d) : fallback;
}

double Call::real_or(std::string_view names, double fallback) const {
  const Attr* a = attr(names);
  if (!a) return fallback;
  if (const auto* d = std::get_if<double>(a)) return *d;
  const auto* i = std::get_if<std::int64_t>(a);
  return i ? static_cast<double>(*i) : fallback;
}

bool Call::flag(std::string_view names, bool fallback) const { return integer_or(names, fallback ? 1 : 0) != 0; }

std::string_view Call::text_or(std::string_view names, std::string_view fallback) const {
  const Attr* a = attr(names);
  const auto* s = a ? std::get_if<std::string>(a) : nullptr;
  return s && !s->empty() ? std::string_view(*s) : fallback;
}

Result<Ints> Call::ints(std::string_view names) const {
  if (const auto* values = operands(names)) {
    Ints out;
    for (ValueId v : *values) {
      const Data* d = data(v);
      if (d && d->ints() && d->fully_known()) {
        for (const SymInt& i : *d->ints()) out.push_back(i.value());
      } else if (d && d->floats()) {
        for (double x : *d->floats()) out.push_back(static_cast<std::int64_t>(std::clamp(x, -9e15, 9e15)));
      } else {
        return error(
            fmt::format("'{}' must be known when importing; bind open dims with --dim or --shape", first_of(names)));
      }
    }
    return out;
  }
  const Attr* a = attr(names);
  if (!a) return error(fmt::format("has no attribute '{}'", first_of(names)));
  if (const auto* list = std::get_if<Ints>(a)) return *list;
  if (const auto* i = std::get_if<std::int64_t>(a)) return Ints{*i};
  // A list without elements carries no kind; reals where integers belong come from scalars.
  if (const auto* d = std::get_if<double>(a); d && std::abs(*d) < 9e15) return Ints{static_cast<std::int64_t>(*d)};
  if (const auto* reals = std::get_if<std::vector<double>>(a)) {
    Ints out;
    for (double x : *reals) out.push_back(static_cast<std::int64_t>(x == x ? std::clamp(x, -9e15, 9e15) : 0));
    return out;
  }
  return error(fmt::format("attribute '{}' must be a list of integers", first_of(names)));
}

Result<Ints> Call::ints_or(std::string_view names, Ints fallback) const {
  if (!given(names)) return fallback;
  return ints(names);
}

Result<std::int64_t> Call::integer(std::string_view names) const {
  const auto all = ints(names);
  if (!all) return Failure{};
  if (all->size() != 1) return error(fmt::format("'{}' must be one integer, is {}", first_of(names), all->size()));
  return all->front();
}

Result<double> Call::real(std::string_view names, double fallback) const {
  const auto* values = operands(names);
  if (!values) return real_or(names, fallback);
  const Data* d = values->size() == 1 ? data(values->front()) : nullptr;
  if (d && d->size() == 1 && d->floats()) return (*d->floats())[0];
  if (d && d->size() == 1 && d->ints() && d->fully_known()) return static_cast<double>((*d->ints())[0].value());
  return error(fmt::format("'{}' must be known when importing", first_of(names)));
}

DType Call::dtype_or(std::string_view names, DType fallback) const {
  const Attr* a = attr(names);
  if (!a) return fallback;
  DType d = DType::Undefined;
  if (const auto* i = std::get_if<std::int64_t>(a)) d = dtype_of(*i);
  if (const auto* s = std::get_if<std::string>(a)) d = dtype_of(std::string_view(*s));
  return d == DType::Undefined ? fallback : d;
}

Operand Call::int_vector(std::string_view names) {
  const auto* values = operands(names);
  if (!values) {
    const auto known = ints(names);
    if (!known) return Failure{};
    return int_constant(*known);
  }
  std::vector<Operand> parts;
  for (ValueId v : *values) {
    auto part = cast(v, DType::Int64);
    if (!part) return Failure{};
    const Type& t = type(*part);
    if (!t.is_tensor() || !t.ranked() || t.rank() != 1) part = reshape(part, {-1});
    parts.push_back(part);
  }
  if (parts.empty()) return int_constant({});
  if (parts.size() == 1) return parts.front();
  return emit(op("concatenate"), parts, {{"axis", std::int64_t{0}}});
}

std::vector<std::string_view> Call::outputs() const {
  std::vector<std::string_view> out;
  for (const Slot& s : operation.outputs) out.insert(out.end(), s.values.begin(), s.values.end());
  return out;
}

const Slot* Call::output(std::string_view names, std::size_t position) const {
  if (importer.dialect() == Dialect::Pir)
    return position < operation.outputs.size() ? &operation.outputs[position] : nullptr;
  for (const Slot& s : operation.outputs) {
    if (share(s.name, names)) return &s;
  }
  return nullptr;
}

std::size_t Call::results_of(const Slot& slot) const {
  if (importer.dialect() == Dialect::Descriptor) return slot.values.size();
  return slot.values.empty() ? 0 : importer.declared_items(frame, slot.values.front());
}

std::size_t Call::list_results() const {
  std::string_view columns = row->outputs;
  for (std::size_t position = 0; !columns.empty(); ++position) {
    std::string_view column = next_word(columns, ' ');
    if (!column.ends_with('*')) continue;
    column.remove_suffix(1);
    const Slot* slot = output(column, position);
    return slot ? results_of(*slot) : 0;
  }
  return 0;
}

void Call::bind_list(std::string_view name, std::vector<ValueId> items) {
  frame.values[name] = {.kind = Binding::Kind::List, .values = std::move(items)};
}

std::vector<ValueId> Call::list_named(std::string_view name) const {
  const auto found = frame.values.find(name);
  return found == frame.values.end() ? std::vector<ValueId>{} : found->second.values;
}

std::vector<ValueId> Call::all_operands() const {
  std::vector<ValueId> out;
  for (const auto& [param, values] : operands_) out.insert(out.end(), values.begin(), values.end());
  return out;
}

// ---- Types

Result<std::int64_t> Call::one_axis(std::string_view names, std::int64_t rank, std::int64_t fallback) const {
  const auto given = ints_or(names, {fallback});
  if (!given) return Failure{};
  if (given->size() != 1) return error("'axis' must be one integer");
  return axis(given->front(), rank);
}

// ---- Graph

Values one_to_one(Call& c) {
  std::vector<Operand> operands;
  std::string_view inputs = c.row->inputs;
  while (!inputs.empty()) {
    auto v = c.tensor_or_none(next_word(inputs, ' '));
    if (!v) return Failure{};
    operands.push_back(v);
  }
  while (!operands.empty() && !*operands.back()) operands.pop_back();
  Attrs attrs;
  std::string_view mappings = c.row->attrs;
  while (!mappings.empty()) {
    std::string_view mapping = next_word(mappings, ' ');
    const bool real = mapping.starts_with('~');
    if (real) mapping.remove_prefix(1);
    const std::string_view theirs = next_word(mapping, '='), name = mapping.empty() ? theirs : mapping;
    const Attr* a = c.attr(theirs);
    if (!a) continue;
    const auto* i = std::get_if<std::int64_t>(a);
    if (real && i) attrs.set(name, static_cast<double>(*i));
    else attrs.set(name, *a);
  }
  return one(c.emit(c.row->op, operands, std::move(attrs)));
}

}  // namespace perfc::paddle
