#pragma once
/// Recurrences: whitebox/launch/kernel_maker.cpp, whitebox/price/roofline.cpp.
/// [Sources]: whitebox/constants/README.md.

namespace perfc::constants {

/// Passes over a recurrence's gates, and byte of each, as cuDNN computes them. [counted]
inline constexpr double kGatePasses = 4, kGateBytes = 4;
/// µs per step of a recurrence on a GPU, however little it computes: the product with the state and the cell wait for
/// each other and for the step before. LSTM of 256 units, batch 4: 1.63 ms for 150 steps on a GTX 1080 Ti.
/// [DeepBench, github.com/baidu-research/DeepBench, README, RNN results; docs/whitebox.md has its other figures]
inline constexpr double kRecurrentStepUs = 10.9;
/// The same of a layer whose weights stay in the multiprocessors (cuDNN's RNN_blockPersist_fp_GRU): 1.265 ms for ten
/// runs of two layers of 128 units, 100 steps, batch 32, float32, RTX 5070 Ti Laptop, PyTorch 2.10.
/// [anshulk-cmu/HDAI---cuDNN-Profiling, docs, table 5.3]
inline constexpr double kResidentStepUs = 0.63;
/// Units up to which a layer is such a one: LSTM and GRU; one gate (RNN). [aten/src/ATen/native/cudnn/RNN.cpp,
/// use_rnn_persist_small_h]
inline constexpr double kResidentUnits = 192, kResidentUnitsOfOneGate = 384;

}  // namespace perfc::constants
