/// Names of values: what a graph declares, what is a name's value, which names a graph leaves open.
#include "frontends/onnx/importer.h"
#include "ir/tables.h"

namespace perfc::onnx {

bool free_names(Bytes graph, int depth, std::vector<std::string_view>& out, Damage& damage) {
  if (depth > kMaxDepth) {
    damage = {graph.data(), "graphs nested too deeply"};
    return false;
  }
  const auto g = decode_graph(graph, damage);
  if (!g) return false;
  std::set<std::string_view> defined;
  std::vector<std::string_view> used;
  for (Bytes b : g->inputs) {
    const auto v = decode_value_info(b, damage);
    if (!v) return false;
    defined.insert(v->name);
  }
  for (Bytes b : g->initializers) {
    const auto t = decode_tensor(b, damage);
    if (!t) return false;
    defined.insert(t->name);
  }
  for (Bytes b : g->nodes) {
    const auto n = decode_node(b, damage);
    if (!n) return false;
    used.insert(used.end(), n->inputs.begin(), n->inputs.end());
    for (const AttrView& a : n->attributes) {
      if (a.type != AttrType::Graph && a.type != AttrType::Graphs) continue;
      for (Bytes nested : messages(a, a.type == AttrType::Graph ? 6 : 11)) {
        if (!free_names(nested, depth + 1, used, damage)) return false;
      }
    }
    defined.insert(n->outputs.begin(), n->outputs.end());
  }
  for (Bytes b : g->outputs) {
    const auto v = decode_value_info(b, damage);
    if (!v) return false;
    used.push_back(v->name);
  }
  std::set<std::string_view> seen(out.begin(), out.end());
  for (std::string_view name : used) {
    if (!name.empty() && !defined.count(name) && seen.insert(name).second) out.push_back(name);
  }
  return true;
}

Status Importer::open_names(Frame& frame, const GraphView& graph) {
  Damage damage;
  for (Bytes b : graph.initializers) {
    const auto t = decode_tensor(b, damage);
    if (!t) return damaged(damage);
    if (!frame.initializers.emplace(t->name, b).second) {
      return diags_->error(place(b.data()), t->name, "two initializers have this name");
    }
  }
  for (Bytes b : graph.sparse_initializers) {
    wire::Reader r(b);
    wire::Field f;
    std::string_view name;
    while (r.next(f)) {
      if (f.number == 1 && f.type == wire::WireType::Bytes) {
        const auto values = decode_tensor(f.bytes, damage);
        if (!values) return damaged(damage);
        name = values->name;
      }
    }
    if (!r.ok()) return damaged({r.where(), "SparseTensorProto"});
    frame.sparse_initializers.emplace(name, b);
  }
  return declare_values(frame, graph.value_infos) ? declare_values(frame, graph.outputs) : Status(Failure{});
}

Status Importer::declare_values(Frame& frame, const std::vector<Bytes>& value_infos) {
  Damage damage;
  for (Bytes b : value_infos) {
    const auto info = decode_value_info(b, damage);
    if (!info) return damaged(damage);
    auto type = value_type(*info);
    if (!type) return Failure{};
    if (*type) frame.declared.emplace(info->name, *type);
  }
  return ok();
}

Result<Type> Importer::value_type(const ValueInfoView& info) {
  if (!info.type) return Type{};
  Damage damage;
  auto type = decode_type(*info.type, damage);
  if (!type) return damaged(damage);
  return dims_.bind(*type);
}

Status Importer::declare_inputs(Frame& frame, const GraphView& graph) {
  Damage damage;
  std::vector<ModelInput> inputs;
  for (Bytes b : graph.inputs) {
    const auto info = decode_value_info(b, damage);
    if (!info) return damaged(damage);
    if (frame.initializers.count(info->name)) continue;  // a weight that is also listed as input
    if (!info->type) return diags_->error(place(b.data()), info->name, "graph input without a type");
    auto type = decode_type(*info->type, damage);
    if (!type) return damaged(damage);
    if (!*type || (type->is_tensor() && type->dtype() == DType::Undefined)) {
      return diags_->error(place(b.data()), info->name, "graph input without an element type");
    }
    inputs.push_back({info->name, *type, place(b.data())});
  }

  if (!dims_.apply(inputs, *diags_)) return Failure{};
  for (const ModelInput& i : inputs) {
    if (!frame.values.emplace(i.name, frame.builder.var(i.type, std::string(i.name), i.loc, i.data)).second) {
      return diags_->error(i.loc, i.name, "two graph inputs have this name");
    }
  }
  // The declared types of outputs and values were read before symbols were known.
  for (auto& [name, type] : frame.declared) type = dims_.bind(type);
  return ok();
}

bool Importer::known_name(const Frame& frame, std::string_view name) const {
  for (const Frame* f = &frame; f; f = f->outer) {
    if (f->values.count(name) || f->initializers.count(name) || f->sparse_initializers.count(name)) return true;
  }
  return false;
}

bool Importer::is_poisoned(const Frame& frame, std::string_view name) const {
  for (const Frame* f = &frame; f; f = f->outer) {
    if (f->poisoned.count(name)) return true;
    if (f->values.count(name) || f->initializers.count(name)) return false;
  }
  return false;
}

Result<ValueId> Importer::look_up(Frame& frame, std::string_view name) {
  for (Frame* f = &frame; f; f = f->outer) {
    const bool same_graph = &f->builder == &frame.builder;
    const auto v = f->values.find(name);
    if (v != f->values.end() && same_graph) return v->second;
    const auto i = f->initializers.find(name);
    const auto s = f->sparse_initializers.find(name);
    if (i != f->initializers.end() || s != f->sparse_initializers.end()) {
      // Weights are not captured: a region that uses one has its own constant.
      const bool sparse = i == f->initializers.end();
      auto value = initializer(frame, sparse ? s->second : i->second, sparse);
      if (value) (same_graph ? *f : frame).values.emplace(name, *value);
      return value;
    }
    if (v != f->values.end()) break;
  }
  return diags_->error({}, name, "internal error: a region uses a value that it did not capture");
}

Result<ValueId> Importer::initializer(Frame& frame, Bytes record, bool sparse) {
  Damage damage;
  Bytes tensor_record = record;
  std::vector<std::int64_t> dims;
  if (sparse) {
    wire::Reader r(record);
    wire::Field f;
    while (r.next(f)) {
      if (f.number == 1 && f.type == wire::WireType::Bytes) tensor_record = f.bytes;
      if (f.number == 3) {
        wire::append_scalars(f, wire::WireType::Varint, 64, dims, [](const wire::Field& e) { return e.as_int(); });
      }
    }
  }
  auto tensor = decode_tensor(tensor_record, damage);
  if (!tensor) return damaged(damage);
  if (sparse) {
    tensor->dims = dims;
    tensor->raw.reset();
    tensor->external = true;  // kept as a type: contents of sparse weights never matter
  }
  std::string why;
  auto value = literal(*tensor, why);
  if (!value) return diags_->error(place(record.data()), tensor->name, "initializer: " + why);
  if (!value->data && !sparse && zeros_.hold(*tensor, value->type))
    return add_zeros(frame.builder, value->type, std::string(tensor->name), place(record.data()));
  return frame.builder.constant(std::move(*value), std::string(tensor->name), place(record.data()));
}

std::vector<std::string_view> Importer::unused_values(const GraphView& graph) const {
  Damage damage;
  std::set<std::string_view> used;
  std::vector<std::string_view> out;
  std::vector<NodeView> nodes;
  for (Bytes b : graph.nodes) {
    auto n = decode_node(b, damage);
    if (!n) return {};
    used.insert(n->inputs.begin(), n->inputs.end());
    nodes.push_back(std::move(*n));
  }
  for (const NodeView& n : nodes) {
    for (std::string_view name : n.outputs) {
      if (!name.empty() && !used.count(name)) out.push_back(name);
    }
  }
  return out;
}

}  // namespace perfc::onnx
