#pragma once
#include "whitebox/launch/framework.h"
#include "whitebox/launch/kernels.h"

/// Which kernel a batch norm takes in eager mode, and what limits that beside memory.
namespace perfc {

/// PyTorch's own kernel: parameters in 16 bits, which cuDNN has none for
/// (aten/src/ATen/native/Normalization.cpp, _select_batch_norm_backend).
bool has_own_batch_norm(const ExecConfig&);

/// Sets `limits` of the batch norm of data of a static type. Nothing for compilers, which write their own, and for
/// training channels last, which memory alone limits (batchnorm_fwtr_nhwc_semiPersist).
void limit_batch_norm(const ExecConfig&, const Type& data, bool channels_last, Kernel&);

}  // namespace perfc
