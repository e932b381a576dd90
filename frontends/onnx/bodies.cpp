/// Control-flow bodies, branches and local functions.
#include <fmt/format.h>

#include <algorithm>

#include "frontends/onnx/importer.h"
#include "ir/params_behind.h"

namespace perfc::onnx {
namespace {

constexpr std::size_t kMaxInlinedNodes = 200'000;  ///< what inlining functions may add in total

/// Lends the importer another sink for the messages of a trial run.
class DiagnosticsSwap {
 public:
  DiagnosticsSwap(Diagnostics*& slot, Diagnostics& trial) : slot_(slot), old_(slot) { slot = &trial; }
  ~DiagnosticsSwap() { slot_ = old_; }

 private:
  Diagnostics*& slot_;
  Diagnostics* old_;
};

}  // namespace

bool Importer::must_capture(const Frame& frame, std::string_view name) const {
  for (const Frame* f = &frame; f; f = f->outer) {
    if (f->initializers.count(name) || f->sparse_initializers.count(name)) return false;
    if (f->values.count(name)) return true;
  }
  return false;
}

Result<GraphRef> Importer::region(NodeContext& c, Bytes body, const std::vector<ResultInfo>& params,
                                  std::size_t formals, const std::vector<std::string_view>& captures) {
  Damage damage;
  const auto graph = decode_graph(body, damage);
  if (!graph) return damaged(damage);
  GraphBuilder builder(*diags_);
  Frame frame{.builder = builder, .outer = &c.frame};
  frame.function_attributes = c.frame.function_attributes;
  frame.opsets = c.frame.opsets;
  frame.prefix = c.frame.prefix;
  frame.depth = c.frame.depth + 1;
  if (frame.depth > kMaxDepth) return c.error(fmt::format("bodies are nested deeper than {}", kMaxDepth));
  if (!open_names(frame, *graph)) return Failure{};

  std::vector<std::string_view> before;
  for (std::size_t i = 0; i < formals; ++i) {
    const auto info = decode_value_info(graph->inputs[i], damage);
    if (!info) return damaged(damage);
    auto declared = value_type(*info);
    if (!declared) return Failure{};
    bool conflict = false;
    Type type = i < params.size() ? merge(params[i].type, *declared, &conflict) : *declared;
    // A loop's shapes may change from round to round and declarations lag
    // behind; nothing excuses another element type, or slices of another shape.
    if (conflict && (c.spelling == "Scan" || params[i].type.dtype() != declared->dtype())) {
      return diags_->error(place(graph->inputs[i].data()), info->name,
                           fmt::format("{}: input {} of the body is {}, but the file declares {}", c.spelling, i,
                                       to_string(params[i].type), to_string(*declared)));
    }
    if (!type) {
      return diags_->error(place(graph->inputs[i].data()), info->name,
                           fmt::format("{}: input {} of the body has no type", c.spelling, i));
    }
    const ValueId v = builder.var(std::move(type), std::string(info->name), place(graph->inputs[i].data()),
                                  i < params.size() ? params[i].data : nullptr);
    if (!frame.values.emplace(info->name, v).second) {
      return diags_->error(place(graph->inputs[i].data()), info->name, "two inputs of the body have this name");
    }
    before.push_back(info->name);
  }
  for (std::size_t i = 0; i < captures.size(); ++i) {
    const ResultInfo& p = params[formals + i];
    const ValueId v = builder.var(p.type, std::string(captures[i]), c.loc, p.data);
    frame.values.emplace(captures[i], v);  // a formal param of the same name shadows it
  }
  if (!run_nodes(frame, graph->nodes, before)) return Failure{};

  std::vector<ValueId> results;
  std::vector<std::string> names;
  for (Bytes b : graph->outputs) {
    const auto info = decode_value_info(b, damage);
    if (!info) return damaged(damage);
    if (!known_name(frame, info->name)) {
      return diags_->error(place(b.data()), info->name,
                           fmt::format("{}: output of the body that no node produces", c.spelling));
    }
    auto v = look_up(frame, info->name);
    if (!v) return Failure{};
    results.push_back(*v);
    names.emplace_back(info->name);
  }
  return std::make_shared<const Graph>(builder.finish(std::string(graph->name), std::move(results), std::move(names)));
}

Result<std::vector<ValueId>> Importer::control_flow(NodeContext& c, OpId op,
                                                    const std::vector<std::string_view>& body_attributes) {
  Damage damage;
  std::vector<Bytes> bodies;
  std::vector<std::string_view> names, captures;
  for (std::string_view a : body_attributes) {
    const auto body = graph_attribute(c.node, a);
    if (!body) return c.error(fmt::format("has no attribute '{}'", a));
    bodies.push_back(*body);
    if (!free_names(*body, c.frame.depth + 1, names, damage)) return damaged(damage);
    if (op != perfc::op("if")) continue;
    // Branches have no inputs of their own; some writers list what they capture.
    const auto graph = decode_graph(*body, damage);
    if (!graph) return damaged(damage);
    for (Bytes b : graph->inputs) {
      const auto info = decode_value_info(b, damage);
      if (!info) return damaged(damage);
      if (std::find(names.begin(), names.end(), info->name) == names.end()) names.push_back(info->name);
    }
  }
  std::vector<ValueId> operands = c.inputs;
  for (std::string_view name : names) {
    if (is_poisoned(c.frame, name)) return Failure{};
    if (!must_capture(c.frame, name)) continue;  // a weight, or unknown: reported at its use
    auto v = look_up(c.frame, name);
    if (!v) return Failure{};
    captures.push_back(name);
    operands.push_back(*v);
  }
  Attrs attrs = c.attrs;
  attrs.set("captures", static_cast<std::int64_t>(captures.size()));

  std::vector<ResultInfo> infos;
  infos.reserve(operands.size());
  for (ValueId v : operands) {
    infos.push_back(v ? ResultInfo{c.builder().type(v), c.builder().data_ref(v)} : ResultInfo{});
  }
  std::vector<GraphRef> regions;
  for (std::size_t r = 0; r < bodies.size(); ++r) {
    const auto graph = decode_graph(bodies[r], damage);
    if (!graph) return damaged(damage);
    const std::size_t formals = op == perfc::op("if") ? 0 : graph->inputs.size();
    // Trial runs with ever wider carried types keep their messages to themselves.
    for (;;) {
      const std::vector<ResultInfo> params = region_params(op, attrs, r, infos, formals + captures.size());
      if (params.size() != formals + captures.size()) {
        return c.error(fmt::format("body '{}' takes {} inputs, {} are given", body_attributes[r], formals,
                                   params.size() - std::min(params.size(), captures.size())));
      }
      Diagnostics trial(diags_->file());
      Result<GraphRef> body = Failure{};
      {
        const DiagnosticsSwap swap(diags_, trial);
        body = region(c, bodies[r], params, formals, captures);
      }
      if (body && widen_carried(op, attrs, **body, infos)) continue;
      diags_->append(trial);
      if (!body) return Failure{};
      regions.push_back(*body);
      break;
    }
  }
  return c.finish(op, std::move(operands), std::move(attrs), std::move(regions));
}

std::string Importer::deciding_inputs(const Frame& frame, ValueId v) const {
  // Of a body the captures: what they are named, they are named outside.
  std::vector<std::string> names;
  std::vector<std::pair<const Frame*, ValueId>> open{{&frame, v}};
  while (!open.empty()) {
    const auto [at, value] = open.back();
    open.pop_back();
    const Frame* outside = at->outer;
    while (outside && &outside->builder == &at->builder) outside = outside->outer;
    for (ValueId setting : settings_behind(at->builder, value)) {
      const std::string& name = at->builder.node(setting.node).name;
      if (!outside) {
        if (std::ranges::find(names, name) == names.end()) names.push_back(name);
        continue;
      }
      for (const Frame* f = outside; f; f = f->outer) {
        const auto found = f->values.find(std::string_view(name));
        if (found == f->values.end()) continue;
        open.emplace_back(f, found->second);
        break;
      }
    }
  }
  return value_flags(names);
}

Result<std::vector<ValueId>> Importer::inline_branch(NodeContext& c, std::string_view attribute) {
  Damage damage;
  const auto body = graph_attribute(c.node, attribute);
  if (!body) return c.error(fmt::format("has no attribute '{}'", attribute));
  const auto graph = decode_graph(*body, damage);
  if (!graph) return damaged(damage);
  Frame frame{.builder = c.builder(), .outer = &c.frame};
  frame.function_attributes = c.frame.function_attributes;
  frame.opsets = c.frame.opsets;
  frame.prefix = c.frame.prefix;
  frame.depth = c.frame.depth + 1;
  if (frame.depth > kMaxDepth) return c.error(fmt::format("bodies are nested deeper than {}", kMaxDepth));
  if (!open_names(frame, *graph) || !run_nodes(frame, graph->nodes, {})) return Failure{};
  std::vector<ValueId> out;
  for (Bytes b : graph->outputs) {
    const auto info = decode_value_info(b, damage);
    if (!info) return damaged(damage);
    if (!known_name(frame, info->name)) {
      return diags_->error(place(b.data()), info->name,
                           fmt::format("{}: output of the branch that no node produces", c.spelling));
    }
    auto v = look_up(frame, info->name);
    if (!v) return Failure{};
    out.push_back(*v);
  }
  if (out.size() < c.outputs())
    return c.error(fmt::format("{} has {} outputs, the node {}", attribute, out.size(), c.outputs()));
  return out;
}

Result<std::vector<ValueId>> Importer::call_function(NodeContext& c, Bytes record) {
  Damage damage;
  const auto f = decode_function(record, damage);
  if (!f) return damaged(damage);
  const std::string key = fmt::format("{}:{}:{}", f->domain, f->name, f->overload);
  if (std::find(call_stack_.begin(), call_stack_.end(), key) != call_stack_.end()) {
    return c.error("the function calls itself");
  }
  inlined_nodes_ += f->nodes.size();
  if (inlined_nodes_ > kMaxInlinedNodes) {
    return c.error(fmt::format("inlining local functions exceeds {} nodes", kMaxInlinedNodes));
  }
  if (call_stack_.size() >= static_cast<std::size_t>(kMaxDepth)) {
    return c.error(fmt::format("functions are nested deeper than {}", kMaxDepth));
  }

  // Attributes of the call; references to an enclosing function's are resolved here.
  std::vector<AttrView> bound;
  for (const AttrView& a : c.node.attributes) {
    if (a.ref.empty()) {
      bound.push_back(a);
      continue;
    }
    if (!c.frame.function_attributes) continue;
    for (const AttrView& outer : *c.frame.function_attributes) {
      if (outer.name != a.ref) continue;
      bound.push_back(outer);
      bound.back().name = a.name;
    }
  }
  for (const AttrView& d : f->defaults) {
    if (std::none_of(bound.begin(), bound.end(), [&](const AttrView& a) { return a.name == d.name; })) {
      bound.push_back(d);
    }
  }

  Frame frame{.builder = c.builder()};
  frame.function_attributes = &bound;
  for (const OpsetView& o : f->opsets) frame.opsets[canonical_domain(o.domain)] = o.version;
  if (!frame.opsets.count("")) frame.opsets[""] = c.frame.opsets.count("") ? c.frame.opsets.at("") : 1;
  frame.prefix = c.name.empty() ? c.frame.prefix : c.name + "/";
  frame.depth = c.frame.depth + 1;
  if (frame.depth > kMaxDepth) return c.error(fmt::format("bodies are nested deeper than {}", kMaxDepth));
  if (c.inputs.size() > f->inputs.size()) {
    return c.error(fmt::format("the function takes {} inputs, got {}", f->inputs.size(), c.inputs.size()));
  }
  std::vector<std::string_view> before;
  for (std::size_t i = 0; i < f->inputs.size(); ++i) {
    if (!frame.values.emplace(f->inputs[i], i < c.inputs.size() ? c.inputs[i] : ValueId{}).second) {
      return c.error(fmt::format("two inputs of the function are named '{}'", f->inputs[i]));
    }
    before.push_back(f->inputs[i]);
  }
  if (!declare_values(frame, f->value_infos)) return Failure{};
  for (std::size_t i = 0; i < f->outputs.size() && i < c.declared.size(); ++i) {
    if (c.declared[i]) frame.declared.emplace(f->outputs[i], c.declared[i]);
  }
  call_stack_.push_back(key);
  const bool good = static_cast<bool>(run_nodes(frame, f->nodes, before));
  call_stack_.pop_back();
  if (!good) return Failure{};

  std::vector<ValueId> out;
  for (std::string_view name : f->outputs) {
    const auto v = frame.values.find(name);
    if (v == frame.values.end()) return c.error(fmt::format("no node of the function produces its output '{}'", name));
    out.push_back(v->second);
  }
  if (out.size() < c.outputs())
    return c.error(fmt::format("the function has {} outputs, the node {}", out.size(), c.outputs()));
  for (std::size_t i = 0; i < c.outputs(); ++i) {
    if (!out[i] && !c.node.outputs[i].empty())
      return c.error(fmt::format("output {} is an omitted input of the function", i));
  }
  return out;
}

}  // namespace perfc::onnx
