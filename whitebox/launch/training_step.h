#pragma once
/// The kernels of a training step beside the forward pass: backward pass and optimizer.
#include "whitebox/launch/kernels.h"

namespace perfc {

/// Appends to the plan of a forward pass what `loss.backward()` and the optimizer launch:
/// products for the gradients of data and weights, gradients of everything else, sums where
/// a value has several users, casts of gradients, and per parameter what the optimizer does.
/// Kernels are reported under the node that they are the gradient of.
void add_training_step(const Graph&, const ExecConfig&, KernelPlan&);

}  // namespace perfc
