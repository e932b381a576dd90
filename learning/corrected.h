#pragma once
/// The corrected whitebox (gnn/models/corrected.h) as a predictor: what a
/// checkpoint of it holds, and how far to trust it.
#include "gnn/checkpoint.h"
#include "learning/kernel_sample.h"
#include "learning/residuals.h"

namespace perfc {

inline constexpr std::string_view kCorrectedName = "corrected";

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
