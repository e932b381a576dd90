/// Shapes, and data seen in another one.
#include <fmt/format.h>

#include <algorithm>

#include "frontends/tf/translators.h"

namespace perfc::tf {

Result<Values> shape(Call& c, const OpRow&) {
  Values out;
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    auto x = c.tensor(i);
    if (!x) return Failure{};
    auto s = c.shape_of(*x);
    if (!s) return Failure{};
    auto cast = c.cast(*s, c.dtype_attr("out_type", DType::Int32));
    if (!cast) return Failure{};
    out.push_back(Value::tensor(*cast));
  }
  return out;
}

Result<Values> size(Call& c, const OpRow&) {
  auto x = c.tensor(0);
  if (!x) return Failure{};
  auto s = c.emit(op("size_of"), {*x});
  if (!s) return Failure{};
  return one(c.cast(*s, c.dtype_attr("out_type", DType::Int32)));
}

Result<Values> rank(Call& c, const OpRow&) {
  const auto r = c.rank(0);
  if (!r) return c.error("of data of unknown rank");
  auto data = std::make_shared<Data>();
  data->elements = std::vector<SymInt>{SymInt(static_cast<std::int64_t>(*r))};
  return one(c.constant({Type::tensor(DType::Int32, {}), data}));
}

Result<Values> reshape(Call& c, const OpRow&) {
  auto operands = c.tensors(0, 2);
  if (!operands) return Failure{};
  const auto known = c.known_ints(1);
  if (!known) return c.finish(op("reshape"), *operands);
  Attrs attrs;
  // 0 is an extent here, not "as before".
  if (std::find(known->begin(), known->end(), 0) != known->end()) attrs.set("allowzero", std::int64_t{1});
  return c.finish(op("reshape"), {(*operands)[0], c.int_constant(*known)}, std::move(attrs));
}

Result<Values> squeeze(Call& c, const OpRow&) {
  auto x = c.tensor(0);
  if (!x) return Failure{};
  std::vector<std::int64_t> axes = c.ints_attr("squeeze_dims");
  if (axes.empty()) axes = c.ints_attr("axis");
  std::vector<ValueId> operands{*x};
  if (!axes.empty()) operands.push_back(c.int_constant(axes));
  return c.finish(op("squeeze"), std::move(operands));
}

Result<Values> expand_dims(Call& c, const OpRow&) {
  auto x = c.tensor(0);
  auto axis = c.integer(1, "dim");
  if (!x || !axis) return Failure{};
  return c.finish(op("expand_dims"), {*x, c.int_constant({*axis})});
}

Result<Values> transpose(Call& c, const OpRow&) {
  auto x = c.tensor(0);
  if (!x) return Failure{};
  if (!c.has(1)) return c.finish(op("transpose"), {*x});
  auto perm = c.ints(1, "perm");
  if (!perm) return Failure{};
  return c.finish(op("transpose"), {*x}, {{"perm", *perm}});
}

Result<Values> invert_permutation(Call& c, const OpRow&) {
  auto perm = c.ints(0, "the permutation");
  if (!perm) return Failure{};
  std::vector<SymInt> inverse(perm->size(), SymInt(-1));
  for (std::size_t i = 0; i < perm->size(); ++i) {
    const std::int64_t p = (*perm)[i];
    if (p < 0 || p >= static_cast<std::int64_t>(perm->size()) || !inverse[static_cast<std::size_t>(p)].is(-1))
      return c.error("is given no permutation");
    inverse[static_cast<std::size_t>(p)] = SymInt(static_cast<std::int64_t>(i));
  }
  auto data = std::make_shared<Data>();
  data->elements = std::move(inverse);
  return one(c.constant({c.type(0), data}));
}

/// Shape that two shapes broadcast to.
Result<Values> broadcast_args(Call& c, const OpRow&) {
  auto a = c.ints(0, "the first shape");
  auto b = c.ints(1, "the second shape");
  if (!a || !b) return Failure{};
  std::vector<SymInt> out;
  const std::size_t n = std::max(a->size(), b->size());
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t x = i + a->size() >= n ? (*a)[i + a->size() - n] : 1;
    const std::int64_t y = i + b->size() >= n ? (*b)[i + b->size() - n] : 1;
    if (x != y && x != 1 && y != 1) return c.error(fmt::format("{} and {} do not broadcast", x, y));
    out.emplace_back(x == 1 ? y : x);
  }
  auto data = std::make_shared<Data>();
  const auto count = static_cast<std::int64_t>(out.size());
  data->elements = std::move(out);
  return one(c.constant({Type::tensor(c.type(0).dtype(), {count}), data}));
}

}  // namespace perfc::tf
