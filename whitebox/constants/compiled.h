#pragma once
/// What TorchInductor fuses, and what its kernels take.
/// [Sources]: whitebox/constants/README.md.
#include <cstddef>
#include <cstdint>

#include "whitebox/constants/memory_bound.h"

namespace perfc::constants {

// ---- Generated kernels: whitebox/launch/generated_clocks.cpp, compiled.cpp
/// Per byte, for loads and stores; per element that is summed with others (norms of rows, softmax, means), and that
/// belongs to an image and is brought into the order of channels, which lie apart; µs of a kernel beside its work. What
/// operators compute is a column of theirs. [hopper, fit_generated.py]
inline constexpr MemoryBound kGeneratedTime{.byte = 0.0125};
inline constexpr double kGeneratedRow = 0.3, kGeneratedImages = 1.55, kGeneratedUs = 1.5;

/// Bytes of a part of a reduction that is shared out, and of its values where they are a norm's: mean, squares, weight.
/// [torch/_inductor/ir.py, WelfordReduction]
inline constexpr double kPartBytes = 4, kMoments = 3;

// ---- Thresholds: whitebox/launch/realize.cpp, fusion.cpp
/// Elements from which a reduction is a loop. [torch/_inductor/config.py, unroll_reductions_threshold]
inline constexpr std::int64_t kUnrolledReduction = 8;
/// Elements of a row that is in the L2 cache still when its kernel reads it again: of every SM two rows in 32 bits are
/// some 17 MB then. (our choice)
inline constexpr double kCachedRow = 16384;
/// Parts that a concatenation fuses. [torch/_inductor/config.py, max_pointwise_cat_inputs]
inline constexpr std::size_t kMostFusedParts = 8;
/// Reads of an expression with several readers. [torch/_inductor/config.py, realize_reads_threshold]
inline constexpr std::size_t kMostReads = 4;
/// Reads of one with a single reader. [torch/_inductor/config.py, realize_acc_reads_threshold]
inline constexpr std::size_t kMostReadsOfOneReader = 8;
/// Operations of an expression. [torch/_inductor/config.py, realize_opcount_threshold]
inline constexpr int kMostOperations = 30;
/// Operations that an activation and another elementwise operator count, roughly, casts included. (our choice)
inline constexpr int kOperationsOfActivation = 6, kOperationsOfElementwise = 2;
/// Values that a batch-norm reads beside its data: moments, scale. [counted]
inline constexpr std::size_t kStatistics = 3;

}  // namespace perfc::constants
