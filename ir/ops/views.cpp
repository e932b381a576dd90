/// Rules for views and shape arithmetic.
#include <algorithm>

#include "ir/ops/eval_helpers.h"
#include "ir/ops/rule_helpers.h"
#include "ir/ops/rules.h"

namespace perfc::rules {
namespace {

/// A product of dims: a known factor, symbols, and how many factors are unknown.
struct Factors {
  SymInt known = 1;
  std::vector<Dim> symbols;
  int unknown = 0;

  void take(const Dim& d) {
    if (d.known()) known = known * d;
    else if (d.symbolic()) symbols.push_back(d);
    else ++unknown;
  }
};

/// Symbols on both sides cancel.
void cancel(Factors& a, Factors& b) {
  std::erase_if(a.symbols, [&](const Dim& s) {
    const auto it = std::find(b.symbols.begin(), b.symbols.end(), s);
    if (it == b.symbols.end()) return false;
    b.symbols.erase(it);
    return true;
  });
}

/// a / b when it is one dim for certain; `whole` is false when it leaves a remainder.
struct Quotient {
  Dim dim;
  bool whole = true;
};
Quotient divide(const Factors& a, const Factors& b) {
  if (a.unknown || b.unknown || !b.symbols.empty() || !a.known.known() || !b.known.known()) return {};
  if (b.known.is(0)) return {};
  if (a.known.is(0)) return {0};
  const std::int64_t p = a.known.value();
  const std::int64_t q = b.known.value();
  if (a.symbols.empty()) return p % q == 0 ? Quotient{p / q} : Quotient{{}, false};
  if (a.symbols.size() == 1 && p == q) return {a.symbols.front()};
  return {};
}

/// Dims of a reshape target: 0 copies a dim, −1 stands for what is left.
struct Target {
  Shape shape;
  std::optional<std::size_t> rest;  ///< position of −1, or of the only unknown dim
  bool rest_is_asked = false;       ///< it is a −1
  std::vector<std::size_t> copied;  ///< positions whose dim is that of the input
};

Result<Target> read_target(const InferContext& c, const std::vector<SymInt>& wanted, bool zero_is_zero) {
  Target t;
  const Type& input = c.type(0);
  std::size_t unknowns = 0;
  std::size_t last_unknown = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const SymInt& w = wanted[i];
    if (w.is(-1)) {
      if (t.rest) return c.error("shape {} holds −1 more than once", to_string(Shape(wanted.begin(), wanted.end())));
      t.rest = i;
      t.rest_is_asked = true;
      t.shape.push_back(Dim::unknown());
    } else if (w.known() && w.value() < -1) {
      return c.error("shape holds {}", w.value());
    } else if (w.is(0) && !zero_is_zero) {
      if (input.ranked() && i >= input.rank()) {
        return c.error("shape asks for dim {} of an input of rank {}", i, input.rank());
      }
      t.copied.push_back(i);
      t.shape.push_back(input.ranked() ? input.shape()[i] : Dim::unknown());
    } else {
      if (!w.known() && !w.symbolic()) {
        ++unknowns;
        last_unknown = i;
      }
      t.shape.push_back(w);
    }
  }
  if (zero_is_zero && t.rest && std::any_of(wanted.begin(), wanted.end(), [](const SymInt& w) { return w.is(0); })) {
    return c.error("shape holds both 0 and −1 although allowzero is set");
  }
  // One unknown entry, −1 at run time or not, is what the others leave.
  if (!t.rest && unknowns == 1) t.rest = last_unknown;
  return t;
}

/// Dims named by an axes operand: known, or known in number only.
struct Axes {
  std::optional<std::vector<std::int64_t>> values;
  std::optional<std::int64_t> count;
};

Result<Axes> read_axes(const InferContext& c, std::size_t i) {
  if (!require_dtype(c, i, "axes", is_index, "int32 or int64") || !require_rank(c, i, "axes", 0, 1)) {
    return Failure{};
  }
  Axes a{c.known_ints(i), known_length(c, i)};
  if (a.count && !require_length(c, *a.count, "axes")) return Failure{};
  return a;
}

/// The slice [start, end) of the dims that a shape_of asks for.
struct DimRange {
  std::size_t first = 0;
  std::size_t last = 0;
};
Result<DimRange> dim_range(const InferContext& c, std::size_t rank) {
  const auto r = static_cast<std::int64_t>(rank);
  const auto start = int_attr(c, "start", 0);
  const auto end = int_attr(c, "end", r);
  if (!start || !end) return Failure{};
  const auto clamp = [r](std::int64_t v) {
    return static_cast<std::size_t>(std::clamp<std::int64_t>(v < 0 ? v + r : v, 0, r));
  };
  DimRange range{clamp(*start), clamp(*end)};
  range.last = std::max(range.first, range.last);
  return range;
}

}  // namespace

