#include "ir/ops/eval_helpers.h"

#include <algorithm>
#include <cmath>

#include "ir/ops/rule_helpers.h"

namespace perfc::rules {
namespace {

/// Nearest binary float with `precision` significant bits and exponents up to
/// `max_exponent`, subnormals included, ties to even (IEEE 754-2019, 4.3.1).
double round_binary(double x, int precision, int max_exponent) {
  if (!std::isfinite(x) || x == 0) return x;
  int exponent = 0;
  std::frexp(x, &exponent);  // |x| in [2^(e−1), 2^e)
  const int quantum = std::max(exponent - precision, 3 - max_exponent - precision);
  const double r = std::ldexp(std::nearbyint(std::ldexp(x, -quantum)), quantum);
  return std::fabs(r) >= std::ldexp(1.0, max_exponent) ? std::copysign(INFINITY, x) : r;
}

}  // namespace

SymInt store(DType dtype, const SymInt& v) {
  const int width = bits(dtype);
  if (!v.known()) return dtype == DType::Bool || width < 32 ? SymInt::unknown() : v;
  if (dtype == DType::Bool) return v.value() != 0 ? 1 : 0;
  if (width >= 64) return v;
  const std::uint64_t low = static_cast<std::uint64_t>(v.value()) & ((std::uint64_t{1} << width) - 1);
  const bool negative = is_signed(dtype) && (low >> (width - 1)) != 0;
  return static_cast<std::int64_t>(negative ? low | ~((std::uint64_t{1} << width) - 1) : low);
}

std::optional<double> store(DType dtype, double v) {
  switch (dtype) {
    case DType::Float64:
      return v;
    case DType::Float32:
      return round_binary(v, 24, 128);
    case DType::Float16:
      return round_binary(v, 11, 16);
    case DType::BFloat16:
      return round_binary(v, 8, 128);
    default:
      return std::nullopt;
  }
}

std::optional<Extents> extents(const Type& t) {
  if (t.kind() != TypeKind::Tensor) return std::nullopt;
  const auto n = t.elements();
  if (!n || *n > Data::kMaxElements) return std::nullopt;
  Extents out;
  for (const Dim& d : t.shape()) {
    if (d.value() > Data::kMaxElements) return std::nullopt;  // beside a zero extent
    out.push_back(d.value());
  }
  return out;
}

std::int64_t count(const Extents& e) {
  std::int64_t n = 1;
  for (std::int64_t x : e) n *= x;
  return n;
}

Extents strides(const Extents& e) {
  Extents s(e.size(), 1);
  for (std::size_t i = e.size(); i-- > 1;) s[i - 1] = s[i] * e[i];
  return s;
}

std::optional<std::vector<SymInt>> int_contents(const InferContext& c, std::size_t i) {
  const auto e = extents(c.type(i));
  if (!e || !(is_integer(c.type(i).dtype()) || is_bool(c.type(i).dtype()))) return std::nullopt;
  const auto n = static_cast<std::size_t>(count(*e));
  const auto* v = ints(c, i);
  return v && v->size() == n ? *v : std::vector<SymInt>(n);
}

const std::vector<double>* float_contents(const InferContext& c, std::size_t i) {
  const auto e = extents(c.type(i));
  const auto* v = e && c.data(i) ? c.data(i)->floats() : nullptr;
  return v && v->size() == static_cast<std::size_t>(count(*e)) ? v : nullptr;
}

void set_ints(InferContext& c, std::size_t i, std::vector<SymInt> values) {
  const auto e = extents(c.result(i));
  if (!e || values.size() != static_cast<std::size_t>(count(*e))) return;
  bool informative = values.empty();
  for (SymInt& v : values) {
    v = store(c.result(i).dtype(), v);
    informative = informative || v.known() || v.symbolic();
  }
  if (informative) c.set_data(i, Data{std::move(values)});
}

void set_floats(InferContext& c, std::size_t i, const std::vector<double>& values) {
  const auto e = extents(c.result(i));
  if (!e || values.size() != static_cast<std::size_t>(count(*e))) return;
  std::vector<double> stored;
  stored.reserve(values.size());
  for (double v : values) {
    const auto s = store(c.result(i).dtype(), v);
    if (!s) return;
    stored.push_back(*s);
  }
  c.set_data(i, Data{std::move(stored)});
}

std::vector<std::int64_t> element_map(const std::vector<std::vector<std::int64_t>>& offsets) {
  for (const auto& axis : offsets) {
    if (axis.empty()) return {};
  }
  std::vector<std::int64_t> map{0};
  for (const auto& axis : offsets) {
    std::vector<std::int64_t> next;
    next.reserve(map.size() * axis.size());
    for (std::int64_t base : map) {
      for (std::int64_t offset : axis) next.push_back(base < 0 || offset < 0 ? -1 : base + offset);
    }
    map = std::move(next);
  }
  return map;
}

std::vector<std::int64_t> broadcast_map(const Extents& from, const Extents& to) {
  const Extents stride = strides(from);
  const std::size_t skip = to.size() - from.size();
  std::vector<std::vector<std::int64_t>> offsets(to.size());
  for (std::size_t a = 0; a < to.size(); ++a) {
    const bool moves = a >= skip && from[a - skip] != 1;
    for (std::int64_t k = 0; k < to[a]; ++k) offsets[a].push_back(moves ? k * stride[a - skip] : 0);
  }
  return element_map(offsets);
}

void set_mapped(InferContext& c, std::size_t r, std::size_t i, const std::vector<std::int64_t>& map, const Data* fill) {
  const auto result = extents(c.result(r));
  const auto source = extents(c.type(i));
  const Data* data = c.data(i);
  if (!result || !source || !data || static_cast<std::size_t>(count(*result)) != map.size() ||
      static_cast<std::size_t>(count(*source)) != data->size()) {
    return;
  }
  std::visit(
      [&](const auto& from) {
    using Vector = std::decay_t<decltype(from)>;
    const auto* filler = fill ? std::get_if<Vector>(&fill->elements) : nullptr;
    if (filler && filler->empty()) filler = nullptr;
    Vector to;
    to.reserve(map.size());
    for (std::int64_t m : map) {
      if (m < 0 && !filler) return;
      to.push_back(m < 0 ? filler->front() : from[static_cast<std::size_t>(m)]);
    }
    c.set_data(r, Data{std::move(to)});
      },
      data->elements);
}

}  // namespace perfc::rules
