/// What translators see of an operation: operands, attributes.
#include <fmt/format.h>

#include "frontends/stablehlo/importer.h"
#include "ir/counted_rounds.h"

namespace perfc::stablehlo {

Call::Call(Importer& i, Scope& s, const Operation& o)
    : Emitter(s.site.builder, o.loc, i.name_of(o), std::string(o.name)), importer(i), scope(s), operation(o) {}

std::optional<double> Call::number_of(const Value& v) const {
  const Data* d = v.base ? data(v.base) : nullptr;
  if (!d || d->size() == 0) return std::nullopt;
  if (const auto* f = d->floats()) {
    for (double x : *f) {
      if (x != f->front() && !(x != x && f->front() != f->front())) return std::nullopt;
    }
    return f->front();
  }
  if (!d->ints() || !d->fully_known()) return std::nullopt;
  for (const SymInt& x : *d->ints()) {
    if (x != d->ints()->front()) return std::nullopt;
  }
  return static_cast<double>(d->ints()->front().value());
}

std::optional<std::int64_t> Call::integer_of(std::size_t i) const {
  return operands[i].base ? known_integer(builder(), operands[i].base) : std::nullopt;
}

std::optional<Emitter::Ints> Call::ints_of(std::size_t i) const {
  const Data* d = data(operands[i].base);
  if (!d || !d->ints() || !d->fully_known()) return std::nullopt;
  Ints out;
  for (const SymInt& s : *d->ints()) out.push_back(s.value());
  const auto count = operands[i].type.elements();
  if (operands[i].scalar() && out.size() == 1 && count && *count <= Data::kMaxElements)
    out.assign(static_cast<std::size_t>(*count), out[0]);
  return count == static_cast<std::int64_t>(out.size()) ? std::optional(out) : std::nullopt;
}

const Node* Call::made_by(const Value& v, OpId op) const {
  if (!v.base) return nullptr;
  const Node& n = builder().node(v.base.node);
  return n.is(op) && v.base.result == 0 ? &n : nullptr;
}

std::optional<Emitter::Ints> Call::ints(std::string_view key, std::string_view short_key) const {
  auto text = operation.find(key);
  if (!text && !short_key.empty()) text = operation.find(short_key);
  return text ? integers(*text) : std::nullopt;
}

Result<Emitter::Ints> Call::required(std::string_view key, std::string_view short_key) const {
  auto v = ints(key, short_key);
  if (!v) return error(fmt::format("has no attribute '{}' with integers; is the file complete?", key));
  return *std::move(v);
}

Result<std::int64_t> Call::required_integer(std::string_view key, std::string_view short_key) const {
  auto v = required(key, short_key);
  if (!v) return Failure{};
  if (v->size() != 1) return error(fmt::format("attribute '{}' has {} numbers, not 1", key, v->size()));
  return v->front();
}

Type Call::declared(std::size_t i) const {
  return i < operation.result_types.size() ? importer.dims().bind(operation.result_types[i]) : Type();
}

SymInt Call::count(const Value& v, const Ints& axes) const {
  std::int64_t product = 1;
  for (std::int64_t a : axes) {
    const Dim& d = v.type.shape()[static_cast<std::size_t>(a)];
    if (!d.known() || __builtin_mul_overflow(product, d.value(), &product)) return {};
  }
  return product;
}

}  // namespace perfc::stablehlo
