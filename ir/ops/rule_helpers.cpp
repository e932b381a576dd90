#include "ir/ops/rule_helpers.h"

#include <algorithm>

namespace perfc::rules {

SymInt operator+(const SymInt& a, const SymInt& b) {
  if (a.is(0)) return b;
  if (b.is(0)) return a;
  std::int64_t r = 0;
  if (!a.known() || !b.known() || __builtin_add_overflow(a.value(), b.value(), &r)) return {};
  return r;
}

SymInt operator-(const SymInt& a, const SymInt& b) {
  if (b.is(0)) return a;
  if (a.symbolic() && a == b) return 0;
  std::int64_t r = 0;
  if (!a.known() || !b.known() || __builtin_sub_overflow(a.value(), b.value(), &r)) return {};
  return r;
}

SymInt operator*(const SymInt& a, const SymInt& b) {
  if (a.is(0) || b.is(0)) return 0;
  if (a.is(1)) return b;
  if (b.is(1)) return a;
  std::int64_t r = 0;
  if (!a.known() || !b.known() || __builtin_mul_overflow(a.value(), b.value(), &r)) return {};
  return r;
}

SymInt trunc_div(const SymInt& a, const SymInt& b) {
  if (b.is(1)) return a;
  if (!a.known() || !b.known() || b.value() == 0) return {};
  if (b.value() == -1) return SymInt(0) - a;  // INT64_MIN / −1 overflows
  return a.value() / b.value();
}

SymInt ceil_div(const SymInt& a, const SymInt& b) {
  if (b.is(1)) return a;
  if (!a.known() || !b.known() || a.value() < 0 || b.value() <= 0) return {};
  return a.value() / b.value() + (a.value() % b.value() != 0);
}

SymInt product(const SymInt* first, const SymInt* last) {
  SymInt r = 1;
  bool zero = false;
  for (; first != last; ++first) {
    zero = zero || first->is(0);
    r = r * *first;
  }
  return zero ? SymInt(0) : r;
}

Status require_tensor(const InferContext& c, std::size_t i, std::string_view role) {
  if (!c.has(i)) return c.error("{} (operand {}) is missing", role, i);
  if (!c.type(i).is_tensor()) { return c.error("{} must be a tensor, got {}", role, to_string(c.type(i))); }
  return ok();
}

Status require_rank(const InferContext& c, std::size_t i, std::string_view role, std::size_t least, std::size_t most) {
  if (!require_tensor(c, i, role)) return Failure{};
  const Type& t = c.type(i);
  if (!t.ranked() || (t.rank() >= least && t.rank() <= most)) return ok();
  if (least == most) { return c.error("{} must have rank {}, got {}", role, least, to_string(t)); }
  if (most == kAnyRank) { return c.error("{} must have rank {} or more, got {}", role, least, to_string(t)); }
  return c.error("{} must have a rank from {} to {}, got {}", role, least, most, to_string(t));
}

Status require_dims(const InferContext& c, std::size_t i, std::string_view role, const Shape& expected) {
  if (!c.has(i)) return ok();
  if (!require_rank(c, i, role, expected.size())) return Failure{};
  if (!ranked(c, i)) return ok();
  for (std::size_t d = 0; d < expected.size(); ++d) {
    const Dim& actual = c.type(i).shape()[d];
    if (expected[d].known() && actual.known() && expected[d] != actual) {
      return c.error("{} must be {}, got {}", role, to_string(expected), to_string(c.type(i)));
    }
  }
  return ok();
}

Status require_dtype(const InferContext& c, std::size_t i, std::string_view role, DTypeTest accepts,
                     std::string_view expected) {
  if (!require_tensor(c, i, role)) return Failure{};
  const DType d = c.type(i).dtype();
  if (d == DType::Undefined || accepts(d)) return ok();
  return c.error("{} must be {}, got {}", role, expected, name(d));
}

Status require_same_dtype(const InferContext& c, std::size_t i, std::size_t j) {
  const DType a = c.type(i).dtype();
  const DType b = c.type(j).dtype();
  if (a == b || a == DType::Undefined || b == DType::Undefined) return ok();
  return c.error("operands {} and {} differ in type: {} and {}", i, j, name(a), name(b));
}

Status set_tensor(InferContext& c, Shape shape) {
  c.set(0, Type::tensor(c.type(0).dtype(), std::move(shape)));
  return ok();
}

bool is_bool(DType d) { return d == DType::Bool; }
bool is_8_bit(DType d) { return d == DType::Int8 || d == DType::UInt8; }
bool is_string(DType d) { return d == DType::String; }
bool is_index(DType d) { return d == DType::Int32 || d == DType::Int64; }
bool is_int64(DType d) { return d == DType::Int64; }
bool is_complex(DType d) { return d == DType::Complex64 || d == DType::Complex128; }
bool is_signed(DType d) {
  return d == DType::Int2 || d == DType::Int4 || d == DType::Int8 || d == DType::Int16 || d == DType::Int32 ||
         d == DType::Int64;
}
bool is_numeric(DType d) { return is_integer(d) || is_float(d); }
bool is_float_or_complex(DType d) { return is_float(d) || is_complex(d); }

bool ranked(const InferContext& c, std::size_t i) { return c.has(i) && c.type(i).is_tensor() && c.type(i).ranked(); }

Dim dim_of(const InferContext& c, std::size_t i, int d) {
  if (!ranked(c, i)) return Dim::unknown();
  const int rank = static_cast<int>(c.type(i).rank());
  if (d < 0) d += rank;
  return d >= 0 && d < rank ? c.type(i).shape()[static_cast<std::size_t>(d)] : Dim::unknown();
}

const std::vector<SymInt>* ints(const InferContext& c, std::size_t i) {
  const Data* d = c.data(i);
  return d ? d->ints() : nullptr;
}

std::optional<std::int64_t> known_length(const InferContext& c, std::size_t i) {
  if (const Data* d = c.data(i)) return static_cast<std::int64_t>(d->size());
  if (!ranked(c, i) || c.type(i).rank() != 1 || !c.type(i).shape()[0].known()) return std::nullopt;
  return c.type(i).shape()[0].value();
}

std::optional<std::int64_t> known_scalar(const InferContext& c, std::size_t i) {
  const auto* v = ints(c, i);
  if (!v || v->size() != 1 || !v->front().known()) return std::nullopt;
  return v->front().value();
}

Shape unknown_shape(std::size_t rank) { return Shape(rank, Dim::unknown()); }

Status require_length(const InferContext& c, std::int64_t length, std::string_view role) {
  if (length >= 0 && length <= kMaxRank) return ok();
  return c.error("{} asks for rank {}, which is beyond {}", role, length, kMaxRank);
}

Result<std::size_t> normalize_axis(const InferContext& c, std::int64_t axis, std::size_t rank, std::string_view role) {
  const auto normalized = normalized_axis(axis, rank);
  if (!normalized) return c.error("{} {} is out of range for rank {}", role, axis, rank);
  return *normalized;
}

Result<std::vector<std::size_t>> normalize_axes(const InferContext& c, const std::vector<std::int64_t>& axes,
                                                std::size_t rank, std::string_view role) {
  std::vector<std::size_t> out;
  std::vector<bool> seen(rank, false);
  for (std::int64_t axis : axes) {
    const auto a = normalize_axis(c, axis, rank, role);
    if (!a) return Failure{};
    if (seen[*a]) return c.error("{} name axis {} twice", role, *a);
    seen[*a] = true;
    out.push_back(*a);
  }
  return out;
}

Result<Dim> same_dim(const InferContext& c, const Dim& a, const Dim& b, std::string_view what) {
  if (a.known() && b.known() && a != b) return c.error("{} differ: {} and {}", what, a.value(), b.value());
  if (a.known() || (a.symbolic() && !b.known())) return a;
  return b;
}

Result<Dim> as_dim(const InferContext& c, const SymInt& value, std::string_view role) {
  if (value.known() && value.value() < 0) return c.error("{} holds a negative dim: {}", role, value.value());
  return value;
}

std::optional<Dim> broadcast_dim(const Dim& a, const Dim& b) {
  if (a == b || b.is(1)) return a;
  if (a.is(1)) return b;
  if (a.known() && b.known()) return std::nullopt;
  if (a.known()) return a;
  if (b.known()) return b;
  return Dim::unknown();
}

Result<Shape> broadcast_shapes(const InferContext& c, const Shape& a, const Shape& b) {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape out = longer;
  const std::size_t offset = longer.size() - shorter.size();
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    const auto d = broadcast_dim(longer[offset + i], shorter[i]);
    if (!d) {
      return c.error("shapes {} and {} do not broadcast: {} against {}", to_string(a), to_string(b),
                     to_string(longer[offset + i]), to_string(shorter[i]));
    }
    out[offset + i] = *d;
  }
  return out;
}

