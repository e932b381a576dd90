#pragma once
/// The corrected whitebox (gnn/models/corrected.h) as a predictor: what a
/// checkpoint of it holds, and how far to trust it.
#include "gnn/checkpoint.h"
#include "learning/kernel_sample.h"
#include "learning/residuals.h"
#include "whitebox/price/matmul_time.h"

namespace perfc {

inline constexpr std::string_view kCorrectedName = "corrected";

/// Setting of a checkpoint: half the width, in ln, of the 90 % interval in a mode for
/// graphs of a bin, and what devices without measurements add to it.
std::string width_setting(SimilarityBin, ExecMode);
std::string device_width_setting(ExecMode);
/// What the width grows by, in ln and in squares, when all kernels are unfamiliar: an operator that training never had
/// may take twice as long or half. With device and operator left out at once that holds 96 to 100 % of memory-bound
/// operators, softmax and layer norm, the farthest, in 72 to 100 %. [studies/kernels/interval_coverage.py]
inline constexpr double kUnfamiliarWidth = 0.7;
/// The same for a precision that is corrected as another (KernelTable::like_trained). (our choice)
inline constexpr double kLikePrecisionWidth = 0.1;
/// With more of the time than this in unfamiliar kernels the whitebox answers.
inline constexpr double kMostUnfamiliar = 0.5;

/// Settings of a checkpoint: a device's term (factor; device "*": of devices that
/// are not in training), and that a precision, a class of chips is in training.
inline constexpr std::string_view kEverybody = "*";
std::string term_setting(std::string_view device, std::size_t term);
std::string precision_setting(Precision);
std::string chip_setting(ChipClass);
/// Tensors of a checkpoint beside the networks "net.0." and so on: KernelTable's ranges.
inline constexpr std::string_view kLowTensor = "range.low", kHighTensor = "range.high";
std::string network_prefix(std::size_t index);

Result<std::unique_ptr<Predictor>> open_corrected(Checkpoint, OpaquePolicy, Diagnostics&);

}  // namespace perfc
