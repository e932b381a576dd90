#pragma once
/// The operator table: one row per operator, everything the compiler knows of it.
///
/// To add an operator: add a row, name its rules (`ir/ops/rules.h` lists those
/// that exist; write a new one in the file of its category in `ir/ops/`).
/// `perfc ops`, the importers' one-to-one mapping, the text form and the docs
/// read this table. Source operators whose structure differs get a translator
/// in their front end instead of a spelling here.
///
/// Operand order and semantics are those of the newest ONNX operator set where
/// one exists (older forms are lifted by the importer); names are Relay's.
#include <cstdint>
#include <string_view>

#include "ir/support/result.h"

namespace perfc {

class InferContext;
class CostContext;
struct OpCost;

/// What kind of kernel runs it; the cost model prices by this.
enum class Category : std::uint8_t {
  Elementwise, Activation, Convolution, MatMul, Attention, Recurrent, Normalization,
  Softmax, Pooling, Reduction, Resize, DataMovement, Gather, Scatter, Sort,
  Shape,       ///< views and shape arithmetic: no kernel
  Quantize, Random, Signal, Loss, Control, Sequence, Text, Classical, Training, Opaque,
};
std::string_view name(Category);

using InferFn = Status (*)(InferContext&);
using EvalFn = void (*)(InferContext&);
using CostFn = void (*)(const CostContext&, OpCost&);

struct OpDef {
  std::string_view name;
  /// ONNX operators this stands for one-to-one, space-separated; "ms:" marks
  /// com.microsoft, "ml:" ai.onnx.ml, "tr:" ai.onnx.preview.training, "pv:" ai.onnx.preview.
  std::string_view onnx = {};
  Category category = Category::Elementwise;
  std::int16_t min_operands = 1;
  std::int16_t max_operands = 1;    ///< −1: variadic
  std::int16_t results = 1;         ///< −1: as many as the call asks for
  InferFn infer = nullptr;
  EvalFn eval = nullptr;            ///< propagates contents of small tensors
  CostFn cost = nullptr;            ///< null: one operation per result element
};

/// Index of a row. Only valid in this build: text forms and checkpoints use names.
struct OpId {
  std::uint16_t index = 0;
  friend auto operator<=>(const OpId&, const OpId&) = default;
};

}  // namespace perfc

#include "ir/ops/table.inc.h"

namespace perfc {

constexpr const OpDef& def(OpId id) { return kOps[id.index]; }

namespace detail {
constexpr std::uint16_t index_of(std::string_view name) {
  for (std::uint16_t i = 0; i < kOpCount; ++i) {
    if (kOps[i].name == name) return i;
  }
  return kOpCount;
}
}  // namespace detail

/// `op("nn.conv2d")`: a name that is not in the table does not compile.
consteval OpId op(std::string_view name) {
  const std::uint16_t i = detail::index_of(name);
  if (i == kOpCount) throw "no such operator in ir/ops/table.inc.h";
  return OpId{i};
}

/// Run-time look-up by name; `false` result when there is none.
Result<OpId> find_op(std::string_view name);
/// Run-time look-up by ONNX spelling ("Conv", "ms:FusedConv").
Result<OpId> find_onnx_op(std::string_view spelling);

}  // namespace perfc
