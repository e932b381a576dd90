#pragma once
/// A kernel of the plan as the problem of the model that prices its kind.
#include <optional>

#include "whitebox/launch/kernels.h"
#include "whitebox/price/attention_time.h"
#include "whitebox/price/memory_bound_time.h"

namespace perfc {

/// None for products, convolutions, scatters and sorts.
std::optional<MemoryBoundProblem> memory_bound_problem(const Kernel&);

/// None but for fused attention on matrix units, of so many queries that they fill tiles: for few, keys are split.
std::optional<AttentionProblem> attention_problem(const Kernel&);

/// `bandwidth`: byte/s that streams reach. SMs are 0 on a CPU, and where their number or clock is unknown.
MemoryFacts memory_facts(const Device&, double bandwidth);

/// `matrix_flops`: of the precision, FLOP/s; `sustained`: share of it that long products reach.
AttentionFacts attention_facts(const Device&, double bandwidth, double matrix_flops, double sustained);

}  // namespace perfc
