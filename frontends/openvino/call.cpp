#include "frontends/openvino/call.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "frontends/openvino/table.h"

namespace perfc::openvino {
namespace {

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  return s;
}

template <class T>
std::optional<T> parsed(std::string_view s) {
  s = trimmed(s);
  T value{};
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value);
  if (s.empty() || error != std::errc{} || end != s.data() + s.size()) return std::nullopt;
  return value;
}

}  // namespace

Call::Call(Importer& i, Frame& f, const Layer& l, std::vector<ValueId> o, const Row* r)
    : Emitter(f.builder, l.loc, std::string(l.name), std::string(l.type)), importer(i), frame(f), layer(l), row(r),
      operands(std::move(o)) {}

Operand Call::tensor(std::size_t i) const {
  if (!has(i)) return error(fmt::format("has no operand {}", i));
  return operands[i];
}

std::optional<Ints> Call::known_ints(std::size_t i) const {
  const Data* d = has(i) ? data(operands[i]) : nullptr;
  if (!d || !d->ints() || !d->fully_known()) return std::nullopt;
  Ints out;
  for (const SymInt& v : *d->ints()) out.push_back(v.value());
  return out;
}

std::optional<double> Call::known_real(std::size_t i) const {
  const Data* d = has(i) ? data(operands[i]) : nullptr;
  if (!d || d->size() != 1) return std::nullopt;
  if (d->floats()) return d->floats()->front();
  const SymInt v = d->ints() ? d->ints()->front() : SymInt();
  return v.known() ? std::optional(static_cast<double>(v.value())) : std::nullopt;
}

Result<Ints> Call::ints(std::size_t i, std::string_view what) const {
  if (!has(i)) return error(fmt::format("has no operand {} ({})", i, what));
  if (auto known = known_ints(i)) return *std::move(known);
  const Node& n = builder().node(operands[i].node);
  const std::string_view source = n.kind == NodeKind::Constant ? "a constant of the .bin" : "computed";
  return error(fmt::format(
      "{} (operand {}, '{}', {}) must be known when importing{}", what, i, n.name, source,
      n.kind == NodeKind::Constant ? "; give the .bin beside the .xml" : "; bind open dims with --dim or --shape"));
}

Operand Call::int_vector(std::size_t i) const {
  auto v = cast(tensor(i), DType::Int64);
  if (!v) return v;
  const Type& t = type(*v);
  return t.is_tensor() && t.ranked() && t.rank() == 1 ? v : reshape(v, {-1});
}

std::string_view Call::text_or(std::string_view name, std::string_view fallback) const {
  const auto found = layer.attributes.find(name);
  return found == layer.attributes.end() ? fallback : found->second;
}

std::int64_t Call::integer_or(std::string_view name, std::int64_t fallback) const {
  return parsed<std::int64_t>(text_or(name, "")).value_or(fallback);
}

double Call::real_or(std::string_view name, double fallback) const {
  return parsed<double>(text_or(name, "")).value_or(fallback);
}

bool Call::flag(std::string_view name, bool fallback) const {
  const std::string value = lower(text_or(name, ""));
  return value.empty() ? fallback : value == "true" || value == "1";
}

Result<Ints> Call::list_or(std::string_view name, Ints fallback) const {
  if (!given(name)) return fallback;
  std::string_view rest = text_or(name, "");
  Ints out;
  while (!trimmed(rest).empty()) {
    const std::string_view entry = next_word(rest, ',');
    const auto value = parsed<std::int64_t>(entry);
    if (!value) return error(fmt::format("attribute '{}' holds '{}', which is no integer", name, entry));
    out.push_back(*value);
  }
  return out;
}

DType Call::dtype_or(std::string_view name, DType fallback) const {
  const DType d = dtype_of(text_or(name, ""));
  return d == DType::Undefined ? fallback : d;
}

Type Call::declared_shape(std::size_t i) const {
  if (i >= layer.outputs.size()) return {};
  const Type t = importer.declared(layer.outputs[i]);
  return t.is_tensor() && t.ranked() ? Type::tensor(DType::Undefined, t.shape()) : Type{};
}

Values Call::finish(OpId op, Operands given, Attrs attrs, std::size_t results) const {
  if (given.failed()) return Failure{};
  CallSpec spec{.op = op,
                .operands = std::move(given.ids()),
                .attrs = std::move(attrs),
                .results = static_cast<int>(results),
                .name = name,
                .loc = loc};
  for (std::size_t i = 0; i < results; ++i) spec.declared.push_back(declared_shape(i));
  const auto id = builder().call(std::move(spec));
  if (!id) return Failure{};
  std::vector<ValueId> out;
  for (std::uint32_t i = 0; i < results; ++i) out.push_back({*id, i});
  return out;
}

Values Call::unpriced() {
  opaque = true;
  return std::vector<ValueId>{};
}

}  // namespace perfc::openvino
