#pragma once
/// Whether PyTorch's reshape shares memory or copies, which decides what a later
/// in-place operator changes. Strides follow from the chain of views, on a
/// storage that is contiguous.
#include <optional>
#include <vector>

#include "frontends/torch/value.h"

namespace perfc::torch {

using Strides = std::vector<std::int64_t>;

/// Strides of a tensor in elements; nothing where a shape is open or the chain
/// holds a step that strides do not describe.
std::optional<Strides> strides_of(const GraphBuilder&, const Tensor&);

/// Strides of the same memory seen in another shape; nothing when only a copy has it.
/// (Adjacent dims merge when the outer stride spans the inner dims, and split freely.)
std::optional<Strides> viewed(const Shape& shape, const Strides& strides, const Shape& as);

/// Row-major strides; nothing where a dim is open.
std::optional<Strides> contiguous_strides(const Shape&);

}  // namespace perfc::torch
