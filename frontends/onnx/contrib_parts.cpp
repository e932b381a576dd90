/// Checks and parts that translators of com.microsoft's operators share.
#include <fmt/format.h>

#include <algorithm>

#include "frontends/onnx/contrib.h"

namespace perfc::onnx {

Status takes(const NodeContext& c, std::initializer_list<std::string_view> names) {
  if (c.inputs.size() > names.size())
    return c.error(fmt::format("has {} operands, at most {} exist", c.inputs.size(), names.size()));
  std::size_t i = 0;
  for (const std::string_view name : names) {
    if (!name.ends_with('?') && !c.has(i)) return c.error(fmt::format("operand {} ({}) is missing", i, name));
    ++i;
  }
  return ok();
}

Status gives(const NodeContext& c, std::size_t most) {
  if (c.outputs() <= most) return ok();
  return c.error(fmt::format("has {} outputs, at most {} exist", c.outputs(), most));
}

Result<std::int64_t> whole_number(const NodeContext& c, std::string_view name, std::optional<std::int64_t> missing) {
  if (!c.attrs.has(name)) return missing ? Result(*missing) : c.error(fmt::format("has no attribute '{}'", name));
  const std::int64_t value = c.attrs.int_or(name, 0);
  if (value != c.attrs.int_or(name, 1)) return c.error(fmt::format("attribute '{}' must be an integer", name));
  return value;
}

Status agree(const NodeContext& c, const Dim& a, const Dim& b, std::string_view what) {
  if (!a.known() || !b.known() || a == b) return ok();
  return c.error(fmt::format("{}: {} and {}", what, a.value(), b.value()));
}

Status require_dims(const NodeContext& c, std::size_t i, std::string_view name, const std::vector<Dim>& dims) {
  if (!c.has(i) || !c.type(i).is_tensor() || !c.type(i).ranked()) return ok();
  const Shape& have = c.type(i).shape();
  bool fits = have.size() == dims.size();
  for (std::size_t d = 0; fits && d < dims.size(); ++d)
    fits = !have[d].known() || !dims[d].known() || have[d] == dims[d];
  if (fits) return ok();
  return c.error(
      fmt::format("{} must be {}, is {}", name, to_string(Shape(dims.begin(), dims.end())), to_string(have)));
}

Status alike(const NodeContext& c, std::size_t a, std::size_t b, std::string_view names) {
  if (!c.type(a).is_tensor() || !c.type(b).is_tensor() || !c.type(a).ranked() || !c.type(b).ranked()) return ok();
  const Shape &x = c.type(a).shape(), &y = c.type(b).shape();
  bool same = x.size() == y.size();
  for (std::size_t d = 0; same && d < x.size(); ++d) same = !x[d].known() || !y[d].known() || x[d] == y[d];
  if (same) return ok();
  return c.error(fmt::format("{} must have one shape, have {} and {}", names, to_string(x), to_string(y)));
}

Result<std::int64_t> extent_of(const NodeContext& c, ValueId v, std::int64_t axis) {
  constexpr std::int64_t kMost = std::int64_t{1} << 31;
  const auto known = c.known_dim(v, axis);
  if (!known || *known <= kMost) return known;
  return c.error(fmt::format("dim {} of an operand is {}, which is too large", axis, *known));
}

Result<std::int64_t> rank_of(const NodeContext& c, std::size_t i, std::string_view name, std::int64_t least,
                             std::int64_t most) {
  const auto rank = c.rank(c.inputs[i]);
  if (!rank || (*rank >= least && *rank <= most)) return rank;
  const std::string wanted = least == most      ? std::to_string(least)
                             : most == kAnyRank ? fmt::format("{} or more", least)
                                                : fmt::format("{} to {}", least, most);
  return c.error(fmt::format("{} must have {} dims, has {}", name, wanted, *rank));
}

SwiGlu::SwiGlu(const Attrs& attrs)
    : alpha(attrs.float_or("activation_alpha", 1)), beta(attrs.float_or("activation_beta", 0)),
      limit(attrs.float_or("limit", 0)) {}

Result<std::vector<ValueId>> factors(NodeContext& c, const SwiGlu& form, Result<ValueId> gate, Result<ValueId> up) {
  if (!gate || !up) return Failure{};
  const InsideKernel of_product(c);
  if (form.limit > 0) {
    gate = c.emit(op("clip"), {*gate, ValueId{}, c.number_like(*gate, form.limit)});
    up = c.emit(op("clip"), {*up, c.number_like(*up, -form.limit), c.number_like(*up, form.limit)});
  }
  gate = c.emit(op("nn.silu"), {gate}, form.alpha == 1 ? Attrs{} : Attrs{{"alpha", form.alpha}});
  if (form.beta != 0 && up) up = c.emit(op("add"), {*up, c.number_like(*up, form.beta)});
  if (!gate || !up) return Failure{};
  return std::vector<ValueId>{*gate, *up};
}

Result<std::vector<ValueId>> outputs_of(const NodeContext& c, const std::vector<Result<ValueId>>& values) {
  std::vector<ValueId> out;
  for (const Result<ValueId>& v : values) {
    if (!v) return Failure{};
    if (out.size() < c.outputs()) out.push_back(*v);
  }
  return out;
}

Result<ValueId> counted(const NodeContext& c, Result<ValueId> count) {
  return c.emit(op("arange"), {c.number(0, DType::Int64), count, c.number(1, DType::Int64)});
}

Result<ValueId> axis_length(const NodeContext& c, ValueId v, std::int64_t axis) {
  return c.squeeze(c.shape_of(v, axis, axis + 1), {0});
}

Result<std::vector<ValueId>> as_standard(Importer& importer, NodeContext& c, std::string_view spelling,
                                         std::int64_t version) {
  c.spelling = spelling;
  c.version = version;
  const auto& table = translator_table();
  return std::ranges::find(table, spelling, &TranslatorRow::spelling)->translate(importer, c);
}

Result<std::vector<ValueId>> unpriced(NodeContext& c, Type type) {
  if (c.declared.empty()) return c.error("has no output");
  if (!c.declared[0].is_tensor()) c.declared[0] = std::move(type);
  return keep_opaque(c, c.spelling);
}

}  // namespace perfc::onnx
