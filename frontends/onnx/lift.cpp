/// Attributes of old operator sets that are operands in newer ones.
#include <fmt/format.h>

#include <array>

#include "frontends/onnx/importer.h"

namespace perfc::onnx {
namespace {

/// An attribute of old operator sets that is an operand in newer ones. The
/// file's version is not held against it: writers mix them.
struct LiftRow {
  std::string_view spelling;
  std::string_view attribute;   ///< after the importer's renaming
  std::size_t operand;
};

constexpr std::array kLifts{
    LiftRow{"Squeeze", "axes", 1},      LiftRow{"Unsqueeze", "axes", 1},
    LiftRow{"Reshape", "shape", 1},      LiftRow{"Slice", "starts", 1},
    LiftRow{"Slice", "ends", 2},        LiftRow{"Slice", "axes", 3},
    LiftRow{"Pad", "padding", 1},       LiftRow{"Pad", "paddings", 1},
    LiftRow{"Pad", "value", 2},         LiftRow{"Clip", "min", 1},
    LiftRow{"Clip", "max", 2},          LiftRow{"Split", "split", 1},
    LiftRow{"TopK", "k", 1},            LiftRow{"Upsample", "scales", 1},
    LiftRow{"Dropout", "ratio", 1},     LiftRow{"ReduceSum", "axes", 1},
    LiftRow{"ReduceMean", "axes", 1},   LiftRow{"ReduceMax", "axes", 1},
    LiftRow{"ReduceMin", "axes", 1},    LiftRow{"ReduceProd", "axes", 1},
    LiftRow{"ReduceL1", "axes", 1},     LiftRow{"ReduceL2", "axes", 1},
    LiftRow{"ReduceLogSum", "axes", 1}, LiftRow{"ReduceLogSumExp", "axes", 1},
    LiftRow{"ReduceSumSquare", "axes", 1}, LiftRow{"ReverseSequence", "sequence_lens", 1},
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

Status lift_attributes(NodeContext& c) {
  if (c.attrs.size() == 0) return ok();
  for (const LiftRow& row : kLifts) {
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
