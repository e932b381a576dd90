#pragma once
/// The corrected whitebox (gnn/models/corrected.h) as a predictor: what a
/// checkpoint of it holds, and how far to trust it.
#include <array>

#include "gnn/checkpoint.h"
#include "gnn/models/gaussian_process.h"
#include "learning/kernel_sample.h"

namespace perfc {

inline constexpr std::string_view kCorrectedName = "corrected";

/// What the networks got wrong on graphs like this one, in ln: their residuals in
/// training, by fingerprint, within an execution mode. A graph's is believed by the
/// square of its similarity, so that a family like no other is not corrected
/// by its distant relatives.
struct Residuals {
  std::array<GaussianProcess, 2> of_mode;
  std::map<std::string, int> group;  ///< of a device

  struct Estimate {
    double log_factor = 0;
    double similarity = 0;  ///< to the nearest graph of training
  };
  Estimate at(std::span<const float> fingerprint, const std::string& device, ExecMode) const;
};
/// Names of a mode's tensors and of a device's group in a checkpoint.
std::string residual_tensor(ExecMode, std::string_view what);
std::string group_setting(std::string_view device);
inline constexpr std::string_view kResidualLength = "residuals.length";

/// How like training a graph is: bins of Residuals::Estimate::similarity with an interval each.
inline constexpr std::array<double, 2> kSimilarityBins{0.4, 0.8};
enum class Likeness : unsigned char { Unlike, Related, Alike };
inline constexpr std::array<std::string_view, 3> kLikenessNames{"unlike", "related", "alike"};
Likeness likeness(double similarity);

/// Setting of a checkpoint: half the width, in ln, of the 90 % interval in a mode for
/// graphs of a likeness, and what devices without measurements add to it.
std::string width_setting(Likeness, ExecMode);
std::string device_width_setting(ExecMode);
/// Least factor for devices that are not in training: those that were left out
/// to measure the width are all of one vendor and market, others may be further away.
inline constexpr double kLeastOtherDevice = 1.5;
/// From this many measurements on a device are its constants as good as those of training.
inline constexpr int kEnoughLabels = 10;
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
