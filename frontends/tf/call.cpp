/// What translators see of a node: inputs, attributes, results.
#include <fmt/format.h>

#include <algorithm>

#include "frontends/tf/importer.h"
#include "ir/support/text.h"

namespace perfc::tf {

Graph finish_live(GraphBuilder& built, std::string name, const std::vector<ValueId>& results,
                  std::vector<std::string> result_names, Diagnostics& diags) {
  const Graph all = built.finish(name, results, result_names);
  std::vector<bool> live(all.size(), false);
  for (ValueId v : all.params()) live[v.node] = true;
  for (ValueId v : all.results()) live[v.node] = true;
  for (NodeId id = static_cast<NodeId>(all.size()); id-- > 0;) {
    if (!live[id]) continue;
    for (ValueId v : all.node(id).operands) {
      if (v) live[v.node] = true;
    }
  }
  GraphBuilder builder(diags);
  std::vector<NodeId> moved(all.size(), ValueId::kNone);
  const auto at = [&](ValueId v) { return v ? ValueId{moved[v.node], v.result} : v; };
  for (NodeId id = 0; id < all.size(); ++id) {
    if (!live[id]) continue;
    const Node& n = all.node(id);
    if (n.kind == NodeKind::Var) {
      moved[id] = builder.var(n.results[0].type, n.name, n.loc, n.results[0].data).node;
      continue;
    }
    std::vector<ValueId> operands;
    for (ValueId v : n.operands) operands.push_back(at(v));
    moved[id] = builder.adopt(n, operands);
  }
  std::vector<ValueId> outputs;
  for (ValueId v : all.results()) outputs.push_back(at(v));
  return builder.finish(std::move(name), std::move(outputs), std::move(result_names));
}

Call::Call(Importer& i, Scope& s, const NodeView& n, SourceLoc loc)
    : Emitter(s.site.builder, std::move(loc), s.prefix + std::string(n.name), std::string(n.op)), importer(i), scope(s),
      node(n) {}

Result<ValueId> Call::tensor(std::size_t i) const {
  if (i >= inputs.size()) return error(fmt::format("has {} inputs, input {} is needed", inputs.size(), i));
  switch (inputs[i].kind) {
    case Value::Kind::Tensor:
      return inputs[i].id;
    case Value::Kind::Variable:
      return error(fmt::format("input {} is a variable, not its value", i));
    case Value::Kind::List:
      return error(fmt::format("input {} is a list of tensors", i));
    case Value::Kind::Handle:
      return error(fmt::format("input {} is a resource", i));
    case Value::Kind::None:
      break;
  }
  return error(fmt::format("input {} is an output that its node does not have", i));
}

Result<std::vector<ValueId>> Call::tensors(std::size_t from, std::size_t to) const {
  std::vector<ValueId> out;
  for (std::size_t i = from; i < to; ++i) {
    auto v = tensor(i);
    if (!v) return Failure{};
    out.push_back(*v);
  }
  return out;
}

const Type& Call::type(std::size_t i) const {
  static const Type none;
  return i < inputs.size() && inputs[i].is_tensor() ? builder().type(inputs[i].id) : none;
}

std::optional<std::vector<std::int64_t>> Call::known_ints(std::size_t i) const {
  if (i >= inputs.size() || !inputs[i].is_tensor()) return std::nullopt;
  const Data* d = builder().data(inputs[i].id);
  if (!d || !d->ints() || !d->fully_known()) return std::nullopt;
  std::vector<std::int64_t> out;
  for (const SymInt& s : *d->ints()) out.push_back(s.value());
  return out;
}

Result<std::vector<std::int64_t>> Call::ints(std::size_t i, std::string_view role) const {
  if (!tensor(i)) return Failure{};
  auto v = known_ints(i);
  if (v) return *v;
  const auto& open = importer.open_dims();
  if (open.empty()) return error(fmt::format("{} (input {}) is computed at run time; it must be a constant", role, i));
  return error(fmt::format("{} (input {}) is not known while dims of inputs are open; bind them with {}", role, i,
                           dim_flags(open)));
}

Result<std::int64_t> Call::integer(std::size_t i, std::string_view role) const {
  auto v = ints(i, role);
  if (!v) return Failure{};
  if (v->size() != 1) return error(fmt::format("{} (input {}) has {} elements, not 1", role, i, v->size()));
  return (*v)[0];
}

std::optional<std::size_t> Call::rank(std::size_t i) const {
  const Type& t = type(i);
  return t.is_tensor() && t.ranked() ? std::optional(t.rank()) : std::nullopt;
}

std::optional<AttrValue> Call::attr(std::string_view key) const {
  const AttrView* a = node.find(key);
  if (!a) return std::nullopt;
  Damage damage;
  auto v = decode_attr(a->value, damage);
  if (!v || v->placeholder.empty() || !scope.attributes) return v;
  for (const AttrView& given : *scope.attributes) {
    if (given.key == v->placeholder) return decode_attr(given.value, damage);
  }
  return std::nullopt;
}

std::int64_t Call::int_attr(std::string_view key, std::int64_t fallback) const {
  const auto v = attr(key);
  return v && v->ints.size() == 1 ? v->ints[0] : fallback;
}
double Call::float_attr(std::string_view key, double fallback) const {
  const auto v = attr(key);
  return v && v->floats.size() == 1 ? v->floats[0] : fallback;
}
std::string_view Call::string_attr(std::string_view key, std::string_view fallback) const {
  const auto v = attr(key);
  return v && v->strings.size() == 1 ? v->strings[0] : fallback;
}
std::vector<std::int64_t> Call::ints_attr(std::string_view key) const {
  const auto v = attr(key);
  return v ? v->ints : std::vector<std::int64_t>{};
}
DType Call::dtype_attr(std::string_view key, DType fallback) const {
  const auto v = attr(key);
  if (!v || v->types.size() != 1) return fallback;
  const DType d = dtype_from_tf(v->types[0]);
  return d == DType::Undefined ? fallback : d;
}
std::optional<Type> Call::shape_attr(std::string_view key, DType dtype) const {
  const auto v = attr(key);
  if (!v || v->shapes.empty()) return std::nullopt;
  Damage damage;
  return decode_shape(v->shapes[0], dtype, damage);
}

Type Call::declared(std::size_t i, DType dtype) const {
  if (importer.shapes_overridden() || dtype == DType::Undefined) return {};
  const auto v = attr("_output_shapes");
  if (!v || i >= v->shapes.size()) return {};
  Damage damage;
  const auto t = decode_shape(v->shapes[i], dtype, damage);
  return t && t->ranked() ? *t : Type{};
}

Result<Values> Call::finish(OpId op, std::vector<ValueId> operands, Attrs attrs, int count) const {
  auto id = builder().call({.op = op,
                            .operands = std::move(operands),
                            .attrs = std::move(attrs),
                            .results = def(op).results >= 0 ? -1 : count,
                            .name = name,
                            .loc = loc});
  if (!id) return Failure{};
  Values out;
  for (int i = 0; i < count; ++i) out.push_back(Value::tensor({*id, static_cast<std::uint32_t>(i)}));
  return out;
}

Result<ValueId> Call::cast(ValueId v, DType dtype) const {
  const Data* d = data(v);
  if (this->dtype(v) != dtype && d && d->fully_known() && d->ints() && is_integer(dtype) && type(v).is_static()) {
    return constant({type(v).with_dtype(dtype), builder().data_ref(v)});
  }
  return Emitter::cast(v, dtype);
}

Result<Values> opaque(Call& c) {
  std::vector<ValueId> operands;
  for (const Value& v : c.inputs) {
    if (v.is_tensor()) operands.push_back(v.id);
  }
  // Element types: whatever the operator calls its type attribute. Shapes: as exported.
  std::vector<DType> dtypes;
  for (std::string_view key :
       {"Tout", "out_type", "output_type", "output_types", "Toutput_types", "dtype", "DstT", "component_types",
        "Tdense", "dense_types", "out_types", "T", "Tparams", "value_dtype"}) {
    const auto v = c.attr(key);
    if (!v || v->types.empty()) continue;
    for (std::int64_t number : v->types) dtypes.push_back(dtype_from_tf(number));
    break;
  }
  const auto shapes = c.attr("_output_shapes");
  const std::size_t count = shapes ? shapes->shapes.size() : 0;
  std::vector<Type> declared;
  for (std::size_t i = 0; i < count; ++i) {
    const DType dtype = dtypes.empty() ? DType::Undefined : dtypes[std::min(i, dtypes.size() - 1)];
    declared.push_back(c.declared(i, dtype));
  }
  const bool typed = !declared.empty() &&
                     std::all_of(declared.begin(), declared.end(), [](const Type& t) { return static_cast<bool>(t); });
  if (!typed) {
    return c.error(
        "unknown operator, and the file does not say what type its result has; save the graph with output shapes "
        "(tf.compat.v1.GraphDef: add_shapes=True), or export without this operator");
  }
  c.builder().diagnostics().warning(
      c.loc, c.name, fmt::format("unknown operator {}: kept as opaque, its cost is not known", c.node.op));
  auto id = c.builder().call({.op = op("opaque"),
                              .operands = std::move(operands),
                              .attrs = {{"source_op", std::string(c.node.op)}},
                              .results = static_cast<int>(declared.size()),
                              .declared = declared,
                              .name = c.name,
                              .loc = c.loc});
  if (!id) return Failure{};
  Values out;
  for (std::size_t i = 0; i < declared.size(); ++i) out.push_back(Value::tensor({*id, static_cast<std::uint32_t>(i)}));
  return out;
}

Attrs mapped_attributes(const Call& c, const OpRow& row) {
  Attrs out;
  std::string_view rest = row.attributes;
  while (!rest.empty()) {
    const std::string_view item = next_word(rest);
    const std::size_t equals = std::min(item.find('='), item.size());
    const std::string_view tf = item.substr(0, equals);
    const std::string_view ir = equals + 1 < item.size() ? item.substr(equals + 1) : tf;
    const auto v = c.attr(tf);
    if (!v) continue;
    if (v->types.size() == 1) {
      out.set(ir, std::string(perfc::name(dtype_from_tf(v->types[0]))));
    } else if (!v->floats.empty()) {
      out.set(ir, v->list ? Attr(v->floats) : Attr(v->floats[0]));
    } else if (!v->ints.empty()) {
      out.set(ir, v->list ? Attr(v->ints) : Attr(v->ints[0]));
    } else if (v->strings.size() == 1) {
      out.set(ir, std::string(v->strings[0]));
    }
  }
  return out;
}

OpId row_op(const OpRow& row) {
  const auto found = find_op(row.ir.substr(0, row.ir.find(' ')));
  return found ? *found : op("opaque");
}

std::uint32_t output_position(std::string_view op, std::string_view output) {
  struct Names {
    std::string_view op, outputs;
  };
  // Operators with several outputs that are no list (tensorflow/core/ops); lists have one name.
  static constexpr Names kNames[] = {
      {"FusedBatchNorm", "y batch_mean batch_variance reserve_space_1 reserve_space_2"},
      {"FusedBatchNormV2", "y batch_mean batch_variance reserve_space_1 reserve_space_2"},
      {"FusedBatchNormV3", "y batch_mean batch_variance reserve_space_1 reserve_space_2 reserve_space_3"},
      {"_FusedBatchNormEx", "y batch_mean batch_variance reserve_space_1 reserve_space_2 reserve_space_3"},
      {"TopK", "values indices"},
      {"TopKV2", "values indices"},
      {"Unique", "y idx"},
      {"UniqueV2", "y idx"},
      {"UniqueWithCounts", "y idx count"},
      {"UniqueWithCountsV2", "y idx count"},
      {"MaxPoolWithArgmax", "output argmax"},
      {"TensorArrayV3", "handle flow"},
      {"TensorArrayConcatV3", "value lengths"},
      {"TensorListPopBack", "output_handle tensor"},
      {"TensorListConcat", "tensor lengths"},
      {"TensorListConcatV2", "tensor lengths"},
      {"NonMaxSuppressionV4", "selected_indices valid_outputs"},
      {"NonMaxSuppressionV5", "selected_indices selected_scores valid_outputs"},
      {"CombinedNonMaxSuppression", "nmsed_boxes nmsed_scores nmsed_classes valid_detections"},
      {"Merge", "output value_index"},
      {"Switch", "output_false output_true"},
      {"Moments", "mean variance"},
      {"StatelessRandomGetKeyCounter", "key counter"},
      {"SparseSoftmaxCrossEntropyWithLogits", "loss backprop"},
      {"SoftmaxCrossEntropyWithLogits", "loss backprop"},
      {"BroadcastGradientArgs", "r0 r1"},
      {"ListDiff", "out idx"},
      {"SparseReshape", "output_indices output_shape"},
      {"Svd", "s u v"},
      {"Qr", "q r"},
      {"QuantizeV2", "output output_min output_max"},
      {"LSTMBlockCell", "i cs f o ci co h"},
      {"BlockLSTM", "i cs f o ci co h"},
      {"BlockLSTMV2", "i cs f o ci co h"},
      {"GRUBlockCell", "r u c h"},
      {"SparseFillEmptyRows", "output_indices output_values empty_row_indicator reverse_index_map"},
      {"LookupTableExportV2", "keys values"},
      {"DenseToDenseSetOperation", "result_indices result_values result_shape"},
      {"StringSplitV2", "indices values shape"},
  };
  for (const Names& n : kNames) {
    if (n.op != op) continue;
    std::uint32_t position = 0;
    for (std::string_view rest = n.outputs; !rest.empty(); ++position) {
      if (next_word(rest) == output) return position;
    }
  }
  return 0;
}

}  // namespace perfc::tf
