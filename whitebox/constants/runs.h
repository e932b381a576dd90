#pragma once
/// What whole runs take beside the times of their kernels: power, the host, and how sure one is.
/// [Sources]: whitebox/constants/README.md.

namespace perfc::constants {

// ---- Power
/// 1: of the TDP, what the demand bends to, and how sharply. Zeus' traces. [power]
inline constexpr double kPowerLimit = 0.97, kPowerSharpness = 10;
/// Of what lies between idle power and the TDP: what products on tensor cores draw at the rate that the
/// power limit lets last. More than the TDP leaves them: so much they would draw at the boost clock. [power]
inline constexpr double kMatrixPower = 1.13;
/// pJ per FLOP of GPUs' vector units, from Pascal to Hopper. [power]
inline constexpr double kVectorPicojoules = 8.58;
/// The largest factor that 90 % of the powers lie within whose GPU was left out, of all GPUs but one. [power]
inline constexpr double kPowerInterval = 1.27;

/// Times as long that a run may take for a reason that is said. (our choice)
inline constexpr double kNoticed = 1.02;

// ---- Intervals: whitebox/price/evidence.cpp, whitebox.cpp
/// MAPE in % of the models that price a kind of kernels, on shapes that no fit saw: of devices that fits saw, of a
/// device left out beside siblings of its class, of a class left out; and of the roofline, for what has no model.
/// docs/judged.md: means over devices and kernels. `factor`: standard deviation, in ln, of what devices need beyond.
struct KernelErrors {
  double own, siblings, others, none, factor;
};
/// By PriceKind. On vector units no class was left out. Convolutions on matrix units: as products, with the spread of
/// `dense_convolution` over GeForce (1.2) and A100 (1); of `depthwise`, for depthwise ones, whose roofline is all there
/// is. Rare convolutions (three spatial dims, dilated, transposed with strides, groups in 32 bits): of 204 runs of
/// KernelBench's programs, of those that may be looked at, on eight GPUs, 0.98 from what is said, 0.78 about their
/// median; recurrences 0.5, of 16. [docs/judged.md]
/// Memory-bound kernels of another class: MI100, MI210. [kernels]
inline constexpr KernelErrors kKernelErrors[] = {
    {4.3, 5.3, 10.3, 26.9, 0},     // Product
    {18.7, 34.2, 34.2, 52.4, 0},   // VectorProduct
    {2.9, 4.7, 16.9, 63.3, 0},     // Attention
    {7.5, 7.7, 10.3, 26.9, 0.13},  // Convolution
    {31.1, 32.4, 32.4, 44.7, 0},   // VectorConvolution
    {0, 0, 0, 0, 0.9},             // RareConvolution
    {0, 0, 0, 0, 0.5},             // Recurrence
    {0, 0, 0, 0, 0.5},             // Depthwise
    {7.2, 9.9, 17.8, 31.1, 0},     // Memory
};
/// Shapes of a kind in a network, over which errors that are a shape's own average out. (our choice)
inline constexpr double kShapesOfANetwork = 5;
/// 90 % of normal errors by their mean absolute value, and by their standard deviation. [counted]
inline constexpr double kNinetyOfMape = 2.06, kNinetyOfDeviation = 1.645;
/// Constants that calibration fits: learning/calibration.cpp. [counted]
inline constexpr double kFittedConstants = 7;
/// Factor of the 90 % interval for what graphs add to their kernels on a device with runs: families left out. [timm]
inline constexpr double kGraphFactor = 1.2;
/// The same for what whole models add on a class of chips without runs: caches between kernels, clocks, versions of
/// libraries. (our choice, until some are measured)
inline constexpr double kStrangerFactor = 1.4;
/// Share of a call's time that has passed when its kernel is sent; then it returns. NeuSight's elementwise operators on
/// five hosts: 0.46 to 0.57. [studies/kernels/sent_in_call.py]
inline constexpr double kSentInCall = 0.5;

}  // namespace perfc::constants
