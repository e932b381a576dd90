#pragma once
/// Rules for LSTM, GRU, RNN; a row names its cell.
#include <cstddef>
#include <cstdint>

#include "ir/ops/rules.h"

namespace perfc::rules {

/// What sets one recurrent operator apart from another.
struct Cell {
  std::int64_t gates = 1;
  std::size_t results = 2;    ///< Y, Y_h and, where there is a cell state, Y_c
  double flops_per_unit = 0;  ///< elementwise work per hidden unit and step, see docs/macs.md
  bool cell_state = false;    ///< has initial_c and peepholes
  bool transposed = false;    ///< weights are [directions, in, gates·hidden] (com.microsoft)
};
inline constexpr Cell kLstm{.gates = 4, .results = 3, .flops_per_unit = 17, .cell_state = true};
inline constexpr Cell kQuantizedLstm{
    .gates = 4, .results = 3, .flops_per_unit = 17, .cell_state = true, .transposed = true};
inline constexpr Cell kGru{.gates = 3, .results = 2, .flops_per_unit = 15};
inline constexpr Cell kRnn{.gates = 1, .results = 2, .flops_per_unit = 3};

Status recurrent_of(InferContext&, const Cell&);
void recurrent_cost_of(const CostContext&, OpCost&, const Cell&);
template <const Cell& Of>
Status recurrent(InferContext& c) {
  return recurrent_of(c, Of);
}
template <const Cell& Of>
void recurrent_cost(const CostContext& c, OpCost& cost) {
  recurrent_cost_of(c, cost, Of);
}

}  // namespace perfc::rules
