/// Elementwise operators whose form depends on their types or attributes.
#include <fmt/format.h>

#include "backends/onnx/rows.h"
#include "ir/support/text.h"

namespace perfc::backends::write {
namespace {

std::string_view spelling_of(const CallWriter& c) {
  std::string_view all = def(c.node.op).onnx;
  return next_word(all);
}

DType unsigned_of(DType dtype) {
  switch (bits(dtype)) {
    case 8:
      return DType::UInt8;
    case 16:
      return DType::UInt16;
    case 32:
      return DType::UInt32;
    default:
      return DType::UInt64;
  }
}

}  // namespace

/// ONNX's limits are single numbers; of others each element has its own.
Status clip(CallWriter& c) {
  if (!onnx_attributes(c, "")) return Failure{};
  const auto is_wide = [&](std::size_t i) {
    return c.has(i) && (!c.type(i).ranked() || (c.type(i).rank() > 0 && c.type(i).elements() != 1));
  };
  if (is_wide(1) || is_wide(2)) {
    std::string x = c.operands[0];
    if (c.has(1)) x = c.value("Max", {x, c.operands[1]});
    return c.has(2) ? c.finish("Min", {x, c.operands[2]}) : c.finish_as(x);
  }
  CallWriter::Names inputs = c.operands;
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}}) {
    if (c.has(i) && c.type(i).rank() > 0) inputs[i] = c.value("Reshape", {inputs[i], c.ints({})});
  }
  return c.finish("Clip", inputs);
}

/// PyTorch's a + α·b.
Status scaled_sum(CallWriter& c) {
  if (!onnx_attributes(c, "alpha")) return Failure{};
  CallWriter::Names inputs = c.operands;
  const double alpha = c.attrs.float_or("alpha", static_cast<double>(c.attrs.int_or("alpha", 1)));
  if (alpha != 1) inputs[1] = c.value("Mul", {inputs[1], c.number(alpha, c.result().dtype())});
  return c.finish(spelling_of(c), inputs);
}

/// ONNX's Sum and Mean are of floating-point numbers.
Status sum_or_mean(CallWriter& c) {
  if (!onnx_attributes(c, "")) return Failure{};
  if (is_float(c.result().dtype())) return c.finish(spelling_of(c), c.operands);
  std::string sum = c.operands[0];
  for (std::size_t i = 1; i < c.operands.size(); ++i) sum = c.value("Add", {sum, c.operands[i]});
  if (c.node.is(op("sum"))) return c.finish_as(sum);
  return c.finish("Div", {sum, c.number(static_cast<double>(c.operands.size()), c.result().dtype())});
}

/// ONNX shifts unsigned numbers. To the right the sign stays: a division, towards −∞.
Status bit_shift(CallWriter& c) {
  auto attrs = onnx_attributes(c, "direction");
  if (!attrs) return Failure{};
  const DType dtype = c.result().dtype(), plain = unsigned_of(dtype);
  if (dtype == plain) return c.finish("BitShift", c.operands, *attrs);
  const auto as_plain = [&](const std::string& v) { return c.value("Cast", {v}, to_type(plain)); };
  if (c.attrs.string_or("direction", "") == "LEFT") {
    const std::string shifted = c.value("BitShift", {as_plain(c.operands[0]), as_plain(c.operands[1])}, *attrs);
    return c.finish("Cast", {shifted}, to_type(dtype));
  }
  attrs->set("direction", std::string("LEFT"));
  const std::string power = c.value("BitShift", {c.number(1, plain), as_plain(c.operands[1])}, *attrs);
  const std::string divisor = c.value("Cast", {power}, to_type(dtype));
  const std::string rest = c.value("Mod", {c.operands[0], divisor});
  return c.finish("Div", {c.value("Sub", {c.operands[0], rest}), divisor});
}

/// ONNX orders numbers, not truths.
Status compare(CallWriter& c) {
  if (!onnx_attributes(c, "")) return Failure{};
  CallWriter::Names inputs = c.operands;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (c.type(i).dtype() == DType::Bool) inputs[i] = c.value("Cast", {inputs[i]}, to_type(DType::Int32));
  }
  return c.finish(spelling_of(c), inputs);
}

/// ONNX's Celu is of float32: max(0, x) + min(0, α · (exp(x / α) − 1)).
Status celu(CallWriter& c) {
  auto attrs = onnx_attributes(c, "alpha");
  if (!attrs) return Failure{};
  const DType dtype = c.result().dtype();
  if (dtype == DType::Float32) return c.finish("Celu", c.operands, *attrs);
  const std::string &x = c.operands[0], zero = c.number(0, dtype);
  const std::string alpha = c.number(c.attrs.float_or("alpha", 1), dtype);
  const std::string rise = c.value("Sub", {c.value("Exp", {c.value("Div", {x, alpha})}), c.number(1, dtype)});
  return c.finish("Add", {c.value("Max", {x, zero}), c.value("Min", {c.value("Mul", {rise, alpha}), zero})});
}

/// Blocks go to channels: behind those of the data ("CRD"), or before them.
Status space_to_depth(CallWriter& c) {
  auto attrs = onnx_attributes(c, "blocksize mode");
  if (!attrs) return Failure{};
  attrs->erase("mode");
  if (c.attrs.string_or("mode", "DCR") != "CRD") return c.finish("SpaceToDepth", c.operands, *attrs);
  const std::int64_t block = c.attrs.int_or("blocksize", 1);
  const Type &x = c.type(0), &y = c.result();
  if (!y.ranked() || y.rank() != 4 || !x.ranked() || !x.shape()[1].known() || !y.shape()[2].known() ||
      !y.shape()[3].known()) {
    return c.error("blocks of unknown extents have no form in ONNX");
  }
  const std::int64_t channels = x.shape()[1].value(), rows = y.shape()[2].value(), columns = y.shape()[3].value();
  const std::string blocks = c.value("Reshape", {c.operands[0], c.ints({-1, channels, rows, block, columns, block})});
  const std::string moved = c.value("Transpose", {blocks}, {{"perm", std::vector<std::int64_t>{0, 1, 3, 5, 2, 4}}});
  return c.finish("Reshape", {moved, c.ints({-1, channels * block * block, rows, columns})});
}

/// The number is a vector of one element.
Status topk(CallWriter& c) {
  auto attrs = onnx_attributes(c, "axis largest sorted");
  if (!attrs) return Failure{};
  CallWriter::Names inputs = c.operands;
  if (c.has(1) && c.type(1).ranked() && c.type(1).rank() == 0) inputs[1] = c.value("Reshape", {inputs[1], c.ints({1})});
  return c.finish("TopK", inputs, *attrs);
}

}  // namespace perfc::backends::write
