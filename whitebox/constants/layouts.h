#pragma once
/// Orders of channels, and data that lies elsewhere or is large.
/// [Sources]: whitebox/constants/README.md.
#include <cstdint>

namespace perfc::constants {

// ---- Between the orders: whitebox/price/order_conversion.cpp, whitebox/launch/eager.cpp
/// cuDNN's kernels between the orders of channels (nchwToNhwcKernel, nhwcToNchwKernel): positions of a tile of 32
/// channels, and clocks of an SM per element that a tile holds and per element that it has room for. [transposes.py]
inline constexpr double kOrderTile = 32, kOrderElementClocks = 0.306, kOrderTileClocks = 0.349;
/// Results of convolutions in TF32 that are converted: cuDNN 9's kernels before Hopper mostly write channels first
/// themselves (sm86_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nchw). A ResNet-18's on an RTX 5070 Ti Laptop
/// 11 of 17 (nhwcToNchwKernel, 110 calls of ten passes), a YOLOv8s' on an RTX 4090 19 of 159 µs of conversions, some
/// 0.15: their mean. [anshulk-cmu/HDAI---cuDNN-Profiling; a profile of YOLOv8s, nsys, PyTorch 2.8, 2026]
inline constexpr double kTf32ResultsConverted = 0.4;
/// Factor on the time of copies between channels first and last. Group norms, channels last. [timm]
inline constexpr double kReordering = 2;

// ---- TorchInductor's choice: whitebox/launch/data_layout.cpp
/// Factors on the time of convolutions channels last. [torch/_inductor/graph.py of 2.9, decide_layout_opt]
inline constexpr double kGroupedLast = 1.358, kSmallLast = 0.783, kNarrowingLast = 0.725, kOtherLast = 0.823;
/// Channels that count as small there. [the same]
inline constexpr double kSmallChannels = 64;

// ---- Data that 32 bits cannot index: whitebox/launch/framework.cpp
/// Elements from which 32 bits cannot index. [aten/src/ATen/native/TensorIterator.cpp, can_use_32bit_indexing]
inline constexpr std::int64_t kWideIndexFrom = std::int64_t{1} << 31;
/// Factor on the time of such: split convolutions, concatenations part by part, compiled kernels. [timm]
inline constexpr double kSplitConvolution = 1.3, kPartByPart = 2, kWideCompiled = 1.2;

}  // namespace perfc::constants
