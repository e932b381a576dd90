#pragma once
/// The corrected whitebox (gnn/models/corrected.h) as a predictor: what its
/// networks read, what a checkpoint of it holds, and how far to trust it.
#include <array>

#include "features/kernel_graph.h"
#include "features/whitebox.h"
#include "gnn/checkpoint.h"
#include "gnn/models/corrected.h"
#include "gnn/task.h"

namespace perfc {

inline constexpr std::string_view kCorrectedName = "corrected";

/// How kernels become numbers; fitted on the training part.
struct KernelTable {
  std::vector<std::string> vocabulary;   ///< operators with a column of their own
  std::vector<int> index;                ///< vocabulary_index of it
  FeatureTable features;                 ///< "kernels", with normaliser
  std::vector<double> low, high;         ///< range of each column in training
};

/// A device's own terms, as factors: five kinds of kernels, launch, host.
using DeviceTerms = std::array<double, kTerms>;

/// One graph on one device. Terms enter as factors on work, launch and host time.
struct KernelSample {
  GraphSample sample;                    ///< no target yet
  double unfamiliar = 0;                 ///< share of the roofline time in kernels unlike any in training
  std::vector<std::string> novelty;      ///< why
};
KernelSample kernel_sample(const KernelGraph&, const Device&, const ExecConfig&, double host_ms, const KernelTable&, const DeviceTerms&);

/// The whitebox's kernel graph for a network with this many rounds of messages.
KernelGraph kernel_graph(const KernelPlan&, std::size_t convolutions);

/// Setting of a checkpoint: half the width, in ln, of the 90 % interval in a mode,
/// for devices of the training set and for others.
enum class Acquaintance : unsigned char { Known, Other };
std::string width_setting(Acquaintance, ExecMode);
/// Least factor for devices that are not in training: those that were left out
/// to measure the width are all of one vendor and market, others may be further away.
inline constexpr double kLeastOtherDevice = 1.5;
/// The width grows by this much of itself when all kernels are unfamiliar.
inline constexpr double kUnfamiliarWidening = 2;
/// With more of the time than this in unfamiliar kernels the whitebox answers.
inline constexpr double kMostUnfamiliar = 0.5;

/// Settings of a checkpoint: a device's term (factor; device "*": of devices that
/// are not in training), and that a precision is in training.
inline constexpr std::string_view kEverybody = "*";
std::string term_setting(std::string_view device, std::size_t term);
std::string precision_setting(Precision);
/// Tensors of a checkpoint beside the networks "net.0." and so on: KernelTable's ranges.
inline constexpr std::string_view kLowTensor = "range.low", kHighTensor = "range.high";
std::string network_prefix(std::size_t index);

Result<std::unique_ptr<Predictor>> open_corrected(Checkpoint, OpaquePolicy, Diagnostics&);

}  // namespace perfc
