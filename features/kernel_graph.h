#pragma once
/// What learned predictors see of a kernel plan: its kernels as nodes with
/// features, and who feeds whom. Equal kernels in equal surroundings are one node
/// with a count, so that a transformer of 48 equal blocks costs what one costs.
#include "features/schema.h"
#include "whitebox/launch/kernels.h"
#include "whitebox/price/roofline.h"

namespace perfc {

/// Kernels of a plan, merged by colour refinement (Weisfeiler and Leman 1968):
/// after r rounds two kernels share a class exactly if r rounds of message
/// passing along edges in both directions cannot tell them apart.
struct KernelGraph {
  std::vector<Kernel> kernels;  ///< one of each class
  std::vector<double> count;    ///< launches of the class, loops included
  /// (sender, receiver): the neighbours, in both directions, of each class's
  /// representative. A class may be its own neighbour, and twice another's.
  std::vector<std::pair<std::size_t, std::size_t>> edges;
  std::vector<std::uint32_t> class_of;  ///< of each kernel of the plan
  std::vector<std::uint32_t> first;     ///< of each class, the kernel of the plan that `kernels` has
  HostCalls host_calls;
  std::vector<float> dispatched;  ///< of each kernel of the plan: the share of these calls up to its own
};
KernelGraph merge_equal(const KernelPlan&, int rounds);

/// Columns of a kernel's row: the fixed ones, then one per operator of the
/// vocabulary (log2 of 1 + how often the kernel computes it). Ratios to the
/// device's own peaks, geometry and execution settings; never the device itself.
std::vector<Column> kernel_columns(std::span<const std::string> vocabulary);

/// Index of each operator in a vocabulary of names, −1: not in it.
std::vector<int> vocabulary_index(std::span<const std::string> vocabulary);

/// Rows of a graph's kernels on a device; `priced` as by `price`.
FeatureMatrix kernel_features(const KernelGraph&, std::span<const Priced>, const Device&, const ExecConfig&,
                              std::span<const int> vocabulary);

}  // namespace perfc
