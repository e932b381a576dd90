#include "frontends/onnx/importer.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/tables.h"

namespace perfc::onnx {
namespace {

std::string_view short_domain(std::string_view domain) {
  if (domain.empty() || domain == "ai.onnx") return "";
  if (domain == "com.microsoft") return "ms:";
  if (domain == "ai.onnx.ml") return "ml:";
  if (domain == "ai.onnx.preview.training") return "tr:";
  if (domain == "ai.onnx.preview") return "pv:";
  if (domain == "TRT" || domain == "trt.plugins") return "trt:";
  return domain;
}

std::string spell(std::string_view domain, std::string_view op_type) {
  std::string out(short_domain(domain));
  if (!out.empty() && out.back() != ':') out += ':';
  return out += op_type;
}

std::string function_key(std::string_view domain, std::string_view name, std::string_view overload) {
  return fmt::format("{}\n{}\n{}", domain == "ai.onnx" ? "" : domain, name, overload);
}

/// Attribute names of the IR for ONNX's.
std::string_view renamed(std::string_view name) {
  static constexpr std::pair<std::string_view, std::string_view> kRenamed[] = {
      {"pads", "padding"}, {"dilations", "dilation"}, {"group", "groups"}, {"kernel_shape", "kernel_size"}};
  for (const auto& [from, to] : kRenamed) {
    if (name == from) return to;
  }
  return name;
}

/// Integer attributes that stand for an element type.
bool names_dtype(std::string_view name) {
  return name == "to" || name == "dtype" || name == "output_dtype" || name == "output_datatype" || name == "stash_type";
}

std::string_view canonical_domain(std::string_view domain) { return domain == "ai.onnx" ? std::string_view{} : domain; }

}  // namespace

const Type& NodeContext::type(std::size_t i) const {
  static const Type none;
  return has(i) ? frame.builder.type(inputs[i]) : none;
}

Result<std::vector<ValueId>> NodeContext::finish(OpId op, std::vector<ValueId> operands, Attrs a,
                                                 std::vector<GraphRef> regions) const {
  const OpDef& d = def(op);
  if (d.results >= 0 && static_cast<int>(outputs()) > std::max<int>(d.results, 1)) {
    return error(fmt::format("has {} outputs, at most {} exist", outputs(), d.results));
  }
  auto id = frame.builder.call({.op = op,
                                .operands = std::move(operands),
                                .attrs = std::move(a),
                                .results = d.results >= 0 ? -1 : static_cast<int>(outputs()),
                                .declared = declared,
                                .regions = std::move(regions),
                                .name = name,
                                .loc = loc});
  if (!id) return Failure{};
  std::vector<ValueId> out;
  for (std::size_t i = 0; i < outputs(); ++i) out.push_back({*id, static_cast<std::uint32_t>(i)});
  return out;
}

std::optional<Bytes> graph_attribute(const NodeView& node, std::string_view name) {
  const AttrView* a = node.find(name);
  if (!a) return std::nullopt;
  const auto f = payload(*a, 6);
  if (!f || f->type != wire::WireType::Bytes) return std::nullopt;
  return f->bytes;
}

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

SourceLoc Importer::place(const char* at, std::int64_t node) const {
  SourceLoc loc;
  loc.node = node;
  if (at && at >= file_.data() && at <= file_.data() + file_.size()) loc.offset = at - file_.data();
  return loc;
}

Failure Importer::damaged(const Damage& d) {
  return diags_->error(place(d.at), {},
                       fmt::format("damaged or truncated file: cannot decode {}; export the model again",
                                   d.what ? d.what : "a message"));
}

Result<Graph> Importer::run() {
  Damage damage;
  const auto model = decode_model(file_, damage);
  if (!model) return damaged(damage);
  if (!model->graph) return diags_->error("not an ONNX model: it holds no graph");

  GraphBuilder builder(*diags_);
  Frame frame{.builder = builder};
  for (const OpsetView& o : model->opsets) frame.opsets[canonical_domain(o.domain)] = o.version;
  if (!frame.opsets.count("")) frame.opsets[""] = 1;
  for (Bytes b : model->functions) {
    const auto f = decode_function(b, damage);
    if (!f) return damaged(damage);
    if (!functions_.emplace(function_key(f->domain, f->name, f->overload), b).second) {
      return diags_->error(place(b.data()), f->name, "the function is defined twice");
    }
  }

  const auto graph = decode_graph(*model->graph, damage);
  if (!graph) return damaged(damage);
  builder.reserve(
      std::min(graph->inputs.size() + graph->initializers.size() + graph->nodes.size(), GraphBuilder::kMaxNodes));
  if (!open_names(frame, *graph) || !declare_inputs(frame, *graph)) return Failure{};
  std::vector<std::string_view> before;
  for (const auto& [name, value] : frame.values) before.push_back(name);
  const bool good = static_cast<bool>(run_nodes(frame, graph->nodes, before));

  std::vector<ValueId> results;
  std::vector<std::string> names;
  bool complete = good;
  for (Bytes b : graph->outputs) {
    const auto info = decode_value_info(b, damage);
    if (!info) return damaged(damage);
    if (is_poisoned(frame, info->name)) {
      complete = false;
      continue;
    }
    if (!known_name(frame, info->name)) {
      (void)diags_->error(place(b.data()), info->name, "graph output that no node produces");
      complete = false;
      continue;
    }
    auto v = look_up(frame, info->name);
    if (!v) {
      complete = false;
      continue;
    }
    results.push_back(*v);
    names.emplace_back(info->name);
  }
  if (!complete || diags_->errors()) return Failure{};
  if (results.empty()) {
    for (std::string_view name : unused_values(*graph)) {
      auto v = look_up(frame, name);
      if (!v) return Failure{};
      results.push_back(*v);
      names.emplace_back(name);
    }
    if (results.empty()) return diags_->error("the graph has no outputs");
    diags_->warning("the graph declares no outputs; values that nothing uses stand in for them");
  }
  return builder.finish(std::string(graph->name), std::move(results), std::move(names));
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

Status Importer::run_nodes(Frame& frame, const std::vector<Bytes>& records,
                           const std::vector<std::string_view>& defined_before) {
  Damage damage;
  std::vector<NodeView> nodes;
  nodes.reserve(records.size());
  NameMap<std::size_t> producer;
  const std::set<std::string_view> before(defined_before.begin(), defined_before.end());
  for (std::size_t i = 0; i < records.size(); ++i) {
    auto n = decode_node(records[i], damage);
    if (!n) return damaged(damage);
    for (std::string_view out : n->outputs) {
      if (out.empty()) continue;
      if (before.count(out) || frame.initializers.count(out) || !producer.emplace(out, i).second) {
        return diags_->error(place(records[i].data(), static_cast<std::int64_t>(i)), n->name,
                             fmt::format("output '{}' is defined a second time; names must be unique", out));
      }
    }
    nodes.push_back(std::move(*n));
  }

  // Dependencies among these nodes, nested graphs included.
  std::vector<std::vector<std::size_t>> users;
  std::vector<std::size_t> waiting;
  const auto dependencies = [&](std::size_t i, auto&& visit) -> bool {
    const auto depend_on = [&](std::string_view name) {
      const auto p = producer.find(name);
      if (p != producer.end()) visit(p->second);
    };
    for (std::string_view name : nodes[i].inputs) depend_on(name);
    for (const AttrView& a : nodes[i].attributes) {
      if (a.type != AttrType::Graph && a.type != AttrType::Graphs) continue;
      std::vector<std::string_view> names;
      for (Bytes nested : messages(a, a.type == AttrType::Graph ? 6 : 11)) {
        if (!free_names(nested, frame.depth + 1, names, damage)) return false;
      }
      for (std::string_view name : names) depend_on(name);
    }
    return true;
  };
  bool sorted = true;
  for (std::size_t i = 0; i < nodes.size() && sorted; ++i) {
    if (!dependencies(i, [&](std::size_t p) { sorted = sorted && p < i; })) return damaged(damage);
  }
  std::vector<std::size_t> order(nodes.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  if (!sorted) {
    users.resize(nodes.size());
    waiting.assign(nodes.size(), 0);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const bool good = dependencies(i, [&](std::size_t p) {
        users[p].push_back(i);
        ++waiting[i];
      });
      if (!good) return damaged(damage);
    }
    // Smallest ready index first, so that the order is stable.
    order.clear();
    std::set<std::size_t> ready;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (waiting[i] == 0) ready.insert(i);
    }
    while (!ready.empty()) {
      const std::size_t i = *ready.begin();
      ready.erase(ready.begin());
      order.push_back(i);
      for (std::size_t u : users[i]) {
        if (--waiting[u] == 0) ready.insert(u);
      }
    }
    if (order.size() != nodes.size()) {
      const auto stuck = std::find_if(waiting.begin(), waiting.end(), [](std::size_t w) { return w > 0; });
      const auto i = static_cast<std::size_t>(stuck - waiting.begin());
      return diags_->error(place(records[i].data(), static_cast<std::int64_t>(i)), nodes[i].name,
                           "the graph has a cycle through this node");
    }
  }
  bool good = true;
  for (std::size_t i : order) {
    if (!run_node(frame, nodes[i], static_cast<std::int64_t>(i))) {
      for (std::string_view out : nodes[i].outputs) frame.poisoned.insert(out);
      good = false;
    }
  }
  return good ? ok() : Status(Failure{});
}

Status Importer::run_node(Frame& frame, const NodeView& node, std::int64_t index) {
  const std::string_view name = !node.name.empty()     ? node.name
                                : node.outputs.empty() ? std::string_view{}
                                                       : node.outputs[0];
  NodeContext c(frame, node, place(node.record.data(), index), std::string(name), spell(node.domain, node.op_type));
  if (node.line >= 0) c.loc = {.line = node.line, .column = node.column, .node = index};
  if (!frame.prefix.empty()) c.name = frame.prefix + c.name;
  Diagnostics& diags = frame.builder.diagnostics();
  if (node.op_type.empty()) return diags.error(c.loc, c.name, "node without an operator");
  const auto version = frame.opsets.find(canonical_domain(node.domain));
  if (version != frame.opsets.end()) c.version = version->second;

  for (std::string_view in : node.inputs) {
    if (in.empty()) {
      c.inputs.emplace_back();
      continue;
    }
    const auto local = frame.values.find(in);
    if (local != frame.values.end()) {
      c.inputs.push_back(local->second);
      continue;
    }
    if (is_poisoned(frame, in)) return Failure{};  // its producer has been reported
    if (!known_name(frame, in)) {
      return diags.error(c.loc, c.name, fmt::format("{}: reads '{}', which nothing produces", c.spelling, in));
    }
    auto v = look_up(frame, in);
    if (!v) return Failure{};
    c.inputs.push_back(*v);
  }
  std::size_t outputs = node.outputs.size();
  while (outputs > 0 && node.outputs[outputs - 1].empty()) --outputs;
  for (std::size_t i = 0; i < outputs; ++i) {
    const auto d = dims_.overridden() ? frame.declared.end() : frame.declared.find(node.outputs[i]);
    c.declared.push_back(d == frame.declared.end() ? Type{} : d->second);
  }
  auto attrs = attributes(frame, node, c.loc);
  if (!attrs) return Failure{};
  c.attrs = std::move(*attrs);

  auto results = translate(c);
  if (!results) return Failure{};
  for (std::size_t i = 0; i < outputs && i < results->size(); ++i) {
    if (!node.outputs[i].empty()) frame.values[node.outputs[i]] = (*results)[i];
  }
  return ok();
}

namespace {

Translator find_translator(std::string_view spelling) {
  static const auto* translators = [] {
    auto* m = new std::unordered_map<std::string_view, Translator>;
    for (const TranslatorRow& row : translator_table()) m->emplace(row.spelling, row.translate);
    return m;
  }();
  const auto t = translators->find(spelling);
  return t == translators->end() ? nullptr : t->second;
}

}  // namespace

void Importer::adopt_domain(NodeContext& c) const {
  constexpr std::int64_t kFirstAttention = 23;  // the operator set that has an Attention of its own
  if (!canonical_domain(c.node.domain).empty()) return;
  const bool too_old = c.spelling == "Attention" && c.version < kFirstAttention;
  if (!too_old && (find_translator(c.spelling) || find_onnx_op(c.spelling))) return;
  if (std::string plugin = "trt:" + c.spelling; find_translator(plugin)) {  // as TensorRT's parser finds them: by name
    c.spelling = std::move(plugin);
    return;
  }
  std::string contrib = "ms:" + c.spelling;
  if (!find_translator(contrib) && !find_onnx_op(contrib)) return;
  if (functions_.count(function_key(c.node.domain, c.node.op_type, c.node.overload))) return;
  c.warning(fmt::format("not in operator set {} of ai.onnx; taken as that of com.microsoft", c.version));
  c.spelling = std::move(contrib);
}

Result<std::vector<ValueId>> Importer::translate(NodeContext& c) {
  adopt_domain(c);
  if (!to_standard_form(c)) return Failure{};
  if (const Translator t = find_translator(c.spelling)) return t(*this, c);
  if (auto op = find_onnx_op(c.spelling)) {
    if (!attributes_to_operands(c)) return Failure{};
    return c.finish(*op, std::move(c.inputs), std::move(c.attrs));
  }
  const auto f = functions_.find(function_key(c.node.domain, c.node.op_type, c.node.overload));
  if (f != functions_.end()) return call_function(c, f->second);

  for (const std::string_view domain : {"com.microsoft.nchwc:", "com.ms.internal.nhwc:"})
    if (c.spelling.starts_with(domain)) return runtime_layout(c);
  return keep_opaque(c, c.spelling);
}

namespace {

/// Shapes depend on these: of another kind they would silently be defaults.
/// (After renaming; ai.onnx only. Empty: the kind is right or not known.)
std::string_view expected_kind(std::string_view name, const Attr& value) {
  static const std::set<std::string_view> kInts{"strides", "padding",        "dilation",     "kernel_size", "perm",
                                                "axes",    "output_padding", "output_shape", "split",       "starts",
                                                "ends"};
  static const std::set<std::string_view> kInt{"axis",  "groups",      "keepdims",  "blocksize",         "hidden_size",
                                               "k",     "num_outputs", "ceil_mode", "count_include_pad", "transA",
                                               "transB"};
  const bool int_given = std::holds_alternative<std::int64_t>(value);
  if (kInt.count(name)) return int_given ? "" : "an integer";
  if (!kInts.count(name) || int_given || std::holds_alternative<std::vector<std::int64_t>>(value)) return "";
  return "a list of integers";
}

/// The bytes that all of a node's attributes are decoded from, if equal bytes mean equal attributes:
/// from the last byte of the first one's length on, which is its whole length. Empty: they may not,
/// or are too long to be compared.
std::string_view key_of(const NodeView& node) {
  constexpr std::size_t kOneByte = 128, kLongest = 512;
  if (node.attributes.empty() || !canonical_domain(node.domain).empty()) return {};
  const Bytes first = node.attributes.front().record, last = node.attributes.back().record;
  const char* const begin = first.data() - 1;
  const auto length = static_cast<std::size_t>(last.data() + last.size() - begin);
  if (first.size() >= kOneByte || last.data() < first.data() || length > kLongest) return {};
  const bool plain =
      std::none_of(node.attributes.begin(), node.attributes.end(), [](const AttrView& a) { return !a.ref.empty(); });
  return plain ? std::string_view(begin, length) : std::string_view{};
}

}  // namespace

Result<Attrs> Importer::attributes(const Frame& frame, const NodeView& node, SourceLoc loc) {
  const std::string_view key = key_of(node);
  if (key.empty()) return read_attributes(frame, node, loc);
  if (const auto known = attributes_.find(key); known != attributes_.end()) return known->second;
  auto attrs = read_attributes(frame, node, loc);
  if (attrs) attributes_.emplace(key, *attrs);
  return attrs;
}

Result<Attrs> Importer::read_attributes(const Frame& frame, const NodeView& node, SourceLoc loc) {
  constexpr std::size_t kMaxAttributes = 1000;
  if (node.attributes.size() > kMaxAttributes) {
    return diags_->error(
        loc, node.name,
        fmt::format("{}: {} attributes; at most {} are read", node.op_type, node.attributes.size(), kMaxAttributes));
  }
  Attrs out;
  for (const AttrView& given : node.attributes) {
    const AttrView* a = &given;
    if (!given.ref.empty()) {
      if (!frame.function_attributes) {
        return diags_->error(loc, node.name,
                             fmt::format("attribute '{}' refers to '{}' outside a function", given.name, given.ref));
      }
      const auto bound = std::find_if(frame.function_attributes->begin(), frame.function_attributes->end(),
                                      [&](const AttrView& x) { return x.name == given.ref; });
      if (bound == frame.function_attributes->end()) continue;  // not given: the operator's default
      a = &*bound;
    }
    if (a->type == AttrType::Graph || a->type == AttrType::Graphs) continue;  // bodies: control_flow
    auto value = attribute(*a, loc, node.name);
    if (!value) return Failure{};
    const std::string_view name = renamed(given.name);
    if (out.has(name)) {
      return diags_->error(loc, node.name, fmt::format("attribute '{}' is given twice", given.name));
    }
    if (std::holds_alternative<std::int64_t>(*value) && names_dtype(name)) {
      const std::int64_t number = std::get<std::int64_t>(*value);
      if (number == 0 && (name == "output_dtype" || name == "stash_type")) continue;
      const DType dtype = dtype_from_onnx(number);
      if (dtype == DType::Undefined) {
        return diags_->error(loc, node.name, fmt::format("{}: {}={} is no element type", node.op_type, name, number));
      }
      value = Attr(std::string(perfc::name(dtype)));
    }
    if (canonical_domain(node.domain).empty()) {
      if (const std::string_view kind = expected_kind(name, *value); !kind.empty()) {
        return diags_->error(loc, node.name,
                             fmt::format("{}: attribute '{}' must be {}", node.op_type, given.name, kind));
      }
    }
    out.set(name, std::move(*value));
  }
  return out;
}

Result<Attr> Importer::attribute(const AttrView& a, SourceLoc loc, std::string_view node) {
  using wire::WireType;
  const auto bad = [&](std::string_view why) {
    return diags_->error(loc, node, fmt::format("attribute '{}': {}", a.name, why));
  };
  constexpr std::size_t kLimit = std::size_t{1} << 20;
  wire::Reader r(a.record);
  wire::Field f;
  std::vector<std::int64_t> ints;
  std::vector<double> floats;
  std::vector<std::string> strings;
  std::int64_t i = 0;
  double x = 0;
  Bytes bytes;
  while (r.next(f)) {
    switch (f.number) {
      case 2:
        x = f.as_float();
        break;
      case 3:
        i = f.as_int();
        break;
      case 4:
      case 5:
      case 14:
        bytes = f.bytes;
        break;
      case 7:
        if (!wire::append_scalars(f, WireType::Fixed32, kLimit, floats,
                                  [](const wire::Field& e) { return double{e.as_float()}; }))
          return bad("malformed floats");
        break;
      case 8:
        if (!wire::append_scalars(f, WireType::Varint, kLimit, ints, [](const wire::Field& e) { return e.as_int(); }))
          return bad("malformed ints");
        break;
      case 9:
        if (strings.size() < kLimit) strings.emplace_back(f.bytes);
        break;
      default:
        break;
    }
  }
  switch (a.type) {
    case AttrType::Float:
      return Attr(x);
    case AttrType::Int:
      return Attr(i);
    case AttrType::String:
      return Attr(std::string(bytes));
    case AttrType::Floats:
      return Attr(std::move(floats));
    case AttrType::Ints:
      return Attr(std::move(ints));
    case AttrType::Strings:
      return Attr(std::move(strings));
    case AttrType::Tensor: {
      Damage damage;
      const auto t = decode_tensor(bytes, damage);
      if (!t) return damaged(damage);
      std::string why;
      auto l = literal(*t, why);
      if (!l) return bad(why);
      return Attr(std::move(*l));
    }
    case AttrType::TypeProto: {
      Damage damage;
      auto t = decode_type(bytes, damage);
      if (!t) return damaged(damage);
      return Attr(std::move(*t));
    }
    case AttrType::SparseTensor: {
      // A type only: dense dims, dtype of the values.
      Damage damage;
      std::vector<std::int64_t> dims;
      DType dtype = DType::Undefined;
      wire::Reader s(payload(a, 22).value_or(wire::Field{}).bytes);
      while (s.next(f)) {
        if (f.number == 1 && f.type == WireType::Bytes) {
          const auto t = decode_tensor(f.bytes, damage);
          if (!t) return damaged(damage);
          dtype = dtype_from_onnx(t->data_type);
        }
        if (f.number == 3)
          wire::append_scalars(f, WireType::Varint, 64, dims, [](const wire::Field& e) { return e.as_int(); });
      }
      Shape shape;
      for (std::int64_t d : dims) {
        if (d < 0) return bad("negative dim");
        shape.emplace_back(d);
      }
      if (dtype == DType::Undefined) return bad("sparse tensor without an element type");
      return Attr(Literal{Type::tensor(dtype, shape), nullptr});
    }
    default:
      return bad("is of a kind that no operator takes");
  }
}

}  // namespace perfc::onnx
