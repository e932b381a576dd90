/// Nodes outside the standard whose meaning is plain, brought into its form.
#include <fmt/format.h>

#include <array>

#include "frontends/onnx/importer.h"

namespace perfc::onnx {
namespace {

std::optional<std::vector<std::int64_t>> known_ints(const NodeContext& c, std::size_t i) {
  const Data* d = c.has(i) ? c.builder().data(c.inputs[i]) : nullptr;
  if (!d || !d->ints() || !d->fully_known()) return std::nullopt;
  std::vector<std::int64_t> out;
  for (const SymInt& s : *d->ints()) out.push_back(s.value());
  return out;
}

bool has_shape(const Type& t) { return t.is_tensor() && t.ranked(); }

/// What the file says of output 0.
const Type& declared(const NodeContext& c) {
  static const Type none;
  return c.declared.empty() ? none : c.declared[0];
}

/// Scalars are concatenated as vectors of one element.
Status concat(NodeContext& c) {
  bool scalars = false, others = false;
  for (std::size_t i = 0; i < c.inputs.size(); ++i) {
    const bool shaped = has_shape(c.type(i));
    scalars = scalars || (shaped && c.type(i).rank() == 0);
    others = others || !shaped || c.type(i).rank() > 1;
  }
  if (!scalars || others) return ok();
  c.warning("operands of rank 0; taken as vectors of one element");
  const ValueId axis = c.int_constant({0});
  for (ValueId& input : c.inputs) {
    if (c.builder().type(input).rank() > 0) continue;
    const auto vector = c.emit(op("expand_dims"), {input, axis});
    if (!vector) return Failure{};
    input = *vector;
  }
  return ok();
}

/// An axis whose dim is not 1 stays, as in PyTorch, where the declared rank agrees.
Status squeeze(NodeContext& c) {
  if (!attributes_to_operands(c)) return Failure{};
  const Type& in = c.type(0);
  const auto axes = known_ints(c, 1);
  if (!axes || !has_shape(in) || !has_shape(declared(c))) return ok();
  const auto rank = static_cast<std::int64_t>(in.rank());
  std::vector<std::int64_t> kept;
  for (std::int64_t axis : *axes) {
    const std::int64_t at = axis < 0 ? axis + rank : axis;
    if (at < 0 || at >= rank) return ok();
    const Dim& d = in.shape()[static_cast<std::size_t>(at)];
    if (!d.known() || d.is(1)) kept.push_back(axis);
  }
  if (kept.size() == axes->size() || declared(c).rank() + kept.size() != in.rank()) return ok();
  c.warning(fmt::format("an axis of {} to be squeezed is not 1; it stays, as the file declares", to_string(in)));
  c.inputs[1] = c.int_constant(kept);
  return ok();
}

/// Pad (data, pads, axes): the operand between them was left out, not left empty.
Status pad(NodeContext& c) {
  if (c.inputs.size() != 3 || !c.has(2) || !has_shape(c.type(0)) || !has_shape(c.type(1)) || !has_shape(c.type(2))) {
    return ok();
  }
  const Type& pads = c.type(1);
  const Type& axes = c.type(2);
  const bool indices = axes.dtype() == DType::Int32 || axes.dtype() == DType::Int64;
  if (!indices || c.type(0).dtype() == axes.dtype() || axes.rank() != 1 || pads.rank() != 1) return ok();
  const Dim& n = axes.shape()[0];
  const auto data_rank = static_cast<std::int64_t>(c.type(0).rank());
  if (!n.known() || n.value() > data_rank || !pads.shape()[0].is(2 * n.value())) return ok();
  c.warning(fmt::format("operand 2 of {} is no padding value; taken as the axes", to_string(axes)));
  c.inputs.insert(c.inputs.begin() + 2, ValueId{});
  return ok();
}

/// Outputs of the branches that the node does not take.
Status if_(NodeContext& c) {
  std::optional<std::size_t> most;
  for (std::string_view branch : {"then_branch", "else_branch"}) {
    const auto body = graph_attribute(c.node, branch);
    Damage damage;
    const auto graph = body ? decode_graph(*body, damage) : std::nullopt;
    if (!graph || (most && *most != graph->outputs.size())) return ok();
    most = graph->outputs.size();
  }
  if (*most <= c.outputs()) return ok();
  c.warning(fmt::format("the branches have {} outputs, the node takes the first {}", *most, c.outputs()));
  c.declared.resize(*most);
  return ok();
}

struct NonstandardForm {
  std::string_view spelling;
  Status (*rewrite)(NodeContext&);
};
constexpr std::array kNonstandardForms{
    NonstandardForm{"Concat", concat},
    NonstandardForm{"Squeeze", squeeze},
    NonstandardForm{"Pad", pad},
    NonstandardForm{"If", if_},
};

/// Glow's names of element types that have a counterpart here.
std::optional<DType> glow_dtype(std::string_view name) {
  static constexpr std::pair<std::string_view, DType> kNames[] = {
      {"float", DType::Float32},   {"float16", DType::Float16}, {"bfloat16", DType::BFloat16},
      {"float64", DType::Float64}, {"i8", DType::Int8},         {"ui8", DType::UInt8},
      {"i16", DType::Int16},       {"i32", DType::Int32},       {"index32", DType::Int32},
      {"index64", DType::Int64},   {"bool", DType::Bool}};
  for (const auto& [glow, dtype] : kNames) {
    if (glow == name) return dtype;
  }
  return std::nullopt;
}

/// Glow writes o0_elemKind="float", o0_shape=[10, 10], … to its own operators.
void declare_by_attributes(NodeContext& c) {
  for (std::size_t i = 0; i < c.declared.size(); ++i) {
    const auto dtype = glow_dtype(c.attrs.string_or(fmt::format("o{}_elemKind", i), ""));
    const std::string shape_name = fmt::format("o{}_shape", i);
    if (c.declared[i] || !dtype || !c.attrs.has(shape_name)) continue;
    Shape shape;
    bool possible = true;
    for (std::int64_t d : c.attrs.ints_or_empty(shape_name)) {
      possible = possible && d >= 0;
      shape.emplace_back(d);
    }
    if (possible) c.declared[i] = Type::tensor(*dtype, std::move(shape));
  }
}

}  // namespace

Status to_standard_form(NodeContext& c) {
  if (c.attrs.string_or("auto_pad", "") == "SAME") {
    c.warning("auto_pad is SAME; taken as SAME_UPPER");
    c.attrs.set("auto_pad", std::string("SAME_UPPER"));
  }
  for (const NonstandardForm& row : kNonstandardForms) {
    if (row.spelling == c.spelling) return row.rewrite(c);
  }
  return ok();
}

Result<std::vector<ValueId>> keep_opaque(NodeContext& c, std::string_view what) {
  c.builder().diagnostics().warning(c.loc, c.name,
                                    fmt::format("unknown operator {}: kept as opaque, its cost is not known", what));
  declare_by_attributes(c);
  Attrs attrs = c.attrs;
  attrs.set("source_op", std::string(what));
  return c.finish(op("opaque"), c.inputs, std::move(attrs));
}

}  // namespace perfc::onnx
