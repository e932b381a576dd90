/// What a row without a function describes: operands in one type, attributes by their names.
#include <algorithm>

#include "frontends/torch/translate.h"

namespace perfc::torch {
namespace {

/// Functions of reals take integers, too, and give floats. ONNX, whose rules the rows have, gives integers to erf.
bool wants_float(OpId o) { return (def(o).takes == Takes::Float && !def(o).rounds) || o == op("erf"); }

/// The type that operands are brought to; undefined where each keeps its own.
DType common_type(Call& c, OpId o) {
  std::vector<const Value*> operands;
  for (std::size_t i = 0; i < slots(*c.row).size() && i < c.args.size(); ++i) {
    if (slots(*c.row)[i].kind == Slot::Kind::Operand) operands.push_back(&c.args[i]);
  }
  if (def(o).takes == Takes::Bool) return DType::Bool;
  if (operands.size() < 2) return DType::Undefined;
  const DType d = result_type(c, operands);
  return wants_float(o) && (d == DType::Bool || is_integer(d)) ? DType::Float32 : d;
}

Result<Attr> attribute_of(Call& c, const Value& v, std::string_view name) {
  if (const Scalar* s = v.scalar()) {
    if (s->is_float() && s->real) return Attr(*s->real);
    if (!s->is_float() && s->integer.known()) return Attr(s->integer.value());
    return c.error(fmt::format("'{}' must be known when importing", name));
  }
  if (const std::string* s = v.string()) return Attr(*s);
  if (v.list()) {
    auto ints = c.ints(name);
    if (!ints) return Failure{};
    return Attr(*ints);
  }
  return c.error(fmt::format("'{}' is {}, which is no attribute", name, v.kind()));
}

}  // namespace

Values map_row(Call& c) {
  std::vector<ValueId> operands;
  Attrs attrs;
  DType dtype = DType::Undefined;
  const DType common = common_type(c, c.row->op);
  const auto& all = slots(*c.row);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Slot& slot = all[i];
    const Value nothing;
    const Value& v = i < c.args.size() ? c.args[i] : nothing;
    switch (slot.kind) {
      case Slot::Kind::Ignored:
        break;
      case Slot::Kind::Operand:
      case Slot::Kind::Optional: {
        if (!v.given() || v.is_none()) {
          if (slot.kind == Slot::Kind::Operand) return c.error(fmt::format("'{}' is missing", slot.name));
          operands.emplace_back();
          break;
        }
        auto id = common != DType::Undefined ? promoted(c, v, common) : c.tensor(slot.name);
        if (!id) return Failure{};
        if (operands.empty() && wants_float(c.row->op)) {
          const DType d = c.type(*id).dtype();
          if (d == DType::Bool || is_integer(d)) id = c.promote(*id, DType::Float32);
          if (!id) return Failure{};
        }
        if (dtype == DType::Undefined) dtype = c.type(*id).dtype();
        operands.push_back(*id);
        break;
      }
      case Slot::Kind::Ints: {
        auto id = c.int_vector(slot.name);
        if (!id) return Failure{};
        operands.push_back(*id);
        break;
      }
      case Slot::Kind::Attribute: {
        if (!v.given() || v.is_none()) break;
        auto a = attribute_of(c, v, slot.name);
        if (!a) return Failure{};
        attrs.set(slot.attribute, *std::move(a));
        break;
      }
    }
  }
  const OpId o = c.row->op;
  if (def(o).rounds && !is_float(dtype)) return c.in_place ? alias(c) : clone(c);
  const int results = def(o).results;
  return c.finish(o, std::move(operands), std::move(attrs),
                  results < 0 ? std::max<std::size_t>(c.outputs(), 1) : static_cast<std::size_t>(results));
}

}  // namespace perfc::torch
