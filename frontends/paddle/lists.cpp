/// PIR's vectors, and tensor arrays: lists that exist at import only.
#include <algorithm>

#include "frontends/paddle/table.h"

namespace perfc::paddle {
namespace {

/// An index that must be known, within [0, size).
Result<std::size_t> place(Call& c, std::string_view names, std::size_t size) {
  const auto at = c.integer(names);
  if (!at) return Failure{};
  if (*at < 0 || static_cast<std::size_t>(*at) >= size)
    return c.error(fmt::format("index {} into a list of {}", *at, size));
  return static_cast<std::size_t>(*at);
}

std::vector<ValueId> items_of(const Call& c, std::string_view names) {
  const auto* items = c.operands(names);
  return items ? *items : std::vector<ValueId>{};
}

}  // namespace

/// combine: a list of its operands.
Values combine(Call& c) { return c.all_operands(); }
/// builtin.split: the items of a list.
Values items(Call& c) { return c.all_operands(); }
/// builtin.slice: one item.
Values item(Call& c) {
  const std::vector<ValueId> all = c.all_operands();
  const auto at = place(c, "index", all.size());
  if (!at) return Failure{};
  return std::vector<ValueId>{all[*at]};
}

// ---- Tensor arrays

Values array_new(Call& c) {
  for (std::string_view name : c.outputs()) c.bind_list(name, {});
  return std::vector<ValueId>{};
}

/// (X, I, array): writing behind the end makes the array longer.
Values array_write(Call& c) {
  const auto x = c.tensor("X");
  const bool pir = c.importer.dialect() == Dialect::Pir;
  const std::vector<std::string_view> outputs = c.outputs();
  if (outputs.empty()) return c.error("has no result");
  std::vector<ValueId> list = pir ? items_of(c, "Array") : c.list_named(outputs.front());
  const auto at = place(c, "I", list.size() + 1);
  if (!x || !at) return Failure{};
  if (*at == list.size()) list.push_back(*x);
  else list[*at] = *x;
  if (pir && !c.operation.inputs.empty() && !c.operation.inputs[0].values.empty())
    c.bind_list(c.operation.inputs[0].values[0], list);
  c.bind_list(outputs.front(), std::move(list));
  return std::vector<ValueId>{};
}

Values array_read(Call& c) {
  const std::vector<ValueId> list = items_of(c, "X");
  const auto at = place(c, "I", list.size());
  if (!at) return Failure{};
  return std::vector<ValueId>{list[*at]};
}

Values array_length(Call& c) { return one(c.int_constant({static_cast<std::int64_t>(items_of(c, "X").size())})); }

/// Items joined along an axis, or stacked along a new one, and the extent of each.
Values array_to_tensor(Call& c) {
  const std::vector<ValueId> list = items_of(c, "X");
  if (list.empty()) return c.error("an array without tensors");
  const auto rank = c.rank(list.front());
  if (!rank) return Failure{};
  const bool stacks = c.flag("use_stack");
  const auto axis = c.axis(c.integer_or("axis", 0), *rank + (stacks ? 1 : 0));
  if (!axis) return Failure{};
  std::vector<Operand> parts;
  Ints extents;
  for (ValueId v : list) {
    const Dim d = c.dim(v, *axis);
    extents.push_back(stacks || !d.known() ? 1 : d.value());
    parts.push_back(stacks ? c.expand_dims(v, {*axis}) : Operand(v));
  }
  auto y = parts.size() == 1 ? parts.front() : c.emit(op("concatenate"), parts, {{"axis", *axis}});
  if (!y) return Failure{};
  return std::vector<ValueId>{*y, c.int_constant(extents)};
}

}  // namespace perfc::paddle
