#pragma once
/// What is computed in 8 bits: under `--dtype int8` and `--dtype fp8`, and of quantised models, of which
/// `fold-quantisation` marks where their files quantise (ir/quantised_marks.h). These are dense layers, whose weights
/// are kept in 8 bits and whose data is quantised row by row before (torchao's Int8DynamicActivationInt8WeightConfig
/// and Float8DynamicActivationFloat8WeightConfig, vLLM's W8A8; cuBLASLt's and CUTLASS' kernels). All else stays in 16
/// bits, or in those of the model: PyTorch has no 8-bit convolutions, norms or
/// attention on CUDA (aten/src/ATen/native/quantized: cpu, and a cudnn folder that releases are built without).
/// TensorRT convolves in 8 bits, too, and hands on 8 bits through pooling, elementwise operators and what moves data
/// (docs.nvidia.com/deeplearning/tensorrt, "Working with Quantized Types").
#include <vector>

#include "ir/graph.h"
#include "whitebox/predictor.h"

namespace perfc {

struct EightBits {
  std::vector<bool> product;  ///< by node: a dense layer, or a convolution, that multiplies in 8 bits
  /// By node: bits of a product's second operand where they are 8 or fewer; 0: those of its type.
  std::vector<std::uint8_t> second;
  std::vector<std::uint8_t> weight;  ///< by node: of a constant that only such products read, the same
  std::vector<bool> value;           ///< by node: its results are kept in 8 bits
};
/// Nothing, under other precisions and of models that are not quantised.
EightBits eight_bits(const Graph&, const ExecConfig&);

}  // namespace perfc