Status reshape(InferContext& c) {
  if (!require_tensor(c, 0, "data") || !require_dtype(c, 1, "shape", is_index, "int32 or int64") ||
      !require_rank(c, 1, "shape", 0, 1)) {
    return Failure{};
  }
  const auto zero_is_zero = flag_attr(c, "allowzero", false);
  if (!zero_is_zero) return Failure{};
  const DType dtype = c.type(0).dtype();
  const auto length = known_length(c, 1);
  if (!length) {
    c.set(0, Type::unranked(dtype));
    return ok();
  }
  if (!require_length(c, *length, "shape")) return Failure{};
  const auto* given = ints(c, 1);
  const std::vector<SymInt> wanted = given ? *given : std::vector<SymInt>(static_cast<std::size_t>(*length));
  auto target = read_target(c, wanted, *zero_is_zero);
  if (!target) return Failure{};
  Target& t = *target;
  if (c.type(0).ranked()) {
    const Shape& in = c.type(0).shape();
    Factors from, to;
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (std::find(t.copied.begin(), t.copied.end(), i) == t.copied.end()) from.take(in[i]);
    }
    for (std::size_t i = 0; i < t.shape.size(); ++i) {
      const bool copied = std::find(t.copied.begin(), t.copied.end(), i) != t.copied.end();
      if (i != t.rest && !copied) to.take(t.shape[i]);
    }
    cancel(from, to);
    const auto mismatch = [&] {
      return c.error("{} does not reshape into {}", to_string(c.type(0)),
                     to_string(Shape(wanted.begin(), wanted.end())));
    };
    if (t.rest) {
      const Quotient q = divide(from, to);
      if (!q.whole) return mismatch();
      t.shape[*t.rest] = q.dim;
    } else {
      const auto before = element_count(in);
      const auto after = element_count(t.shape);
      if (before && after && *before != *after) {
        return c.error("{} has {} elements, shape {} has {}", to_string(c.type(0)), *before, to_string(t.shape),
                       *after);
      }
    }
  }
  c.set(0, Type::tensor(dtype, std::move(t.shape)));
  return ok();
}

Status squeeze(InferContext& c) {
  if (!require_tensor(c, 0, "data")) return Failure{};
  const Type& in = c.type(0);
  if (!c.has(1)) {
    Shape shape;
    if (!in.ranked()) {
      c.set(0, Type::unranked(in.dtype()));
      return ok();
    }
    for (const Dim& d : in.shape()) {
      if (!d.known()) {  // whether it goes is decided at run time
        c.set(0, Type::unranked(in.dtype()));
        return ok();
      }
      if (!d.is(1)) shape.push_back(d);
    }
    c.set(0, Type::tensor(in.dtype(), std::move(shape)));
    return ok();
  }
  const auto axes = read_axes(c, 1);
  if (!axes) return Failure{};
  if (!in.ranked() || !axes->count) {
    c.set(0, Type::unranked(in.dtype()));
    return ok();
  }
  const auto drop = static_cast<std::size_t>(*axes->count);
  if (drop > in.rank()) return c.error("axes name {} axes of an input of rank {}", drop, in.rank());
  if (!axes->values) {
    c.set(0, Type::tensor(in.dtype(), unknown_shape(in.rank() - drop)));
    return ok();
  }
  const auto at = normalize_axes(c, *axes->values, in.rank());
  if (!at) return Failure{};
  std::vector<bool> dropped(in.rank(), false);
  for (std::size_t a : *at) {
    if (in.shape()[a].known() && !in.shape()[a].is(1)) { return c.error("axis {} of {} is not 1", a, to_string(in)); }
    dropped[a] = true;
  }
  Shape shape;
  for (std::size_t a = 0; a < in.rank(); ++a) {
    if (!dropped[a]) shape.push_back(in.shape()[a]);
  }
  c.set(0, Type::tensor(in.dtype(), std::move(shape)));
  return ok();
}

