/// Constants, placeholders, variables.
#include <fmt/format.h>

#include "frontends/tf/translators.h"
#include "ir/tables.h"

namespace perfc::tf {
namespace {

/// The weight that a variable holds, one constant per graph.
Result<ValueId> read_variable(Call& c, const Variable& v) {
  const auto known = c.scope.site.weights.find(v.name);
  if (known != c.scope.site.weights.end()) return known->second;
  if (!v.type.is_static()) {
    return c.error(fmt::format("the shape of the variable '{}' is not known ({})", v.name, to_string(v.type)));
  }
  const ValueId id = c.builder().constant({v.type, nullptr}, v.name, c.loc);
  c.scope.site.weights.emplace(v.name, id);
  return id;
}

}  // namespace

Result<Values> constant(Call& c, const OpRow&) {
  const auto value = c.attr("value");
  if (!value || value->tensors.size() != 1) return c.error("has no value");
  std::string why;
  auto l = literal(value->tensors[0], why);
  if (!l) return c.error(why);
  const bool numbers = is_float(l->type.dtype()) && l->type.is_tensor() && l->type.ranked() && l->type.rank() > 0;
  if (!numbers || !c.importer.has_variables()) return one(c.builder().constant(std::move(*l), c.name, c.loc));
  return one(add_table(c.builder(), std::move(*l), c.name, c.loc));
}

/// An input that the signature does not name has to be given a value.
Result<Values> placeholder(Call& c, const OpRow&) {
  const auto dtype = c.attr("dtype");
  if (dtype && dtype->types.size() == 1 && (dtype->types[0] == kResource || dtype->types[0] == kVariant))
    return Values{Value::handle()};
  return c.error("is read, but is no input of the signature");
}

/// VarHandleOp: a resource; the shape stands in the node, or in the object graph.
Result<Values> variable_handle(Call& c, const OpRow&) {
  const DType dtype = c.dtype_attr("dtype", DType::Undefined);
  std::string name(c.string_attr("shared_name", ""));
  if (name.empty()) name = c.name;
  Type type = c.shape_attr("shape", dtype).value_or(Type{});
  if (!type || !type.is_static()) {
    const Type held = c.importer.variable_type(name);
    if (held) type = held;
  }
  if (!type && dtype == DType::Undefined) return Values{Value::handle()};
  if (!type) type = Type::unranked(dtype);
  return Values{Value::of(Variable{std::move(name), std::move(type)})};
}

/// VariableV2: the node's result is the value.
Result<Values> variable_value(Call& c, const OpRow&) {
  const DType dtype = c.dtype_attr("dtype", DType::Undefined);
  const auto type = c.shape_attr("shape", dtype);
  if (!type || dtype == DType::Undefined) return c.error("has no shape or element type");
  auto v = read_variable(c, {c.name, *type});
  if (!v) return Failure{};
  return one(*v);
}

Result<Values> read_handle(Call& c, const OpRow&) {
  if (c.inputs.empty()) return c.error("has no input");
  const Value& v = c.inputs[0];
  if (v.is_tensor()) return Values{v};
  if (v.kind != Value::Kind::Variable) return c.error("reads a resource that is no variable");
  Variable variable = *v.variable;
  if (!variable.type.is_static()) {
    const Type declared = c.declared(0, c.dtype_attr("dtype", variable.type.dtype()));
    if (declared && declared.is_static()) variable.type = declared;
  }
  auto id = read_variable(c, variable);
  if (!id) return Failure{};
  return one(*id);
}

/// Assign and kin return what the variable holds afterwards.
Result<Values> assign(Call& c, const OpRow& row) {
  if (c.inputs.size() < 2) return c.error("takes a variable and a value");
  if (row.name == "Assign") return Values{c.inputs[1]};
  if (c.inputs[0].kind == Value::Kind::Variable) return Values{};  // AssignVariableOp and kin return nothing
  auto operands = c.tensors(0, 2);
  if (!operands) return Failure{};
  return c.finish(row_op(row), *operands);
}

Result<Values> resource_gather(Call& c, const OpRow& row) {
  if (c.inputs.size() < 2) return c.error("takes a variable and indices");
  auto table = read_handle(c, row);
  auto indices = c.tensor(1);
  if (!table || !indices) return Failure{};
  if (c.int_attr("batch_dims", 0) != 0) return c.error("batch_dims other than 0 are not supported");
  return c.finish(op("take"), {(*table)[0].id, *indices}, {{"axis", std::int64_t{0}}});
}

}  // namespace perfc::tf
