#include "ir/ops/recurrent.h"

#include "ir/infer_context.h"
#include "ir/ops/rule_helpers.h"

namespace perfc::rules {
namespace {

enum RecurrentOperand : std::size_t { kX, kW, kR, kB, kLengths, kInitialH, kInitialC, kPeepholes };
constexpr double kPeepholeFlops = 6;  ///< three products and sums per hidden unit and step

bool batch_first(const Attrs& attrs) { return attrs.int_or("layout", 0) == 1; }

}  // namespace

Status recurrent_of(InferContext& c, const Cell& k) {
  if (c.results() > k.results) return c.error("has {} results, at most {} exist", c.results(), k.results);
  const std::int64_t layout = c.attrs.int_or("layout", 0);
  if (layout != 0 && layout != 1) return c.error("layout must be 0 or 1, is {}", layout);
  const std::string_view direction = c.attrs.string_or("direction", "forward");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional") {
    return c.error("unknown direction '{}'", direction);
  }
  const Dim directions = direction == "bidirectional" ? 2 : 1;
  if (!require_rank(c, kX, "X", 3) || !require_rank(c, kW, "W", 3) || !require_rank(c, kR, "R", 3)) {
    return Failure{};
  }
  if (!require_dtype(c, kX, "X", is_float, "floating point")) return Failure{};

  const auto dim = [&](std::size_t i, std::size_t d) { return ranked(c, i) ? c.type(i).shape()[d] : Dim::unknown(); };
  const std::size_t weight_in = k.transposed ? 1 : 2, weight_gates = k.transposed ? 2 : 1;
  Dim hidden = dim(kR, weight_in);
  if (c.attrs.has("hidden_size")) {
    const std::int64_t declared = c.attrs.int_or("hidden_size", 0);
    if (declared < 1) return c.error("hidden_size must be positive, is {}", declared);
    auto same = same_dim(c, hidden, declared, "hidden sizes of R and the attribute hidden_size");
    if (!same) return Failure{};
    hidden = *same;
  } else if (!hidden.known() && dim(kW, weight_gates).known()) {
    hidden = trunc_div(dim(kW, weight_gates), k.gates);
  }
  const auto input = same_dim(c, dim(kX, 2), dim(kW, weight_in), "input sizes of X and W");
  if (!input) return Failure{};
  const Dim gates = hidden * Dim(k.gates);
  const Dim seq = dim(kX, batch_first(c.attrs) ? 1 : 0);
  const Dim batch = dim(kX, batch_first(c.attrs) ? 0 : 1);
  const auto state = [&]() -> Shape {
    if (batch_first(c.attrs)) return {batch, directions, hidden};
    return {directions, batch, hidden};
  };

  const auto weight = [&](const Dim& in) -> Shape {
    if (k.transposed) return {directions, in, gates};
    return {directions, gates, in};
  };
  if (!require_dims(c, kW, "W", weight(*input)) || !require_dims(c, kR, "R", weight(hidden)) ||
      !require_dims(c, kB, "B", {directions, gates * Dim(2)}) || !require_dims(c, kLengths, "sequence_lens", {batch}) ||
      !require_dims(c, kInitialH, "initial_h", state())) {
    return Failure{};
  }
  if (c.has(kLengths) && !require_dtype(c, kLengths, "sequence_lens", is_index, "int32")) return Failure{};
  if (k.cell_state && (!require_dims(c, kInitialC, "initial_c", state()) ||
                       !require_dims(c, kPeepholes, "P", {directions, hidden * Dim(3)}))) {
    return Failure{};
  }

  const DType dtype = c.type(kX).dtype();
  Shape sequence{seq, directions, batch, hidden};
  if (batch_first(c.attrs)) sequence = {batch, seq, directions, hidden};
  for (std::size_t i = 0; i < c.results(); ++i) c.set(i, Type::tensor(dtype, i == 0 ? sequence : state()));
  return ok();
}

void recurrent_cost_of(const CostContext& c, OpCost& cost, const Cell& k) {
  if (!c.type(kX).is_static() || !c.type(kW).is_static() || !c.type(kR).is_static()) return;
  const double steps = c.dim(kX, 0) * c.dim(kX, 1);  // sequence × batch, in either layout
  const double hidden = c.dim(kR, k.transposed ? 1 : 2);
  const double units = steps * c.dim(kW, 0) * hidden;
  cost.macs = units * static_cast<double>(k.gates) * (c.dim(kX, 2) + hidden);
  cost.flops = units * (k.flops_per_unit + (k.cell_state && c.has(kPeepholes) ? kPeepholeFlops : 0));
}

}  // namespace perfc::rules
