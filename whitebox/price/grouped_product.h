#pragma once
/// Products of groups of rows with a matrix each (torch._grouped_mm): the experts of a mixture.
#include "devices/host.h"
#include "whitebox/price/roofline.h"

namespace perfc {

/// Whether PyTorch has one kernel for all groups: CUTLASS' of Hopper and of data centres' Blackwell (compute capability
/// 9 and 10) and CK's of MI300 and later, in bfloat16 (aten/src/ATen/native/cuda/GroupedBlas.cpp, _grouped_mm_cuda).
bool has_grouped_kernel(const Device&, bool bfloat16);
bool is_grouped_product(const Kernel&);
/// Where neither PyTorch nor the runtime (`Limits::all_groups`) has one kernel: of all groups that have rows, one each.
Priced price_grouped_product(const Kernel&, const Rates&);
/// What the host does beside the call where there is no such kernel: it waits for the groups' ends, and calls a product
/// for each group (aten/src/ATen/native/GroupedMMUtils.h, _grouped_mm_fallback).
HostCalls calls_of_groups(const KernelPlan&);

}  // namespace perfc
