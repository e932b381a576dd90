#pragma once
/// What the corrected whitebox's networks read of a graph on a device, and where the graph lies among others.
#include <array>
#include <set>

#include "features/kernel_graph.h"
#include "gnn/checkpoint.h"
#include "gnn/models/corrected.h"
#include "gnn/task.h"
#include "whitebox/whitebox.h"

namespace perfc {

/// How kernels become numbers; fitted on the training part.
struct KernelTable {
  std::vector<std::string> vocabulary;  ///< operators with a column of their own
  std::vector<int> index;               ///< vocabulary_index of it
  FeatureTable features;                ///< "kernels", with normaliser
  std::vector<double> low, high;        ///< range of each column in training
  std::set<Precision> precisions;       ///< that training had; empty: all

  /// What a precision's rows are like in training: those of a model that is in 16 bits throughout are AMP's, whose
  /// kernels are the same but for casts and norms in 32 bits.
  Precision like_trained(Precision) const;
};

/// A device's own terms, as factors: five kinds of kernels, launch, host.
using DeviceTerms = std::array<double, kTerms>;

/// A graph's kernels on one device.
struct KernelSight {
  std::vector<Priced> priced;
  std::vector<double> shares;        ///< of the device's time
  FeatureMatrix rows;                ///< before normalising
  double unfamiliar = 0;             ///< share of the roofline time in kernels unlike any in training
  std::vector<std::string> novelty;  ///< why
};
KernelSight kernel_sight(const KernelGraph&, std::vector<Priced>, const Device&, const ExecConfig&, const KernelTable&);
/// What networks read of its rows there, without a target. Terms enter as factors on work, launch and host time.
GraphSample kernel_sample(const KernelGraph&, std::span<const Priced>, FeatureMatrix rows, double host_ms,
                          const KernelTable&, const DeviceTerms&);
/// Of each kernel of a graph what a launch costs.
std::vector<Priced> prices_of(const KernelGraph&, const Device&, Precision);

/// Where a graph lies among others, whatever device it runs on: its kernels' columns on a device
/// in the middle of the table, averaged by their shares of the time there.
std::vector<float> fingerprint(const KernelGraph&, const ExecConfig&, const KernelTable&);

/// Rounds of message passing of the networks that `perfc train` makes.
inline constexpr std::size_t kCorrectedConvolutions = 1;
/// The whitebox's kernel graph for a network with this many rounds of messages.
KernelGraph kernel_graph(const KernelPlan&, std::size_t convolutions);

}  // namespace perfc
