/// Where a file's weights are, for those that come through a pipe.
#include "frontends/tf/proto.h"
#include "frontends/tf/tf.h"

namespace perfc::tf {
namespace {

/// Messages, as far as weights are below them.
enum WeighedMessage : std::uint8_t {
  kWeighedSavedModel,
  kWeighedMetaGraph,
  kWeighedGraph,
  kWeighedLibrary,
  kWeighedFunction,
  kWeighedNode,
  kWeighedAttribute,
  kWeighedValue,
  kWeighedTensor
};

constexpr WeightRule kWeightRules[] = {
    {kWeighedSavedModel, 2, kWeighedMetaGraph},
    {kWeighedMetaGraph, 2, kWeighedGraph},
    {kWeighedGraph, 1, kWeighedNode},
    {kWeighedGraph, 2, kWeighedLibrary},
    {kWeighedLibrary, 1, kWeighedFunction},
    {kWeighedFunction, 3, kWeighedNode},
    {kWeighedNode, 5, kWeighedAttribute},
    {kWeighedAttribute, 2, kWeighedValue},
    {kWeighedValue, 8, kWeighedTensor},
    {kWeighedTensor, 4, kWeights},  // tensor_content
    {kWeighedTensor, 5, kWeights},  // float_val
    {kWeighedTensor, 6, kWeights},  // double_val
};

}  // namespace

const WeightFields kWeightFields{kWeightRules, [](std::string_view head) -> std::uint8_t {
                                   return looks_like_saved_model(head) ? kWeighedSavedModel : kWeighedGraph;
                                 }};

}  // namespace perfc::tf
