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
#include <vector>

#include "features/predictor.h"
#include "ir/infer_context.h"

namespace perfc {

/// Which execution unit and which share of its peak a kernel can reach.
enum class KernelKind { Matmul, Convolution, Depthwise, Vector, Gather };

inline constexpr double kUngrouped = 1e9;

struct Kernel {
  NodeId node = 0;                ///< node it is reported under (of the outer graph, for bodies)
  KernelKind kind = KernelKind::Vector;
  bool half = false;              ///< computes in 16 bits
  bool aligned = false;           ///< extents that tensor cores take (multiples of 8)
  bool channels_first_conv = false;   ///< compilers convert to channels last (torch.compile's layout optimisation)
  double channels_per_group = kUngrouped;  ///< of a grouped convolution: the width of its products
  double macs = 0;
  double flops = 0;               ///< beside the MACs
  double bytes = 0;               ///< read and written
  double repeat = 1;              ///< trips of the enclosing loops
};

struct Schedule {
  std::vector<Kernel> kernels;    ///< in execution order
  double host_ops = 0;            ///< operators (eager) or kernels (compiled) the host dispatches
  std::vector<std::string> warnings;
};

/// Fails on types that are not static; the error names the node and the flag.
Result<Schedule> schedule(const Graph&, const ExecConfig&, Diagnostics&);

/// Bytes per element that a float32 value takes under a precision.
double float_bytes(Precision);

}  // namespace perfc