Status expand_dims(InferContext& c) {
  if (!require_tensor(c, 0, "data")) return Failure{};
  const auto axes = read_axes(c, 1);
  if (!axes) return Failure{};
  const Type& in = c.type(0);
  if (!in.ranked() || !axes->count) {
    c.set(0, Type::unranked(in.dtype()));
    return ok();
  }
  const std::size_t rank = in.rank() + static_cast<std::size_t>(*axes->count);
  if (!axes->values) {
    c.set(0, Type::tensor(in.dtype(), unknown_shape(rank)));
    return ok();
  }
  const auto at = normalize_axes(c, *axes->values, rank);
  if (!at) return Failure{};
  std::vector<bool> added(rank, false);
  for (std::size_t a : *at) added[a] = true;
  Shape shape;
  auto next = in.shape().begin();
  for (std::size_t a = 0; a < rank; ++a) shape.push_back(added[a] ? Dim(1) : *next++);
  c.set(0, Type::tensor(in.dtype(), std::move(shape)));
  return ok();
}

Status flatten(InferContext& c) {
  if (!require_tensor(c, 0, "input")) return Failure{};
  const auto attr = int_attr(c, "axis", 1);
  if (!attr) return Failure{};
  const Type& in = c.type(0);
  if (!in.ranked()) {
    c.set(0, Type::tensor(in.dtype(), unknown_shape(2)));
    return ok();
  }
  const auto rank = static_cast<std::int64_t>(in.rank());
  if (*attr < -rank || *attr > rank) return c.error("axis {} is out of range for rank {}", *attr, rank);
  const auto axis = *attr < 0 ? *attr + rank : *attr;
  const Dim* dims = in.shape().data();
  c.set(0, Type::tensor(in.dtype(), {product(dims, dims + axis), product(dims + axis, dims + rank)}));
  return ok();
}

Status shape_of(InferContext& c) {
  if (!require_tensor(c, 0, "data")) return Failure{};
  if (!c.type(0).ranked()) {
    c.set(0, Type::tensor(DType::Int64, {Dim::unknown()}));
    return ok();
  }
  const auto range = dim_range(c, c.type(0).rank());
  if (!range) return Failure{};
  c.set(0, Type::tensor(DType::Int64, {static_cast<std::int64_t>(range->last - range->first)}));
  return ok();
}

Status size_of(InferContext& c) {
  if (!require_tensor(c, 0, "data")) return Failure{};
  c.set(0, Type::tensor(DType::Int64, {}));
  return ok();
}

/// (…, 2) reals → (…) complex numbers, the same memory.
Status as_complex(InferContext& c) {
  if (!require_rank(c, 0, "pairs", 1, kAnyRank) || !require_dtype(c, 0, "pairs", is_float, "floating point"))
    return Failure{};
  const DType dtype = c.type(0).dtype() == DType::Float64 ? DType::Complex128 : DType::Complex64;
  if (!ranked(c, 0)) {
    c.set(0, Type::unranked(dtype));
    return ok();
  }
  Shape shape = c.type(0).shape();
  if (shape.back().known() && !shape.back().is(2)) {
    return c.error("the last dim must be 2 (real and imaginary part), is {}", shape.back().value());
  }
  shape.pop_back();
  c.set(0, Type::tensor(dtype, std::move(shape)));
  return ok();
}

/// The inverse of as_complex.
Status as_real(InferContext& c) {
  if (!require_dtype(c, 0, "numbers", is_complex, "complex")) return Failure{};
  const DType dtype = c.type(0).dtype() == DType::Complex128 ? DType::Float64 : DType::Float32;
  if (!ranked(c, 0)) {
    c.set(0, Type::unranked(dtype));
    return ok();
  }
  Shape shape = c.type(0).shape();
  shape.push_back(Dim(2));
  c.set(0, Type::tensor(dtype, std::move(shape)));
  return ok();
}

void eval_shape_of(InferContext& c) {
  if (!ranked(c, 0)) return;
  const Shape& in = c.type(0).shape();
  const auto range = dim_range(c, in.size());
  if (!range) return;
  set_ints(c, 0,
           std::vector<SymInt>(in.begin() + static_cast<std::ptrdiff_t>(range->first),
                               in.begin() + static_cast<std::ptrdiff_t>(range->last)));
}

void eval_size_of(InferContext& c) {
  if (!ranked(c, 0)) return;
  const Shape& in = c.type(0).shape();
  set_ints(c, 0, {product(in.data(), in.data() + in.size())});
}

}  // namespace perfc::rules
