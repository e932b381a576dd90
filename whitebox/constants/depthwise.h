#pragma once
/// Convolutions with groups, depthwise ones above all.
/// [Sources]: whitebox/constants/README.md.

namespace perfc::constants {

// ---- Of data: whitebox/launch/framework.cpp, vector_limit; whitebox/launch/depthwise_blocks.cpp
/// Lanes of the SMs on which the shares below were found. The rates are the SM's, whose loads such kernels wait for: an
/// SM with half the lanes reaches twice the share.
inline constexpr double kLimitLanes = 128;
/// Clocks of an SM per result of a depthwise convolution: besides and per element of its window; times `strided` where
/// it has strides.
struct DepthwiseClocks {
  double result, element, strided;
  double per_result(double window, bool has_strides) const {
    return (result + element * window) * (has_strides ? strided : 1);
  }
};
/// PyTorch's own kernels (conv_depthwise2d_forward_kernel): of float32, and of bfloat16 up to 5×5
/// [studies/kernels/depthwise.py; strides, bfloat16: hopper]; of 16 bits, and of both on Hopper, beyond 5×5, which are
/// not unrolled (…_generic). [hopper]
inline constexpr DepthwiseClocks kDepthwiseOwn{1.76, 0.112, 1.15}, kDepthwiseGeneric{0, 0.18, 1.1};
/// A depthwise kernel of cuDNN's, in clocks: `first` of the whole kernel and `element` for each element of its window,
/// which a thread loads one after the other; `block3`, `block5` and `block7` of an SM for a block of its threads with
/// windows of 3×3, 5×5 and 7×7, `strided` times as many with strides.
struct DepthwiseBlocks {
  double first, element, block3, block5, block7, strided;
};
/// Channels first in float16 up to 5×5 (conv2d_c1_k1_nchw_shmem_tiling), with strides by their results; channels last
/// in 16 bits from kTiledImages images on (conv2d_c1_k1_nhwc_specialized), with fewer, and in 32 bits
/// (conv2d_c1_k1_nhwc). [hopper] An A100's published times say 5,200 for block7 of the last. [docs/whitebox.md,
/// "Depthwise convolutions"]
inline constexpr DepthwiseBlocks kDepthwiseFirst{3510, 0, 1710, 4000, 4000, 1},
    kDepthwiseFirstStrided{3430, 0, 960, 1930, 1930, 1}, kDepthwiseTiled{8180, 191, 1990, 3550, 10800, 1.58},
    kDepthwiseLast16{1270, 359, 678, 1630, 5290, 1.96}, kDepthwiseLast32{1840, 108, 734, 1920, 5260, 1.51};
/// Images from which on it is the tiled one: 8 are, 4 are not. [hopper]
inline constexpr double kTiledImages = 8;
/// What such kernels take longer on Turing, whose L1 cache gives 64 byte per clock. [studies/kernels/depthwise.py]
inline constexpr double kTuringWindows = 1.3;
/// 1: of the vector units' peak. Groups of 2 to 7 channels, channels first. dla. [timm]
inline constexpr double kFewChannels = 0.07;
/// 1: of the same. cuDNN's fallback, channels last. convmixer, coatnet. [timm]
inline constexpr double kFallback = 0.011;
/// 1: of the same. That fallback with data of 2³¹ elements and more. Runs with torch 2.4. [timm]
inline constexpr double kWideFallback = 0.0035;
/// Elements of the largest windows that cuDNN takes. [aten/src/ATen/native/Convolution.cpp, use_cudnn_depthwise]
inline constexpr double kLargeWindow = 5 * 5;
/// The same, channels last. convmixer, fastvit. [timm]
inline constexpr double kFallbackFrom = 7 * 7;

// ---- Gradients: whitebox/price/depthwise.cpp
/// A gradient's kernel that walks over windows: its µs, clocks of an SM per element of the larger of data and result,
/// or of the result alone, and per element of its window.
struct GradientClocks {
  double us, element, window;
  bool of_result = false;
};
/// Of depthwise convolutions' data. Channels first in float16 (dgrad2d_c1_k1_nchw_shmem_tiling; with strides
/// dgrad2d_grouped_direct_kernel); PyTorch's own in all else (conv_depthwise2d_backward_kernel), 16 and 32 bits;
/// channels last (dgrad2d_c1_k1_nhwc_specialized), 16 and 32 bits. All of the next lines: [hopper]; timm's steps on an
/// RTX 3090 judge them [studies/timm_training.py].
inline constexpr GradientClocks kDepthwiseDataFirst{6.1, 0, 0.073}, kDepthwiseDataStrided{1.2, 0, 0.427},
    kDepthwiseDataOwn16{2.6, 3.3, 0.104}, kDepthwiseDataOwn32{0, 1.9, 0.27}, kDepthwiseDataLast16{3.2, 0.25, 0.068},
    kDepthwiseDataLast32{2.7, 0, 0.105};
/// … of their weights: wgrad2d_shmem_tiling; conv_depthwise2d_grad_weight_kernel, per element of the result;
/// wgrad2d_c1_k1_nhwc, of 32 bits depthwise_convolution_wgrad_tiling; of large windows in 32 bits
/// wgrad2d_grouped_direct_kernel.
inline constexpr GradientClocks kDepthwiseWeightsFirst{5.5, 0.63, 0.041}, kDepthwiseWeightsOwn16{6.6, 1, 0.416, true},
    kDepthwiseWeightsOwn32{6.3, 1, 0.343, true}, kDepthwiseWeightsLast16{11.4, 0.21, 0.025},
    kDepthwiseWeightsLast32{16.7, 0, 0.08}, kDepthwiseWeightsLarge32{0, 0, 1.34};
/// Elements of a window from which on they do.
inline constexpr double kLargeGradientWindow = 7 * 7;

}  // namespace perfc::constants
