#pragma once
/// What `--dtype int8` computes in 8 bits: dense layers, whose weights are kept in 8 bits and whose data is quantised
/// row by row before (torchao's Int8DynamicActivationInt8WeightConfig, vLLM's W8A8; cuBLASLt's and CUTLASS' kernels).
/// All else stays in 16 bits: PyTorch has no 8-bit convolutions, norms or attention on CUDA
/// (aten/src/ATen/native/quantized: cpu, and a cudnn folder that releases are built without). TensorRT convolves in 8
/// bits, too, and hands on 8 bits through pooling, elementwise operators and what moves data
/// (docs.nvidia.com/deeplearning/tensorrt, "Working with Quantized Types").
#include <vector>

#include "ir/graph.h"
#include "whitebox/predictor.h"

namespace perfc {

struct EightBits {
  std::vector<bool> product;  ///< by node: a dense layer, or a convolution, that multiplies in 8 bits
  std::vector<bool> weight;   ///< by node: a constant that only such layers read
  std::vector<bool> value;    ///< by node: its results are kept in 8 bits
};
/// All false under other precisions.
EightBits eight_bits(const Graph&, const ExecConfig&);

}  // namespace perfc
