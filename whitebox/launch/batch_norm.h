#pragma once
#include "whitebox/launch/framework.h"
#include "whitebox/launch/kernels.h"

/// Which kernel a batch norm takes in eager mode, and what limits that beside memory.
namespace perfc {

/// PyTorch's own kernel: parameters in 16 bits, which cuDNN has none for
/// (aten/src/ATen/native/Normalization.cpp, _select_batch_norm_backend).
bool has_own_batch_norm(const ExecConfig&);

/// Whether a batch norm adds up its batch's statistics: in training, and in programs that were exported so.
bool has_batch_statistics(const Node& norm);

/// Makes `norm`'s kernel one that does, but for what it moves. Channels first, a thread block per channel;
/// TorchInductor splits its sums (torch/_inductor/ir.py, Reduction.num_splits). `parameter`: one per channel.
void be_of_batch(const Type& parameter, bool channels_last, Kernel& norm);

/// Sets `limits` of a batch norm. Nothing for compilers, which write their own, and for
/// training channels last, which memory alone limits (batchnorm_fwtr_nhwc_semiPersist).
void limit_batch_norm(const ExecConfig&, const Node& norm, bool channels_last, Kernel&);

}  // namespace perfc
