#include "ir/strides.h"

#include <algorithm>

namespace perfc {
namespace {

bool all_known(const Shape& s) {
  return std::all_of(s.begin(), s.end(), [](const Dim& d) { return d.known(); });
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
  if (!all_known(shape) || !all_known(as)) return std::nullopt;
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

bool is_contiguous(const Shape& shape, const Strides& strides) {
  std::int64_t span = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (!shape[i].known()) return false;
    if (shape[i].value() == 0) return true;
    if (shape[i].value() != 1 && strides[i] != span) return false;
    span *= shape[i].value();
  }
  return true;
}

bool is_contiguous_channels_last(const Shape& shape, const Strides& strides) {
  Shape extents = shape;
  Strides order = strides;
  std::rotate(extents.begin() + 1, extents.begin() + 2, extents.end());
  std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  return is_contiguous(extents, order);
}

}  // namespace perfc
