#pragma once
/// What quantised products change: whitebox/price/matmul_time.cpp.
/// [Sources]: whitebox/constants/README.md.

namespace perfc::constants {

/// What products with quantised operands change: factors on their chip class' constants; where both operands have 8
/// bits the peak is that of 8-bit units. TensorRT-LLM's: weight-only (int8, int4) and SmoothQuant kernels on A100 and
/// L40S, whose launch takes longer than cuBLAS'; fp8 by cuBLASLt on L40S, on H100 and H200, and on B200, B300, GB200
/// and GB300. [studies/kernels/fit_quantised.py prints it]
struct QuantisedFactors {
  double launch_clocks = 1, tensor_share = 1, read_share = 1, step_clocks = 1, l2_bytes_clock = 1, split_clocks = 1,
         power_share = 1, gemv_clocks = 1, gemv_step_clocks = 1, stream_bytes = 1, exposed = 1, tile_clocks = 1;
};
inline constexpr QuantisedFactors kQuantisedWeights{.launch_clocks = 2.43,
                                                    .tensor_share = 1.03,
                                                    .read_share = 1.1,
                                                    .step_clocks = 1.3,
                                                    .l2_bytes_clock = 0.75,
                                                    .split_clocks = 3.68,
                                                    .power_share = 0.983,
                                                    .gemv_clocks = 2.6,
                                                    .gemv_step_clocks = 2.84};
inline constexpr QuantisedFactors kQuantisedBoth{.launch_clocks = 2.36,
                                                 .tensor_share = 1.43,
                                                 .read_share = 1.08,
                                                 .step_clocks = 0.769,
                                                 .l2_bytes_clock = 1.01,
                                                 .split_clocks = 20.1,
                                                 .power_share = 1.78,
                                                 .gemv_clocks = 1.89,
                                                 .gemv_step_clocks = 0.166};
inline constexpr QuantisedFactors kFloat8OnGraphics{.tensor_share = 1.15,
                                                    .read_share = 1.03,
                                                    .step_clocks = 0.639,
                                                    .l2_bytes_clock = 1.22,
                                                    .split_clocks = 1.68,
                                                    .power_share = 1.05,
                                                    .gemv_clocks = 0.978,
                                                    .gemv_step_clocks = 0.65,
                                                    .exposed = 1.01,
                                                    .tile_clocks = 1.04};
inline constexpr QuantisedFactors kFloat8OnHopper{.tensor_share = 0.915,
                                                  .read_share = 0.945,
                                                  .step_clocks = 1.06,
                                                  .l2_bytes_clock = 0.855,
                                                  .split_clocks = 0.922,
                                                  .power_share = 1.26,
                                                  .stream_bytes = 0.751,
                                                  .exposed = 0.903,
                                                  .tile_clocks = 1.06};
inline constexpr QuantisedFactors kFloat8OnBlackwell{.tensor_share = 0.815,
                                                     .read_share = 0.93,
                                                     .l2_bytes_clock = 1.7,
                                                     .split_clocks = 1.25,
                                                     .power_share = 1.32,
                                                     .gemv_clocks = 0.993,
                                                     .gemv_step_clocks = 0.655,
                                                     .stream_bytes = 0.496,
                                                     .exposed = 0.919,
                                                     .tile_clocks = 1.09};
/// Operations per element that is quantised: |x|, maximum, scale, rounding. [counted]
inline constexpr double kQuantisingOperations = 4;
/// 1: of a model's products, those in 8 bits from which `--dtype int8` or `fp8` says something of it. (our choice)
inline constexpr double kLeastEightBits = 0.5;

}  // namespace perfc::constants
