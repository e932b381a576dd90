#pragma once
/// What picks elements of a row, and boxes.
/// [Sources]: whitebox/constants/README.md.

namespace perfc::constants {

// ---- Boxes that overlap: whitebox/launch/suppression_parts.cpp
/// Score from which on boxes are picked one by one; below, all are sorted. [efficientNMSInference.cu]
inline constexpr double kDenseThreshold = 0.007;
/// Operations of a comparison: intersection, two areas, union, quotient. [counted in torchvision's nms_kernel.cu]
inline constexpr double kOverlapOperations = 19;
/// Boxes whose comparison with another one is a word. [torchvision's nms_kernel.cu; ONNX Runtime's
/// non_max_suppression_impl.cu]
inline constexpr double kOverlapsOfWord = 64, kOverlapsOfShortWord = 32;

// ---- The largest elements of a row: whitebox/launch/selection.cpp, [PyTorch's TensorTopK.cu; an H100 PCIe's times of
// torch.topk, docs/whitebox.md: 39 and 84 µs for rows of 8,192 and 16,384, 50 to 61 for 32,768 to 131,072]
/// Threads of a row's block, and of an SM.
inline constexpr double kSelectThreads = 1024, kThreadsOfSm = 2048;
/// Bits that a pass over the row tells, and passes that then find and write what is kept.
inline constexpr double kSelectBits = 2, kSelectPasses = 2;
/// Of many blocks for a row: passes over the data, and what 21 kernels take, in steps of kSerialStepUs.
inline constexpr double kManyBlockPasses = 6, kManyBlockSteps = 160;
/// A second kernel sorts: its launch and each of its stages in such steps. Beyond so many it sorts by radix.
inline constexpr double kSecondKernelSteps = 7, kSortStep = 0.5, kMostSortedInBlock = 4096;
/// Clocks of an SM per element and stage of a scan: some 35 instructions of a thread for two elements, an integer
/// division among them, by four schedulers of 32 threads. Its loads and its stores are a stage each.
/// [ScanUtils.cuh, counted]
inline constexpr double kScanClocks = 35.0 / 2 / 128, kScanMemoryStages = 2;
/// Bits of the key that a pass of a radix sort goes by. [NVIDIA/cccl, cub: DeviceRadixSort, DeviceSegmentedRadixSort]
inline constexpr double kSortedBits = 8, kSegmentSortedBits = 6;

}  // namespace perfc::constants
