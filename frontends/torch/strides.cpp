#include "frontends/torch/strides.h"

#include <algorithm>

namespace perfc::torch {
namespace {

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
  if (def(s.op).moves == Moves::Reshapes || def(s.op).moves == Moves::Copies) return viewed(from, in, to);
  return std::nullopt;
}

}  // namespace

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
