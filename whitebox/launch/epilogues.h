#pragma once
/// Kernels that a runtime leaves out: what a product or a convolution computes on its result before it writes it.
#include <cstddef>

#include "whitebox/launch/kernels.h"

namespace perfc {

/// Puts elementwise kernels of the plan, from the `first` on, into the product or convolution whose result only they
/// read, as far as the runtime's row has it (RuntimeDef::epilogue). Of several values that one adds, the last written
/// is the one that is still in registers.
void fuse_epilogues(Epilogue, std::size_t first, KernelPlan&);

}  // namespace perfc
