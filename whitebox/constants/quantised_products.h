#pragma once
/// What quantised products change: whitebox/price/matmul_time.cpp.
/// [Sources]: whitebox/constants/README.md.

namespace perfc::constants {

/// What products with quantised operands change: factors on their chip class' constants; where both operands have 8
/// bits the peak is that of 8-bit units. TensorRT-LLM's: weight-only (int8, int4) and SmoothQuant kernels on A100 and
/// L40S, whose launch takes longer than cuBLAS'; fp8 by cuBLASLt on L40S, on H100 and H200, and on B200, B300, GB200
/// and GB300. [studies/kernels/fit_quantised.py prints it]
struct QuantisedFactors {
  double launch_clocks = 1, tensor_share = 1, read_share = 1, step_ns = 1, l2_bytes_clock = 1, split_ns = 1,
         power_share = 1, gemv_clocks = 1, gemv_step_ns = 1, stream_bytes = 1, exposed = 1, tile_ns = 1;
};
inline constexpr QuantisedFactors kQuantisedWeights{.launch_clocks = 2.57,
                                                    .tensor_share = 0.99,
                                                    .read_share = 1.09,
                                                    .step_ns = 1.03,
                                                    .l2_bytes_clock = 0.743,
                                                    .split_ns = 3.74,
                                                    .power_share = 1.01,
                                                    .gemv_clocks = 2.58,
                                                    .gemv_step_ns = 2.99};
inline constexpr QuantisedFactors kQuantisedBoth{.launch_clocks = 2.33,
                                                 .tensor_share = 1.55,
                                                 .read_share = 1.08,
                                                 .step_ns = 0.77,
                                                 .l2_bytes_clock = 0.923,
                                                 .split_ns = 20.1,
                                                 .power_share = 1.72,
                                                 .gemv_clocks = 1.86,
                                                 .gemv_step_ns = 0.232};
inline constexpr QuantisedFactors kFloat8OnGraphics{.tensor_share = 0.88,
                                                    .read_share = 1.05,
                                                    .step_ns = 0.643,
                                                    .l2_bytes_clock = 1.76,
                                                    .split_ns = 1.74,
                                                    .power_share = 0.948,
                                                    .gemv_clocks = 1.05,
                                                    .gemv_step_ns = 0.651,
                                                    .stream_bytes = 1.05,
                                                    .exposed = 1.02,
                                                    .tile_ns = 0.925};
inline constexpr QuantisedFactors kFloat8OnHopper{.tensor_share = 0.86,
                                                  .read_share = 0.941,
                                                  .step_ns = 1.1,
                                                  .l2_bytes_clock = 1.36,
                                                  .split_ns = 0.921,
                                                  .power_share = 1.23,
                                                  .stream_bytes = 1.28,
                                                  .exposed = 0.921,
                                                  .tile_ns = 1.06};
inline constexpr QuantisedFactors kFloat8OnBlackwell{.tensor_share = 0.791,
                                                     .read_share = 0.925,
                                                     .step_ns = 1.02,
                                                     .l2_bytes_clock = 1.43,
                                                     .split_ns = 1.23,
                                                     .power_share = 1.29,
                                                     .stream_bytes = 0.466,
                                                     .exposed = 0.859,
                                                     .tile_ns = 1.11};
/// Operations per element that is quantised: |x|, maximum, scale, rounding. [counted]
inline constexpr double kQuantisingOperations = 4;
/// 1: of a model's products, those in 8 bits from which `--dtype int8` or `fp8` says something of it. (our choice)
inline constexpr double kLeastEightBits = 0.5;

}  // namespace perfc::constants
