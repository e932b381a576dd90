#pragma once
/// `perfc devices calibrate` on measured kernels instead of whole models: what a device's products say of the constants
/// that its class of chip has (`whitebox/price/matmul_time.h`, ProductFactors). A table of products is a CSV with the
/// columns `device`, `kind` (gemm), `m`, `n`, `k`, `dtype` (fp16 or bf16), `us`, and perhaps `copies`: docs/devices.md.
#include "learning/calibrated.h"

namespace perfc {

/// Whether the table at a path has the columns of measured kernels, not of labels. False where it cannot be read,
/// and for standard input.
bool lists_kernels(const std::string& path);

/// Fails on rows of several devices or dtypes, on what is no number, and on devices whose products have no model.
Result<Calibration> calibrate_on_kernels(const CalibrationRequest&, Diagnostics&);

}  // namespace perfc
