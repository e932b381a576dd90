#include "whitebox/runtime.h"

#include <algorithm>
#include <array>

namespace perfc {
namespace {

/// TF32 is on unless the builder's flag is cleared. Launches: `enqueueV3` without a CUDA graph.
constexpr RuntimeDef kTensorRt{
    .id = Runtime::TensorRt,
    .name = "tensorrt",
    .title = "TensorRT 10",
    .graph = ExecMode::Compiled,
    .kernels = ExecMode::Compiled,
    .runs_on = RunsOn::NvidiaGpu,
    .epilogue = Epilogue::Pointwise,
    .suppression = Suppression::TensorRt,
    .dispatches = "kernels",
    .fuses_attention = true,
    .keeps_eight_bits = true,
    .folds_quantisation = true,
    .joins_images = true,
    .own_layout = true,
    .default_tf32 = true,
    .run_us = 20,
    .kernel_us = 3,
    .interval = 1.6,
    .source =
        "docs.nvidia.com/deeplearning/tensorrt, \"Layer Fusion Catalog\" and \"Fused Attention\"; "
        "interval: ResNet-50 and BERT-large of studies/runtimes/judge.py"};

/// Norms and attention are layers since 8.6.
constexpr RuntimeDef before_8_6(RuntimeDef r) {
  r.id = Runtime::TensorRt8;
  r.name = "tensorrt-8";
  r.title = "TensorRT 8.0 to 8.5";
  r.fuses_attention = false;
  r.writes_norms_out = true;
  r.older = true;
  r.source = "as TensorRT's; NVIDIA/TensorRT issue 3280 and release notes of 8.6 (INormalizationLayer)";
  return r;
}

constexpr std::array kRuntimes{
    RuntimeDef{.id = Runtime::PyTorch,
               .name = "pytorch",
               .title = "PyTorch eager",
               .graph = ExecMode::Eager,
               .kernels = ExecMode::Eager,
               .folds_quantisation = true,
               .unrolls_loops = true,
               .autocast = true,
               .trained = true,
               .source = "PyTorch's sources (docs/whitebox.md); labels of timm"},
    RuntimeDef{.id = Runtime::TorchCompile,
               .name = "torch-compile",
               .title = "PyTorch compiled",
               .graph = ExecMode::Compiled,
               .kernels = ExecMode::Compiled,
               .dispatches = "kernels",
               .folds_quantisation = true,
               .unrolls_loops = true,
               .autocast = true,
               .trained = true,
               .source = "TorchInductor's sources (docs/whitebox.md); labels of timm"},
    // One launch of a graph, and what copies its inputs to where it was recorded. Within a graph kernels start as one
    // after the other on a stream that is kept busy.
    RuntimeDef{.id = Runtime::CudaGraph,
               .name = "cuda-graph",
               .title = "PyTorch eager in a CUDA graph",
               .graph = ExecMode::Eager,
               .kernels = ExecMode::Eager,
               .runs_on = RunsOn::Gpu,
               .dispatches = "graphs",
               .folds_quantisation = true,
               .unrolls_loops = true,
               .autocast = true,
               .trained = true,
               .run_us = 20,
               .source = "NVIDIA, \"Getting Started with CUDA Graphs\" and \"Constant Time Launch for Straight-Line "
                         "CUDA Graphs\"; nobody measured it here"},
    // TF32 is the provider's default (`use_tf32`).
    RuntimeDef{.id = Runtime::OnnxRuntime,
               .name = "onnxruntime",
               .title = "ONNX Runtime, CUDA",
               .graph = ExecMode::Compiled,
               .kernels = ExecMode::Eager,
               .runs_on = RunsOn::NvidiaGpu,
               .epilogue = Epilogue::FusedConv,
               .suppression = Suppression::OnnxRuntime,
               .dispatches = "kernels",
               .session = true,
               .default_tf32 = true,
               .run_us = 30,
               .kernel_us = 6,
               .interval = 1.4,
               .source =
                   "onnxruntime/core/optimizer, core/providers/cuda and contrib_ops/cuda; onnxruntime.ai, \"CUDA "
                   "Execution Provider\"; interval: BERT-large and bert-base on a T4 of studies/runtimes/judge.py"},
    kTensorRt,
    // Its calls are the CPU's own work: nobody dispatches beside it. `run_us` is of a run of one small kernel.
    RuntimeDef{.id = Runtime::OnnxRuntimeCpu,
               .name = "onnxruntime-cpu",
               .title = "ONNX Runtime, CPU",
               .graph = ExecMode::Compiled,
               .kernels = ExecMode::Eager,
               .runs_on = RunsOn::Cpu,
               .epilogue = Epilogue::Mlas,
               .dispatches = "graphs",
               .session = true,
               .mlas = true,
               .run_us = 8,
               .interval = 1.24,
               .source =
                   "onnxruntime/core/optimizer and onnxruntime/core/mlas; times: studies/cpu/operators.csv; interval: "
                   "families that judge in studies/cpu/judge.py"},
    before_8_6(kTensorRt),
};

}  // namespace

std::span<const RuntimeDef> runtime_table() { return kRuntimes; }

const RuntimeDef& def(Runtime r) { return kRuntimes[static_cast<std::size_t>(r)]; }

bool runs_on(const RuntimeDef& r, const Device& d) {
  const bool gpu = d.kind == "gpu";
  if (r.runs_on == RunsOn::Cpu) return !gpu;
  return r.runs_on == RunsOn::Any || (gpu && (r.runs_on == RunsOn::Gpu || !is_amd(d)));
}

bool folds_quantisation(const RuntimeDef& r, WrittenBy writer) {
  return r.folds_quantisation && (r.keeps_eight_bits || writer != WrittenBy::Program);
}

bool unrolls_loops(const RuntimeDef& r, WrittenBy writer) { return r.unrolls_loops && is_exported(writer); }

std::string_view name(RunsOn on) {
  switch (on) {
    case RunsOn::Gpu:
      return "GPUs";
    case RunsOn::NvidiaGpu:
      return "NVIDIA GPUs";
    case RunsOn::Cpu:
      return "CPUs";
    case RunsOn::Any:
      break;
  }
  return "any device";
}

const RuntimeDef* find_runtime(std::string_view name) {
  const auto* it = std::ranges::find(kRuntimes, name, &RuntimeDef::name);
  return it == kRuntimes.end() ? nullptr : it;
}

}  // namespace perfc
