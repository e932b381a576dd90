#pragma once
/// The longest common subsequence of two sequences of symbols, as far as that is cheap.
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace perfc {

using IndexPairs = std::vector<std::pair<std::size_t, std::size_t>>;

/// Pairs (i, j) with a[i] == b[j], ascending in both. Myers' O(ND) algorithm in linear space ("An O(ND) Difference
/// Algorithm and Its Variations", 1986); a part whose difference exceeds `most_steps` is cut at the farthest point that
/// was reached, so that the time is O((|a| + |b|) · most_steps) and the pairs are then common but perhaps not the most.
IndexPairs common_subsequence(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b,
                              std::ptrdiff_t most_steps = 512);

}  // namespace perfc
