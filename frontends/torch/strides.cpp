#include "frontends/torch/strides.h"

#include <algorithm>

namespace perfc::torch {
namespace {

bool is_static(const Shape& s) {
  return std::all_of(s.begin(), s.end(), [](const Dim& d) { return d.known(); });
}

/// The only known integer of a vector.
std::optional<std::int64_t> single(const GraphBuilder& b, ValueId v) {
  const Data* d = b.data(v);
  if (!d || !d->ints() || d->size() != 1 || !d->fully_known()) return std::nullopt;
  return (*d->ints())[0].value();
}

std::optional<Strides> step(const GraphBuilder& b, const ViewStep& s, const Strides& in, const Shape& to) {
  const Shape& from = s.from.shape();
  if (s.op == op("transpose")) {
    Strides out;
    for (std::int64_t axis : s.attrs.ints_or_empty("perm")) out.push_back(in[static_cast<std::size_t>(axis)]);
    return out;
  }
  if (s.op == op("strided_slice")) {
    const auto axis = single(b, s.operands[2]), by = single(b, s.operands[3]);
    if (!axis || !by) return std::nullopt;
    Strides out = in;
    out[static_cast<std::size_t>(*axis)] *= *by;
    return out;
  }
  if (s.op == op("take")) {
    if (to.size() + 1 != from.size()) return std::nullopt;
    Strides out = in;
    out.erase(out.begin() + s.attrs.int_or("axis", 0));
    return out;
  }
  if (s.op == op("broadcast_to")) {
    Strides out(to.size(), 0);
    for (std::size_t i = 0; i < in.size(); ++i) {
      const std::size_t at = to.size() - in.size() + i;
      out[at] = from[i] == to[at] ? in[i] : 0;
    }
    return out;
  }
  if (def(s.op).moves == Moves::Reshapes) return viewed(from, in, to);
  return std::nullopt;
}

}  // namespace

std::optional<Strides> contiguous_strides(const Shape& shape) {
  Strides out(shape.size());
  std::int64_t span = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (!shape[i].known()) return std::nullopt;
    out[i] = span;
    if (__builtin_mul_overflow(span, std::max<std::int64_t>(shape[i].value(), 1), &span)) return std::nullopt;
  }
  return out;
}

std::optional<Strides> viewed(const Shape& shape, const Strides& strides, const Shape& as) {
  if (!is_static(shape) || !is_static(as)) return std::nullopt;
  Strides out(as.size(), 1);
  if (shape.empty() || element_count(shape) == 0) return contiguous_strides(as);
  // Runs of old dims that lie in memory without gaps, each covered by new dims.
  std::size_t next = as.size();
  std::int64_t run = 1, taken = 1;
  std::int64_t stride = strides.empty() ? 1 : strides.back();
  for (std::size_t i = shape.size(); i-- > 0;) {
    run *= shape[i].value();
    const bool ends = i == 0 || (shape[i - 1].value() != 1 && strides[i - 1] != run * stride);
    if (!ends) continue;
    while (next > 0 && (taken < run || as[next - 1].is(1))) {
      --next;
      out[next] = taken * stride;
      taken *= as[next].value();
    }
    if (taken != run) return std::nullopt;
    if (i > 0) {
      stride = strides[i - 1];
      run = taken = 1;
    }
  }
  return next == 0 ? std::optional(out) : std::nullopt;
}

std::optional<Strides> strides_of(const GraphBuilder& b, const Tensor& t) {
  const Type& base = b.type(t.storage->value);
  if (!base.is_tensor() || !base.ranked()) return std::nullopt;
  auto strides = contiguous_strides(base.shape());
  for (std::size_t i = 0; strides && i < t.views.size(); ++i) {
    const Type& to = i + 1 < t.views.size() ? t.views[i + 1].from : b.type(t.value);
    const Type& from = t.views[i].from;
    if (!from.is_static() || !to.is_static() || !from.ranked() || strides->size() != from.rank()) return std::nullopt;
    strides = step(b, t.views[i], *strides, to.shape());
  }
  return strides;
}

}  // namespace perfc::torch
