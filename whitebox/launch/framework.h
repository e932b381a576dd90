#pragma once
/// What PyTorch does with an operator on CUDA: which calls launch no kernel,
/// which run in which width under autocast, which a compiler fuses. The one
/// place to look when a framework's habits change; `kernels.cpp` follows it.
#include <optional>
#include <vector>

#include "whitebox/constants/depthwise.h"
#include "whitebox/predictor.h"

namespace perfc {

/// No kernel and no copy, whatever comes after.
bool is_view(const Node&);
/// A `take` of one constant index.
bool is_select(const Graph&, const Node&);
/// Strided views of eager PyTorch: no kernel until somebody needs them dense. A `take` of windows in equal steps is an
/// unfold.
bool is_strided_view(const Graph&, const Node&);
/// Either of them: computes and moves nothing by itself.
bool is_any_view(const Graph&, const Node&);
/// A pad whose CUDA kernels index memory in order: they copy data that does not lie so, and write what does
/// (aten/src/ATen/native/cuda/ReflectionPad.cu). Replications read and write as data lies (ReplicationPadding.cpp).
bool reflects(const Node&);
/// By category: each element of the result from the same of the operands.
bool is_elementwise(const Node&);
/// The operator whose kernel runs: views that have to copy are reshapes, and
/// pooling to one position is a mean (aten's adaptive_avg_pool does so itself).
OpId kernel_op(const Node&);
/// The bias of a dense layer, which the matrix product adds on its way out
/// (cuBLASLt). cuDNN's convolutions leave theirs to a kernel of its own.
bool is_epilogue(const Graph&, const Node&);
/// What such a bias is added to: the layer's result, behind reshapes. Precondition: `is_epilogue`.
ValueId biased_product(const Graph&, const Node&);

/// Attention that runs as its parts, with its scores in memory: what a model wrote
/// out (`nn.sdpa` with explicit=1), and what the fused kernels do not take. Those
/// want four dims; the rest falls to the reference ("math") implementation, which
/// computes half operands in float32 since PyTorch 2.5.
struct WrittenOutAttention {
  double scores = 0;  ///< elements: batch × heads × queries × keys
  double qk_macs = 0, av_macs = 0;
  bool reference = false;      ///< not written out by the model
  bool repeats_heads = false;  ///< keys and values that groups of heads share: a copy for each head
  bool scales_scores = false;  ///< rather than the queries: a pass over the scores
};
/// What decides about it beside the operands' types.
struct AttentionRun {
  bool reads_in_steps = true;  ///< false: the fused kernels do not take how its operands lie either
  bool half = false;           ///< in 16 bits
};
std::optional<WrittenOutAttention> written_out_attention(const Graph&, NodeId, const AttentionRun&);

/// Attention whose groups of heads share keys and values (enable_gqa). Of the fused kernels only flash attention takes
/// it: 16 bits, no mask (aten/src/ATen/native/transformers/cuda/sdp_utils.cpp).
bool is_grouped_attention(const Graph&, const Node&);
/// Attention with a mask.
bool is_masked_attention(const Node&);
/// Channels of a head as flash attention computes them: whole 16 bytes
/// (aten/src/ATen/native/transformers/attention.cpp, pad_last_dim).
std::int64_t padded_head(std::int64_t channels);
/// Whether such a kernel computes a call of attention that is not written out, and its operands are padded first.
/// `half`: in 16 bits.
bool pads_heads(const Graph&, const Node&, bool half);
/// Share of its tiles that fused attention fills: 128 queries by 128 keys (FlashAttention-2, Dao 2023), and heads
/// of 64, below which exponentials take what products save. timm's transformers on RTX 3090, 4090 and 5090.
double attention_tile_share(const Graph&, const Node& sdpa);

/// Elements of the copy that torch.matmul makes of an operand, which it broadcasts to the result's batch dims before
/// it merges them: a stride of 0 beside another has no view. 0: it makes none.
double broadcast_copy(const Graph&, const Node&, std::size_t operand);

/// Matrix products and what consists of them; autocast runs them in float16.
bool uses_matrix_unit(OpId);
/// Layer, group and RMS norms, which autocast runs in float32 unless `ExecConfig::norms` says otherwise.
bool is_float32_norm(const Node&);
/// Norms with statistics of each row: layer and RMS norms.
bool is_row_norm(const Node&);
/// Bytes that PyTorch's kernel writes beside its results, asked for or not: the positions of max pooling, and the mask
/// of dropout (aten/src/ATen/native/cuda/Dropout.cu, fused_dropout_kernel).
double unasked_bytes(const Node&);

/// What a convolution with groups computes in each of them, and how its data lies.
struct ConvolutionGroup {
  double inputs = 1, outputs = 1;  ///< channels
  double window = 1;               ///< elements of the kernel
  bool channels_last = false;
  bool wide_index = false;  ///< see below
  bool float16 = false;     ///< computes in float16: neither in 32 bits nor in bfloat16
  bool float32 = false;     ///< computes in 32 bits
  bool has_strides = false;
  bool own_kernels = false;  ///< the runtime has depthwise kernels of its own, which nobody measured, beside cuDNN's
};
/// Whether groups are products narrow as they are on the matrix units; else each is a
/// few dot products on the vector units.
bool on_matrix_units(const ConvolutionGroup&);
/// Powers of two from 4: cuDNN has kernels of their own for the gradients of groups of so many channels.
bool has_own_kernel(double width);
/// A depthwise convolution that PyTorch leaves to cuDNN and that has a kernel there: channels first in float16 up to
/// 5×5, channels last up to 7×7. [aten/src/ATen/native/Convolution.cpp, use_cudnn_depthwise]
bool is_cudnn_depthwise(const ConvolutionGroup&);
/// Clocks of PyTorch's own kernel for the others. `generic32`: beyond 5×5 it is not unrolled in 32 bits either, as on
/// Hopper.
const constants::DepthwiseClocks& depthwise_clocks(const ConvolutionGroup&, bool generic32);
/// Share of the vector units' peak that the others reach, on SMs of `constants::kLimitLanes` lanes; 0: no such limit,
/// as of cuDNN's depthwise kernels, which have blocks (depthwise_blocks.h). PyTorch's own by their clocks. By shares,
/// as timm's convmixer, dla and coatnet runs show: groups of a few channels, and cuDNN's fallback (channels last:
/// beyond 7×7, with several results per channel, or groups of 2, 3, 6 … channels; eager, data that 32 bits cannot
/// index).
double vector_limit(const ConvolutionGroup&);
/// Steps that each thread of PyTorch's bilinear and bicubic upsampling takes one
/// after the other: there is a thread per position of the plane, and batch and
/// channels are a loop. So it is with the channels of grid sampling, whichever mode and layout
/// (aten/src/ATen/native/cuda/GridSampler.cu). 0: another kernel, with a thread per element.
double serial_steps(const Graph&, NodeId, bool channels_last);

/// Whether an operand or result has more elements than 32 bits index.
bool wide_index(const Graph&, const Node&);
/// Factor on the time of such calls: eager PyTorch concatenates part by part and splits convolutions,
/// TorchInductor computes in 64 bits. Means of timm's runs on RTX 3090, 4090 and 5090.
double index_slowdown(const Node&, ExecMode);

/// TorchScript's in-place forms ("relu_"), which write into their operand's memory;
/// the importer keeps the call's name.
bool writes_in_place(const Node&);
/// Of a call that writes some elements of its first operand where they lie (slice assignment, index_put_,
/// scatter_add_, …): which operand holds them. None: no such call.
std::optional<std::size_t> part_written_in_place(const Node&);
/// The same of a compiled graph. TorchInductor writes a slice where it lies if the whole is an input or a buffer; else
/// it computes all of it anew, fused with its neighbours (torch/_inductor/fx_passes/reinplace.py,
/// should_reinplace_scatter). Scatters by index always write in place.
std::optional<std::size_t> part_compiled_in_place(const Graph&, const Node&);

/// What a compiler fuses with its neighbours.
bool fuses(const Node&);
/// Of that, what a kernel can hold one of. TorchInductor writes reductions of few elements out.
bool is_reduction(const Graph&, const Node&);
/// Pooling by windows, which is no reduction to a compiler: results read a few elements each.
bool is_window(const Node&);

}  // namespace perfc
