/// Where a file's weights are, for those that come through a pipe.
#include "frontends/onnx/onnx.h"

namespace perfc::onnx {
namespace {

/// Messages, as far as weights are below them.
enum WeighedMessage : std::uint8_t {
  kWeighedModel,
  kWeighedGraph,
  kWeighedNode,
  kWeighedAttribute,
  kWeighedFunction,
  kWeighedSparseTensor,
  kWeighedTensor
};

constexpr WeightRule kWeightRules[] = {
    {kWeighedModel, 7, kWeighedGraph},
    {kWeighedModel, 25, kWeighedFunction},
    {kWeighedGraph, 1, kWeighedNode},
    {kWeighedGraph, 5, kWeighedTensor},
    {kWeighedGraph, 15, kWeighedSparseTensor},
    {kWeighedFunction, 7, kWeighedNode},
    {kWeighedNode, 5, kWeighedAttribute},
    {kWeighedAttribute, 5, kWeighedTensor},
    {kWeighedAttribute, 6, kWeighedGraph},
    {kWeighedAttribute, 10, kWeighedTensor},
    {kWeighedAttribute, 11, kWeighedGraph},
    {kWeighedSparseTensor, 1, kWeighedTensor},
    {kWeighedSparseTensor, 2, kWeighedTensor},
    {kWeighedTensor, 4, kWeights},   // float_data
    {kWeighedTensor, 9, kWeights},   // raw_data
    {kWeighedTensor, 10, kWeights},  // double_data
};

}  // namespace

const WeightFields kWeightFields{kWeightRules, [](std::string_view) -> std::uint8_t { return kWeighedModel; }};

}  // namespace perfc::onnx
