/// What fixes do to the calls that they mend.
#include <fmt/format.h>

#include "passes/batch_fixes.h"

namespace perfc::passes {

std::int64_t extent(const Type& type, std::size_t axis) {
  return type.ranked() && axis < type.rank() && type.shape()[axis].known() ? type.shape()[axis].value() : 0;
}

std::optional<std::vector<std::int64_t>> static_shape(const Type& type) {
  if (!type.is_tensor() || !type.is_static()) return std::nullopt;
  std::vector<std::int64_t> shape;
  for (const Dim& d : type.shape()) shape.push_back(d.value());
  return shape;
}

std::optional<std::vector<std::int64_t>> BatchedCall::hard_coded(std::size_t i) const {
  if (!has(i)) return std::nullopt;
  const Data* before = graph().data(node().operands[i]);
  const Data* after = rewriter.builder().data(operands[i]);
  return before && after && *before == *after ? before->known_ints() : std::nullopt;
}

void BatchedCall::replace(std::size_t i, const std::vector<std::int64_t>& contents) {
  operands[i] = rewriter.builder().constant(int64_vector(contents), graph().node(node().operands[i]).name, node().loc);
}

namespace {

/// Elements of a constant that shapes may be computed from.
constexpr std::int64_t kMostElements = 4096;

/// `value`, its dim `axis` grown or shrunk to `extent` by repeating or cutting.
Result<ValueId> fitted(BatchedCall& c, ValueId value, std::size_t axis, std::int64_t extent, const std::string& what) {
  GraphBuilder& b = c.rewriter.builder();
  const Type& type = b.type(value);
  const auto shape = static_shape(type);
  if (!shape || axis >= shape->size() || (*shape)[axis] <= 0) {
    return c.error(
        fmt::format("{}, {}, was made for the old batch, and its dim {} is not known", what, to_string(type), axis));
  }
  const std::int64_t before = (*shape)[axis];
  if (before == extent) return value;
  CallSpec call{.name = c.node().name, .loc = c.node().loc};
  // Indices and masks that an exporter computed: for the new batch it would have computed more of them.
  Shape grown = type.shape();
  grown[axis] = extent;
  const Node& n = b.node(value.node);
  const Type whole = Type::tensor(type.dtype(), std::move(grown));
  if (c.change.contents == Contents::Types && n.kind == NodeKind::Constant && before > 1 && extent % before == 0 &&
      !is_float(type.dtype()) && whole.elements().value_or(0) > kMostElements)
    return b.constant({whole, nullptr}, n.name);
  if (extent > before) {
    call.op = before == 1 ? op("broadcast_to") : op("tile");
    std::vector<std::int64_t> target = before == 1 ? *shape : std::vector<std::int64_t>(shape->size(), 1);
    target[axis] = extent / before + (extent % before != 0 ? 1 : 0);
    call.operands = {value, b.constant(int64_vector(target))};
    auto repeated = b.value(call);
    if (!repeated || extent % before == 0) return repeated;
    value = *repeated;
  }
  call.op = op("strided_slice");
  call.operands = {value, b.constant(int64_vector({0})), b.constant(int64_vector({extent})),
                   b.constant(int64_vector({static_cast<std::int64_t>(axis)}))};
  return b.value(std::move(call));
}

/// The known integers of an operand that stands for one number; nothing for others.
std::optional<std::int64_t> hard_coded_number(const BatchedCall& c, std::size_t i) {
  const auto values = c.hard_coded(i);
  return values && values->size() == 1 ? std::optional(values->front()) : std::nullopt;
}

}  // namespace

Status BatchedCall::fit(std::size_t i, BatchDim at, std::int64_t extent) {
  demands.add(node().operands[i], at);
  const auto value = fitted(*this, operands[i], at.axis, extent, fmt::format("operand {}", i));
  if (!value) return Failure{};
  operands[i] = *value;
  return ok();
}

bool restate_batch(BatchedCall& c, BatchDim at) {
  const auto wanted = c.change.scale(extent(c.old_result(), at.axis));
  if (!wanted) return false;
  if (c.node().is(op("arange"))) {
    const auto start = hard_coded_number(c, 0), step = hard_coded_number(c, 2);
    std::int64_t stop = 0;
    if (!start || !step || !hard_coded_number(c, 1) || c.old_type(1).dtype() != DType::Int64 ||
        __builtin_mul_overflow(*step, *wanted, &stop) || __builtin_add_overflow(*start, stop, &stop))
      return false;
    c.operands[1] = c.rewriter.builder().constant(int64_scalar(stop), {}, c.node().loc);
    return true;
  }
  if (c.node().is(op("tile"))) {
    auto repeats = c.hard_coded(1);
    const std::int64_t once = extent(c.old_type(0), at.axis);
    if (!repeats || at.axis >= repeats->size() || once == 0 || *wanted % once != 0) return false;
    (*repeats)[at.axis] = *wanted / once;
    c.replace(1, *repeats);
    return true;
  }
  const std::size_t target = c.node().is(op("full")) ? 0 : c.node().is(op("broadcast_to")) ? 1 : SIZE_MAX;
  if (target == SIZE_MAX) return false;
  auto dims = c.hard_coded(target);
  if (!dims || dims->size() != c.old_result().rank()) return false;
  (*dims)[at.axis] = *wanted;
  c.replace(target, *dims);
  return true;
}

Status fit_result(BatchedCall& c, std::uint32_t r, BatchDim at) {
  const auto wanted = c.change.scale(extent(c.node().results[r].type, at.axis));
  if (!wanted) return ok();
  const auto value = fitted(c, c.rewriter[{c.id, r}], at.axis, *wanted, fmt::format("result {}", r));
  if (!value) return Failure{};
  c.rewriter.map({c.id, r}, *value);
  return ok();
}

Failure BatchedCall::error(const std::string& reason) const {
  const Node& n = node();
  return rewriter.builder().diagnostics().error(
      n.loc, n.name,
      fmt::format("{}: cannot change the batch from {} to {}: {}", def(n.op).name, change.from, change.to, reason));
}

}  // namespace perfc::passes
