/// Attributes of old operator sets that are operands in newer ones.
#include <fmt/format.h>

#include <array>

#include "frontends/onnx/importer.h"

namespace perfc::onnx {
namespace {

/// An attribute of old operator sets that is an operand in newer ones. The
/// file's version is not held against it: writers mix them.
struct AttributeOperand {
  std::string_view spelling;
  std::string_view attribute;  ///< after the importer's renaming
  std::size_t operand;
};

constexpr std::array kAttributeOperands{
    AttributeOperand{"Squeeze", "axes", 1},
    AttributeOperand{"Unsqueeze", "axes", 1},
    AttributeOperand{"Reshape", "shape", 1},
    AttributeOperand{"Slice", "starts", 1},
    AttributeOperand{"Slice", "ends", 2},
    AttributeOperand{"Slice", "axes", 3},
    AttributeOperand{"Pad", "padding", 1},
    AttributeOperand{"Pad", "paddings", 1},
    AttributeOperand{"Pad", "value", 2},
    AttributeOperand{"Clip", "min", 1},
    AttributeOperand{"Clip", "max", 2},
    AttributeOperand{"Split", "split", 1},
    AttributeOperand{"TopK", "k", 1},
    AttributeOperand{"Upsample", "scales", 1},
    AttributeOperand{"Dropout", "ratio", 1},
    AttributeOperand{"ReduceSum", "axes", 1},
    AttributeOperand{"ReduceMean", "axes", 1},
    AttributeOperand{"ReduceMax", "axes", 1},
    AttributeOperand{"ReduceMin", "axes", 1},
    AttributeOperand{"ReduceProd", "axes", 1},
    AttributeOperand{"ReduceL1", "axes", 1},
    AttributeOperand{"ReduceL2", "axes", 1},
    AttributeOperand{"ReduceLogSum", "axes", 1},
    AttributeOperand{"ReduceLogSumExp", "axes", 1},
    AttributeOperand{"ReduceSumSquare", "axes", 1},
    AttributeOperand{"ReverseSequence", "sequence_lens", 1},
};

}  // namespace

std::optional<Literal> as_literal(const Attr& a, DType float_dtype) {
  if (const auto* v = std::get_if<std::vector<std::int64_t>>(&a)) return int64_vector(*v);
  if (const auto* v = std::get_if<std::int64_t>(&a)) return int64_vector({*v});
  if (const auto* v = std::get_if<double>(&a)) return float_scalar(*v, float_dtype);
  if (const auto* v = std::get_if<std::vector<double>>(&a)) {
    auto data = std::make_shared<Data>();
    data->elements = *v;
    return Literal{Type::tensor(DType::Float32, {static_cast<std::int64_t>(v->size())}), data};
  }
  return std::nullopt;
}

Status attributes_to_operands(NodeContext& c) {
  if (c.attrs.size() == 0) return ok();
  for (const AttributeOperand& row : kAttributeOperands) {
    if (row.spelling != c.spelling) continue;
    const Attr* a = c.attrs.find(row.attribute);
    if (!a) continue;
    DType dtype = DType::Float32;
    if (c.type(0).is_tensor() && is_float(c.type(0).dtype())) dtype = c.type(0).dtype();
    auto literal = as_literal(*a, dtype);
    if (!literal) return c.error(fmt::format("attribute '{}' is of the wrong kind", row.attribute));
    // Beside operands it has their type: Slice takes int32 or int64 throughout.
    if (row.spelling == "Slice" && c.type(1).is_tensor() && c.type(1).dtype() == DType::Int32) {
      literal->type = literal->type.with_dtype(DType::Int32);
    }
    if (c.inputs.size() <= row.operand) c.inputs.resize(row.operand + 1);
    if (!c.inputs[row.operand]) c.inputs[row.operand] = c.constant(std::move(*literal));
    c.attrs.erase(row.attribute);
  }
  c.attrs.erase("consumed_inputs");
  return ok();
}

}  // namespace perfc::onnx
