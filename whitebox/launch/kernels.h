#pragma once
/// What the device is asked to run: the kernels that a framework launches for a
/// graph, with their work. Device-independent; `whitebox.cpp` prices them.
///
/// Eager execution launches one kernel per operator. Views are free, and so are
/// PyTorch's strided views (transpose, slice, split, expand), unless a reshape
/// has to copy them. Attention that the model wrote out is two products, a
/// softmax and what stands between them. Under AMP, casts are kernels of their
/// own: matrix products and convolutions take float16, normalisation float32,
/// the rest follows its operands (PyTorch autocast's lists); softmax and sums
/// read float16 and write float32 without a cast.
/// Compiled execution keeps matrix products and convolutions and fuses the rest
/// into groups with at most one reduction; bytes are what crosses group borders.
///
/// Equal kernels come out equal whichever exporter wrote the model: weights are
/// cast as rows of elements, however they are stored; views between two kernels
/// are one call of the host, however many were written; a group of fused
/// operators takes its geometry from the one that shapes it.
#include <array>
#include <utility>
#include <vector>

#include <boost/container/small_vector.hpp>

#include "ir/infer_context.h"
#include "whitebox/predictor.h"

namespace perfc {

/// Which execution unit and which share of its peak a kernel can reach.
enum class KernelKind { Matmul, Convolution, Depthwise, Vector, Gather };
/// Their names, in that order.
inline constexpr std::array kKernelKinds{"matmul", "convolution", "depthwise", "vector", "gather"};

inline constexpr double kUngrouped = 1e9;

/// Which operands of a product have 8 bits or fewer.
enum class Quantised : std::uint8_t {
  None,
  Weights,  ///< its second operand, which the kernel makes wide again before it multiplies
  Both,     ///< multiplied in 8 bits, written in 16
  Whole,    ///< multiplied and written in 8 bits
  Float8,   ///< multiplied in float8 (e4m3), written in 16
};
inline bool multiplies_eight_bits(Quantised q) { return q >= Quantised::Both; }

/// What a kernel is for.
enum class Pass : std::uint8_t {
  Inference,
  Forward,         ///< of a training step
  DataGradient,    ///< of a product, a convolution or a batch norm
  WeightGradient,  ///< of a product or a convolution
  Backward,        ///< all else that follows the forward pass: other gradients, the optimizer
};

/// What a kernel computes.
struct Work {
  double macs = 0;
  double flops = 0;  ///< beside the MACs
};

/// A kernel's extents as a product of matrices: `products` times m × k by k × n.
/// Convolutions are implicit products: m = batch × positions, n = output channels
/// and k = input channels × window of a group, one product per group; the gradient
/// of their data is such a convolution, that of their weights has m = input channels
/// × window, n = output channels, k = batch × positions. Kernels that multiply
/// nothing: m = rows and n = length of the last axis of what they write, k = elements
/// read per element written.
struct Extents {
  double m = 0, n = 0, k = 0, products = 1;
  double window = 1;  ///< of a convolution: elements of its kernel
  double stride = 1;  ///< of a convolution: product over the spatial axes
  double tiles = 0;   ///< of a 2-D convolution: tiles of 4 × 4 positions, the last ones of a plane not full
  double channels_per_group = kUngrouped;  ///< of a grouped convolution: the width of its products
  double row = 0;                          ///< of a convolution: positions along its result's last axis
  double weights = 0;  ///< of a convolution: elements of its weights; of a batch norm in training: channels
  double groups = 0;   ///< of a product of groups: all of them; `products` have rows. 0: it is no such product
};

/// Of attention that one kernel computes, what the extents of its products do not say.
struct AttentionSpan {
  double batch = 0;           ///< 0: it is no such attention
  double heads = 0;           ///< of a sequence
  double key_heads = 0;       ///< heads of keys and values: fewer where several share them
  double queries = 0;         ///< of a sequence
  double keys = 0;            ///< of a sequence, those in the cache included
  double channels = 0;        ///< of a head
  bool causal = false;        ///< a query meets no key after its own
  double past = 0;            ///< of causal attention: keys before the first query's own
  double window = 0;          ///< of causal attention: keys that a query meets at most; 0: all
  bool writes_cache = false;  ///< it puts its keys and values into a cache first
  bool masked = false;        ///< a mask or a bias is added to its scores
  bool in_engine = false;     ///< TensorRT's kernel computes it, not PyTorch's
  bool unequal = false;       ///< keys have other channels than values
};

/// Whose kernels compute attention without a softmax.
enum class StateKernels : std::uint8_t {
  None,     ///< it is no such attention
  Library,  ///< flash-linear-attention's, in Triton, which models of PyTorch call
  Tokens,   ///< ONNX Runtime's LinearAttention: token by token
  Chunks,   ///< ONNX Runtime's GatedDeltaNet: by chunks of tokens
};

/// Of attention without a softmax, what its traffic does not say.
struct StateSpan {
  StateKernels kernels = StateKernels::None;
  double sequences = 0;
  double heads = 0;         ///< states of a sequence
  double tokens = 0;        ///< of a sequence
  double keys = 0;          ///< channels of a key …
  double values = 0;        ///< … and of a value
  bool by_channel = false;  ///< each channel of a key fades by its own factor
};

/// How its data lies in memory.
struct Placement {
  /// Extents that tensor cores take: 1 at full rate (multiples of 8), 0.5 with loads of two elements or
  /// (convolutions) channels that cuDNN pads, 0 not.
  double aligned = 0;
  bool channels_first = false;  ///< of a convolution; compilers convert (torch.compile's layout optimisation)
  bool wide_index = false;      ///< data that 32 bits cannot index
  bool transposed = false;      ///< of a copy: neighbours of its result are none in what it reads
  bool whole_rows = false;      ///< of a gather: it copies rows, 16 byte a thread
  bool blocked = false;         ///< of a convolution: MLAS' own, on blocks of channels
  /// Of a convolution: three spatial dims, dilated, transposed with strides, or groups in 32 bits, which are no kernels
  /// of those that were measured, or whose kernel differs by cuDNN's version.
  bool rare = false;
};

/// What it moves.
struct Traffic {
  double bytes = 0;          ///< read and written
  double handed_bytes = 0;   ///< of that, what kernels of this run hand to each other: neither weights nor inputs
  double state_weights = 0;  ///< bytes of a recurrence's weights that each of its steps reads …
  double steps = 1;          ///< … and its steps; what the cache holds is read once
  bool resident = false;     ///< those weights stay in the multiprocessors from step to step
  /// Of a product that TorchInductor compiles: what copies of operands would move that make its extents whole 16 bytes;
  /// it makes them where that is faster.
  double padding_bytes = 0;
  /// Beside `bytes`: what operators fused behind a product or a convolution read of other values (a residual).
  double epilogue_bytes = 0;
  /// Of a product whose call adds a bias: bytes of the result, which PyTorch for AMD fills with the bias before.
  double biased_bytes = 0;
};

/// Of a depthwise kernel of cuDNN's (whitebox/launch/depthwise_blocks.h).
struct BlockClocks {
  double blocks = 0;  ///< thread blocks that share the SMs; 0: it is no such kernel
  double each = 0;    ///< clocks of an SM that one of them takes
  double first = 0;   ///< clocks of the kernel beside them
};

/// What its implementation reaches, and what it waits for.
struct Limits {
  double tile_share = 1;    ///< of a fused attention's tiles, what it fills
  double vector_share = 0;  ///< most of the vector units' peak that it reaches; 0: the device's share
  double serial_steps = 0;  ///< dependent steps of each thread, where there are too few threads to hide them
  double row_blocks = 0;    ///< thread blocks that work on one row each, however short it is
  double blocks = 0;        ///< thread blocks, where there are few; 0: enough for any device
  double busy_cached = 1;   ///< of these, what keeps an SM busy where the L2 cache holds what they move …
  double busy_missed = 1;   ///< … and where memory does
  double blocks_held = 0;   ///< of these, what an SM holds at once, one after the other beyond; 0: all
  double byte_clocks = 0;   ///< clocks of an SM per byte that it moves; 0: as an elementwise kernel
  bool on_lanes = false;    ///< those are of kLanes float32 lanes, and fewer where an SM has more
  bool generated = false;   ///< TorchInductor wrote it: `byte_clocks` are what it computes, however it loads
  double tail_clocks = 0;   ///< of one thread block, when the others are done
  BlockClocks depthwise;    ///< where it is such a kernel of cuDNN's
  double slowdown = 1;      ///< of its roofline time, against inference kernels of its kind
  bool all_groups = false;  ///< of a product of groups: the runtime has one kernel for all of them, whatever the GPU
};

/// Who reads the fields one by one does so by `visit_fields` (whitebox/launch/kernel_fields.h).
struct Kernel {
  NodeId node = 0;    ///< node it is reported under (of the outer graph, for bodies)
  double repeat = 1;  ///< trips of the enclosing loops
  KernelKind kind = KernelKind::Vector;
  Pass pass = Pass::Inference;
  bool half = false;                            ///< computes in 16 bits
  Quantised quantised = Quantised::None;        ///< of a product
  boost::container::small_vector<OpId, 2> ops;  ///< what it computes; the first gives it its kind
  Work work;
  Extents extents;
  Placement placement;
  Traffic traffic;
  Limits limits;
  AttentionSpan attention;
  StateSpan state;
};

struct KernelPlan {
  std::vector<Kernel> kernels;  ///< in execution order
  /// (from, to): `to` reads what `from` writes, views in between left out. Within
  /// one body of control flow.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
  HostCalls host_calls;               ///< what the host dispatches: calls (eager) or kernels (compiled)
  std::vector<HostCalls> dispatched;  ///< by kernel: of these, those up to the one that launches it
  std::vector<std::string> warnings;

  /// A kernel of the call that was counted last.
  void add(Kernel k) {
    kernels.push_back(std::move(k));
    dispatched.push_back(host_calls);
  }
};

/// Fails on types that are not static; the error names the node and the flag.
Result<KernelPlan> plan_kernels(const Graph&, const ExecConfig&, Diagnostics&);

/// Bytes per element that a float32 value takes under a precision, but for what int8 and fp8 compute in 8 bits.
double float_bytes(Precision);

}  // namespace perfc
