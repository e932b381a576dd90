#include "frontends/onnx/importer.h"

#include <fmt/format.h>

#include <algorithm>

namespace perfc::onnx {
namespace {

std::string_view short_domain(std::string_view domain) {
  if (domain == "com.microsoft") return "ms:";
  if (domain == "ai.onnx.ml") return "ml:";
  if (domain == "ai.onnx.preview.training") return "tr:";
  if (domain == "ai.onnx.preview") return "pv:";
  if (domain == "TRT" || domain == "trt.plugins") return "trt:";
  return canonical_domain(domain);
}

std::string spell(std::string_view domain, std::string_view op_type) {
  std::string out(short_domain(domain));
  if (!out.empty() && out.back() != ':') out += ':';
  return out += op_type;
}

/// Whether a producer converts models of other frameworks than PyTorch.
bool is_converter(std::string_view producer) {
  constexpr std::string_view kConverters[] = {"tf2onnx", "keras2onnx", "PaddlePaddle", "CNTK"};
  return std::ranges::find(kConverters, producer) != std::end(kConverters);
}

std::string function_key(std::string_view domain, std::string_view name, std::string_view overload) {
  return fmt::format("{}\n{}\n{}", canonical_domain(domain), name, overload);
}

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
  converted_ = is_converter(model->producer);

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
  Graph out = builder.finish(std::string(graph->name), std::move(results), std::move(names));
  if (converted_) out.set_written_by(WrittenBy::Converter);
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
  if (const std::string_view module = node.module(); !module.empty()) c.name = fmt::format("{}/{}", module, c.name);
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

}  // namespace perfc::onnx
