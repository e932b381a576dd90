#pragma once
/// Whether PyTorch's reshape shares memory or copies, which decides what a later
/// in-place operator changes. Strides follow from the chain of views, on a
/// storage that is contiguous.
#include "frontends/torch/value.h"
#include "ir/strides.h"

namespace perfc::torch {

/// Strides of a tensor in elements; nothing where a shape is open or the chain
/// holds a step that strides do not describe.
std::optional<Strides> strides_of(const GraphBuilder&, const Tensor&);

}  // namespace perfc::torch
