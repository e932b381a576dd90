#pragma once
/// How a tensor lies in memory: by dim, how many elements apart its neighbours are.
#include <optional>
#include <vector>

#include "ir/types.h"

namespace perfc {

using Strides = std::vector<std::int64_t>;

/// Row-major strides; nothing where a dim is open.
std::optional<Strides> contiguous_strides(const Shape&);

/// Strides of the same memory seen in another shape; nothing when only a copy has it.
/// (Adjacent dims merge when the outer stride spans the inner dims, and split freely.)
std::optional<Strides> viewed(const Shape& shape, const Strides& strides, const Shape& as);

/// Row-major without gaps; dims of 1 may have any stride (torch.Tensor.is_contiguous).
bool is_contiguous(const Shape&, const Strides&);

/// The same with dim 1 innermost: batch, positions, channels. Of three dims or more.
bool is_contiguous_channels_last(const Shape&, const Strides&);

}  // namespace perfc
