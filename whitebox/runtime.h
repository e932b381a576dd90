#pragma once
/// What runs a model: a row per runtime in runtime.cpp, which says where they differ.
#include <cstdint>
#include <span>
#include <string_view>

#include "devices/device.h"
#include "ir/exec_mode.h"
#include "ir/graph.h"

namespace perfc {

enum class Runtime : std::uint8_t {
  PyTorch,
  TorchCompile,
  CudaGraph,
  OnnxRuntime,
  TensorRt,
  OnnxRuntimeCpu,
  TensorRt8
};

/// Which elementwise operators a product's or a convolution's kernel computes on its result before it writes it.
enum class Epilogue : std::uint8_t {
  Bias,       ///< a dense layer's bias alone
  FusedConv,  ///< in float32, a convolution's bias and its sum with another value, where ReLU is behind them
  Mlas,       ///< the operator table's column
  Pointwise,  ///< any that work on the result as it lies
};

/// Whose kernels suppress boxes (whitebox/launch/suppression_parts.h).
enum class Suppression : std::uint8_t {
  Torchvision,  ///< one after the other of images and classes
  OnnxRuntime,  ///< the same, with kernels of its own
  TensorRt,     ///< all images and classes at once
};

enum class RunsOn : std::uint8_t { Any, Gpu, NvidiaGpu, Cpu };

struct RuntimeDef {
  Runtime id;
  std::string_view name;   ///< "tensorrt"
  std::string_view title;  ///< "TensorRT"
  ExecMode graph;          ///< whose passes simplify the graph: a program's calls stay, or patterns become operators
  ExecMode kernels;        ///< a kernel per call, or one per group of calls that are fused
  RunsOn runs_on = RunsOn::Any;
  Epilogue epilogue = Epilogue::Bias;
  Suppression suppression = Suppression::Torchvision;
  std::string_view dispatches = "calls";  ///< what the host sends off: "calls", "kernels" or "graphs"
  bool fuses_attention = false;           ///< written-out attention in 16 bits is one kernel
  bool writes_norms_out = false;          ///< layer norms are two reductions and what stands between and behind them
  bool older = false;                     ///< a version of another row: reports do not compare with it
  bool keeps_eight_bits = false;  ///< under int8 convolves in 8 bits, and keeps values between such layers in them
  /// Quantise and dequantise operators around others say in how many bits to compute, and are no kernels; if not, they
  /// run as the file has them.
  bool folds_quantisation = false;
  bool unrolls_loops = false;  ///< is Python, whose loops launch what their rounds call, and no counters
  bool session = false;        ///< a kernel per node of ONNX Runtime's optimised graph: no value is a strided view
  bool mlas = false;           ///< MLAS' kernels, in float32
  bool joins_images = false;   ///< images are joined part by part, where no kernel can write its part in place
  bool own_layout = false;     ///< stores values as its kernels want them, whatever the model's layout
  bool autocast = false;       ///< has PyTorch's AMP; others run in the width that the model has
  bool default_tf32 = false;   ///< float32 products are TF32 unless told otherwise
  bool trained = false;        ///< its runs are among the default predictor's labels, or differ in the host alone
  double run_us = 0;           ///< of the host per run …
  double kernel_us = 0;        ///< … and per kernel; both 0: the host's entry says it (devices/host.h)
  double interval = 1;         ///< 90 % of its device times lie within this factor, beyond a PyTorch run's interval
  std::string_view source;     ///< of its rules and figures
};

std::span<const RuntimeDef> runtime_table();
const RuntimeDef& def(Runtime);
/// Whether it runs on a device; what it runs on, for an error: "NVIDIA GPUs".
bool runs_on(const RuntimeDef&, const Device&);
std::string_view name(RunsOn);
/// The same for a model: PyTorch runs programs as they are written, and what other frameworks quantised as its own
/// quantised models, with dense layers in 8 bits (torchao).
bool folds_quantisation(const RuntimeDef&, WrittenBy);
/// The same for a model: loops of programs that an exporter wrote down. Other frameworks' run as their own.
bool unrolls_loops(const RuntimeDef&, WrittenBy);
/// By its name; null: there is none.
const RuntimeDef* find_runtime(std::string_view name);

}  // namespace perfc