Result<Type> broadcast_operands(const InferContext& c, std::size_t first, std::size_t last, DType dtype) {
  Shape shape;
  bool all_ranked = true;
  for (std::size_t i = first; i < last; ++i) {
    if (!c.has(i)) continue;
    if (!ranked(c, i)) {
      all_ranked = false;
      continue;
    }
    auto wider = broadcast_shapes(c, shape, c.type(i).shape());
    if (!wider) return Failure{};
    shape = *std::move(wider);
  }
  return all_ranked ? Type::tensor(dtype, std::move(shape)) : Type::unranked(dtype);
}

Result<std::int64_t> int_attr(const InferContext& c, std::string_view name, std::int64_t fallback) {
  return c.attrs.has(name) ? int_attr(c, name) : fallback;
}

Result<std::int64_t> int_attr(const InferContext& c, std::string_view name) {
  const Attr* a = c.attrs.find(name);
  if (!a) return c.error("attribute {} is missing", name);
  if (const auto* v = std::get_if<std::int64_t>(a)) return *v;
  return c.error("attribute {} must be an integer", name);
}

Result<bool> flag_attr(const InferContext& c, std::string_view name, bool fallback) {
  const auto v = int_attr(c, name, fallback ? 1 : 0);
  if (!v) return Failure{};
  return *v != 0;
}

