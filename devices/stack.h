#pragma once
/// Software stacks: what a framework and its CUDA libraries take of a GPU's memory beside what the framework's
/// allocator reserves, and which kernels they choose where that changed. A property of their versions, not of the
/// GPU. Data: `data/stacks.json`, in the format of `--stack FILE`.
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ir/support/diagnostics.h"

namespace perfc {

/// Which kernel PyTorch's scaled_dot_product_attention takes first on GPUs that have both, Hopper and data-centre
/// Blackwell, in 16 bits: FlashAttention-2 from 2.5.1 on, cuDNN's with cuDNN 9.15.1, which PyTorch ships since 2.11
/// (aten/src/ATen/native/transformers/cuda/sdp_utils.cpp, check_prefer_cudnn_attention; pytorch/pytorch #138522).
enum class StackAttention : std::uint8_t { NotSaid, Flash, Cudnn };
std::string_view name(StackAttention);

/// Which attention that a model wrote out TorchInductor replaces by scaled_dot_product_attention
/// (torch/_inductor/fx_passes/fuse_attention.py). Today's: in 16 bits or TF32, permuted operands, too, where the scores
/// are multiplied (pytorch/pytorch #177826; of 2.9.1 not so). Contiguous: before, of any precision, where a product
/// takes all operands as they lie.
enum class CompiledAttention : std::uint8_t { Today, Contiguous };
std::string_view name(CompiledAttention);

struct Stack {
  std::string name;                   ///< "pytorch-2"
  std::string title;                  ///< "PyTorch of today"
  std::string framework;              ///< "PyTorch 2.x"
  std::string cuda;                   ///< "CUDA 12.2 or later"
  double context_mib = 0;             ///< runtime, libraries and the kernels that they load, whatever the model
  double context_kib_per_thread = 0;  ///< more for each thread that the device holds at once: stacks and local memory
  double convolution_mib = 0;         ///< more where a model convolves: cuDNN and its kernels
  std::map<std::string, double> product_workspace_mib;  ///< of cuBLAS, by architecture; "other" for those not named
  StackAttention attention = StackAttention::NotSaid;   ///< not said: today's, cuDNN's
  CompiledAttention compiled_attention = CompiledAttention::Today;
  double interval = 1;  ///< 90 % of the contexts that this entry stands for lie within this factor of it
  std::string source;

  /// In MiB, on a device that holds so many threads at once.
  double context(double resident_threads, bool convolves) const;
  /// In MiB, on a device of this architecture.
  double product_workspace(const std::string& architecture) const;
};

/// The stacks built into the program.
const std::vector<Stack>& builtin_stacks();
/// A built-in stack, case-insensitive. Unknown names are an error that suggests the nearest.
Result<Stack> find_stack(std::string_view name, Diagnostics&);
/// The one stack of a stack file's text; every wrong field is named.
Result<Stack> parse_stack(std::string_view json, Diagnostics&);

}  // namespace perfc