Result<std::vector<std::int64_t>> int_list(const InferContext& c, std::string_view name, std::size_t count,
                                           std::int64_t fallback, std::int64_t least) {
  std::vector<std::int64_t> v = c.attrs.ints_or_empty(name);
  if (v.empty()) return std::vector<std::int64_t>(count, fallback);
  if (v.size() != count) return c.error("{} has {} entries, expected {}", name, v.size(), count);
  for (std::int64_t x : v) {
    if (x < least) return c.error("{} holds {}, expected {} or more", name, x, least);
  }
  return v;
}

Result<AutoPad> auto_pad(const InferContext& c) {
  const std::string_view text = c.attrs.string_or("auto_pad", "NOTSET");
  if (text == "NOTSET" || text.empty()) return AutoPad::NotSet;
  if (text == "SAME_UPPER") return AutoPad::SameUpper;
  if (text == "SAME_LOWER") return AutoPad::SameLower;
  if (text == "VALID") return AutoPad::Valid;
  return c.error("unknown auto_pad '{}'", text);
}

Result<Dim> window_extent(const InferContext& c, const Dim& input, const Window& w) {
  if (w.stride < 1) return c.error("stride must be positive, got {}", w.stride);
  if (w.dilation < 1) return c.error("dilation must be positive, got {}", w.dilation);
  if (w.kernel.known() && w.kernel.value() < 1) {
    return c.error("kernel extent must be positive, got {}", w.kernel.value());
  }
  if (w.auto_pad == AutoPad::SameUpper || w.auto_pad == AutoPad::SameLower) { return ceil_div(input, w.stride); }
  const bool padded = w.auto_pad == AutoPad::NotSet;
  const SymInt begin = padded ? w.pad_begin : 0;
  const SymInt end = padded ? w.pad_end : 0;
  const SymInt reach = (w.kernel - 1) * w.dilation + 1;  // extent of the dilated kernel
  // Exact cancellation keeps symbols: a 3-wide window with padding 1 + 1.
  const SymInt slack = reach.known() ? input + (begin + end - reach + 1) : SymInt::unknown();
  if (w.stride == 1) {
    if (slack.known() && slack.value() < 1) {
      return c.error("window of extent {} does not fit into {} with padding {} and {}", to_string(reach),
                     to_string(input), begin.value(), end.value());
    }
    const bool trailing = w.rounding == Rounding::Ceil && reach.known() && end.value() >= reach.value();
    return trailing ? slack - 1 : slack;
  }
  if (!slack.known()) return Dim::unknown();
  const std::int64_t room = slack.value() - 1;
  // Rounded up, a window may reach beyond all of the data by less than a stride.
  if (room < 0 && (w.rounding != Rounding::Ceil || room <= -w.stride)) {
    return c.error("window of extent {} does not fit into {} with padding {} and {}", to_string(reach),
                   to_string(input), begin.value(), end.value());
  }
  std::int64_t steps = room / w.stride;
  if (w.rounding == Rounding::Ceil) {
    if (room % w.stride > 0) ++steps;
    // A last window that starts in the trailing padding does not count.
    const SymInt start = SymInt(steps) * w.stride;
    const SymInt inside = input + begin;
    if (steps > 0 && (!start.known() || !inside.known() || start.value() >= inside.value())) --steps;
  }
  return Dim(steps + 1);
}

}  // namespace perfc::rules
