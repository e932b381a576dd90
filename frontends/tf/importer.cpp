#include "frontends/tf/importer.h"

#include <fmt/format.h>

#include <algorithm>
#include <queue>

namespace perfc::tf {
namespace {

/// "name:0" → name and output. Without a number: output 0.
std::pair<std::string_view, std::uint32_t> split_output(std::string_view name) {
  const std::size_t colon = name.rfind(':');
  if (colon == std::string_view::npos) return {name, 0};
  std::uint32_t index = 0;
  for (char c : name.substr(colon + 1)) {
    if (c < '0' || c > '9' || index > 100000) return {name, 0};
    index = index * 10 + static_cast<std::uint32_t>(c - '0');
  }
  return {name.substr(0, colon), index};
}

bool is_placeholder(const NodeView& n) { return n.op == "Placeholder" || n.op == "PlaceholderV2"; }

/// Takes elements from a queue of training data: QueueDequeue, QueueDequeueManyV2, ….
bool is_dequeue(const NodeView& n) { return n.op.starts_with("QueueDequeue"); }

/// Operators that a graph without signature is not run for.
bool is_side_effect(std::string_view op) {
  static constexpr std::string_view kEffects[] = {"NoOp",
                                                  "Assert",
                                                  "SaveV2",
                                                  "Save",
                                                  "SaveSlices",
                                                  "RestoreV2",
                                                  "Restore",
                                                  "MergeV2Checkpoints",
                                                  "ShardedFilename",
                                                  "Assign",
                                                  "AssignVariableOp",
                                                  "AssignAdd",
                                                  "AssignSub",
                                                  "AssignAddVariableOp",
                                                  "AssignSubVariableOp",
                                                  "Print",
                                                  "PrintV2",
                                                  "VarIsInitializedOp",
                                                  "IsVariableInitialized",
                                                  "MergeSummary",
                                                  "ScalarSummary",
                                                  "HistogramSummary",
                                                  "ImageSummary",
                                                  "VarHandleOp",
                                                  "VariableV2",
                                                  "Variable",
                                                  "Const",
                                                  "DestroyResourceOp",
                                                  "InitializeTableV2",
                                                  "LookupTableImportV2"};
  for (std::string_view optimizer :
       {"Apply", "ResourceApply", "SparseApply", "ResourceSparseApply", "Scatter", "ResourceScatter"}) {
    if (op.starts_with(optimizer) && op != "ScatterNd") return true;
  }
  return std::find(std::begin(kEffects), std::end(kEffects), op) != std::end(kEffects);
}

std::string_view strip_control(std::string_view input) { return input.substr(1); }

}  // namespace

SourceLoc Importer::place(const NodeView& n, std::int64_t index) const {
  SourceLoc loc = n.place;
  loc.node = index;
  if (loc.line < 0 && n.record.data() >= file_.data() && n.record.data() <= file_.data() + file_.size()) {
    loc.offset = n.record.data() - file_.data();
  }
  return loc;
}

Failure Importer::damaged(const Damage& d) {
  SourceLoc loc;
  if (d.at && d.at >= file_.data() && d.at <= file_.data() + file_.size()) loc.offset = d.at - file_.data();
  return diags_->error(loc, {},
                       fmt::format("damaged or truncated file: cannot decode {}; export the model again",
                                   d.what ? d.what : "a message"));
}

Type Importer::variable_type(std::string_view name) const {
  const auto it = meta_.variables.find(name);
  return it == meta_.variables.end() ? Type{} : it->second;
}

// ---- Bodies

Status Importer::index_body(Body& body, const std::vector<Bytes>& records) {
  Damage damage;
  body.nodes.reserve(records.size());
  body.by_name.reserve(records.size());
  for (std::size_t i = 0; i < records.size(); ++i) {
    auto n = decode_node(records[i], damage);
    if (!n) return damaged(damage);
    if (n->name.empty() || n->op.empty()) {
      return diags_->error(place(*n, static_cast<std::int64_t>(i)), n->name, "node without a name or an operator");
    }
    if (!body.by_name.emplace(n->name, static_cast<std::uint32_t>(i)).second) {
      return diags_->error(place(*n, static_cast<std::int64_t>(i)), n->name,
                           "a second node of this name; names must be unique");
    }
    body.nodes.push_back(std::move(*n));
  }
  return index_frames(body);
}

Result<Body> Importer::decode_main() {
  Body body;
  if (!meta_.graph) return diags_->error("the file holds no graph");
  for (const auto& [name, record] : meta_.graph->functions) {
    if (!functions_.emplace(name, record).second) { return diags_->error({}, name, "the function is defined twice"); }
  }
  if (!index_body(body, meta_.graph->nodes)) return Failure{};
  main_nodes_ = body.nodes.size();
  has_variables_ = std::any_of(body.nodes.begin(), body.nodes.end(), [](const NodeView& n) {
    return n.op == "VarHandleOp" || n.op == "VariableV2" || n.op == "Variable";
  });
  return body;
}

Result<const Body*> Importer::function_body(std::string_view name) {
  const auto done = bodies_.find(name);
  if (done != bodies_.end()) return static_cast<const Body*>(done->second.get());
  const auto record = functions_.find(name);
  if (record == functions_.end()) return static_cast<const Body*>(nullptr);
  Damage damage;
  auto function = decode_function(record->second, damage);
  if (!function) return damaged(damage);
  auto body = std::make_unique<Body>();
  body->is_function = true;
  for (std::size_t i = 0; i < function->args.size(); ++i) {
    body->arguments.emplace(function->args[i].name, static_cast<std::uint32_t>(i));
  }
  const std::vector<Bytes> nodes = std::move(function->nodes);
  body->function = std::move(*function);
  if (!index_body(*body, nodes)) return Failure{};
  return static_cast<const Body*>(bodies_.emplace(record->first, std::move(body)).first->second.get());
}

Result<Ref> Importer::resolve(const Body& body, std::string_view input, const SourceLoc& loc, std::string_view user) {
  std::string_view name = input;
  std::uint32_t index = 0;
  if (body.is_function) {
    // "argument", "node:output" or "node:output:index"; "node" alone in old files.
    const auto argument = body.arguments.find(input);
    if (argument != body.arguments.end()) return Ref{argument->second, 0, true};
    const std::size_t first = input.find(':');
    name = input.substr(0, first);
    const auto node = body.by_name.find(name);
    if (first != std::string_view::npos && node != body.by_name.end()) {
      const auto [output, k] = split_output(input.substr(first + 1));
      index = output_position(body.nodes[node->second].op, output) + k;
    }
  } else {
    std::tie(name, index) = split_output(input);
  }
  const auto node = body.by_name.find(name);
  if (node == body.by_name.end()) {
    return diags_->error(loc, user, fmt::format("reads '{}', which nothing produces", input));
  }
  return Ref{node->second, index, false};
}

Ref Importer::behind_identities(const Body& body, Ref ref) const {
  for (std::size_t steps = 0; !ref.argument && steps < body.nodes.size(); ++steps) {
    const NodeView& n = body.nodes[ref.node];
    if (n.op != "Identity" && n.op != "StopGradient" && n.op != "PreventGradient") break;
    if (n.inputs.empty() || is_control(n.inputs[0])) break;
    // Names were checked when the node was reached; a wrong one ends the chain.
    const std::string_view input = n.inputs[0];
    const auto argument = body.arguments.find(input);
    if (body.is_function && argument != body.arguments.end()) return {argument->second, 0, true};
    const std::size_t colon = body.is_function ? input.find(':') : input.rfind(':');
    const auto node = body.by_name.find(input.substr(0, colon));
    if (node == body.by_name.end()) break;
    if (body.is_function && colon != std::string_view::npos) {
      const auto [output, k] = split_output(input.substr(colon + 1));
      ref = {node->second, output_position(body.nodes[node->second].op, output) + k, false};
    } else {
      ref = {node->second, body.is_function ? 0 : split_output(input).second, false};
    }
  }
  return ref;
}

// ---- Evaluation

Status Importer::dependencies(Scope& s, std::uint32_t i, std::vector<std::uint32_t>& out) {
  const NodeView& n = s.body.nodes[i];
  const SourceLoc loc = place(n, i);
  const auto add = [&](std::string_view input) -> Status {
    auto ref = resolve(s.body, input, loc, n.name);
    if (!ref) return Failure{};
    if (!ref->argument) out.push_back(ref->node);
    return ok();
  };
  if (const auto frame = s.body.frame_of_exit.find(i); frame != s.body.frame_of_exit.end()) {
    const LoopFrame& f = s.body.frames.at(frame->second);
    const auto enter_input = [&](std::uint32_t enter) {
      const NodeView& e = s.body.nodes[enter];
      return e.inputs.empty() || s.values.count(enter) ? ok() : add(e.inputs[0]);
    };
    for (const FrameVariable& v : f.variables) {
      if (!enter_input(v.enter)) return Failure{};
    }
    for (std::uint32_t enter : f.constants) {
      if (!enter_input(enter)) return Failure{};
    }
    return ok();
  }
  if ((n.op == "Merge" || n.op == "RefMerge") && !s.body.loop_merges.count(i)) {
    auto j = joined(s.body, i);
    if (!j) return Failure{};
    if (*j) {
      if (!(*j)->selector.argument) out.push_back((*j)->selector.node);
      for (const auto& side : (*j)->switches) {
        for (std::uint32_t sw : side) {
          if (!s.values.count(sw) && !add(s.body.nodes[sw].inputs[0])) return Failure{};
        }
      }
      return ok();
    }
  }
  for (std::string_view input : n.inputs) {
    if (!is_control(input) && !add(input)) return Failure{};
  }
  return ok();
}

Result<Values> Importer::value_of(Scope& s, Ref ref) {
  if (ref.argument) { return ref.node < s.arguments.size() ? Values{s.arguments[ref.node]} : Values{Value{}}; }
  const auto it = s.values.find(ref.node);
  if (it == s.values.end() || ref.index >= it->second.size()) return Values{Value{}};
  return Values{it->second[ref.index]};
}

Result<Values> Importer::evaluate(Scope& s, const std::vector<Ref>& wanted) {
  // What is needed, without what is done or given.
  std::vector<std::uint8_t> seen(s.body.nodes.size(), 0);
  std::vector<std::uint32_t> needed, stack, before;
  const auto push = [&](std::uint32_t i) {
    if (seen[i] || s.values.count(i) || s.poisoned.count(i)) return;
    seen[i] = 1;
    stack.push_back(i);
  };
  for (const Ref& r : wanted) {
    if (!r.argument) push(r.node);
  }
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;  // (before, after)
  while (!stack.empty()) {
    const std::uint32_t i = stack.back();
    stack.pop_back();
    needed.push_back(i);
    before.clear();
    if (!dependencies(s, i, before)) return Failure{};
    for (std::uint32_t b : before) {
      push(b);
      if (seen[b]) edges.emplace_back(b, i);
    }
  }
  evaluated_ += needed.size();
  if (over_budget()) {
    return diags_->error(fmt::format("inlining functions and loop bodies exceeds {} nodes", kMaxRepeated));
  }

  // In the file's order as far as dependencies allow.
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  std::unordered_map<std::uint32_t, std::uint32_t> waiting;
  for (const auto& [from, to] : edges) ++waiting[to];
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
  for (std::uint32_t i : needed) {
    if (!waiting.count(i)) ready.push(i);
  }
  std::size_t done = 0;
  bool good = true;
  while (!ready.empty()) {
    const std::uint32_t i = ready.top();
    ready.pop();
    ++done;
    if (!s.values.count(i) && !translate(s, i)) {
      s.poisoned.insert(i);
      good = false;
    }
    auto edge = std::lower_bound(edges.begin(), edges.end(), std::pair<std::uint32_t, std::uint32_t>{i, 0});
    for (; edge != edges.end() && edge->first == i; ++edge) {
      if (--waiting[edge->second] == 0) ready.push(edge->second);
    }
  }
  if (done != needed.size()) {
    const auto stuck = std::find_if(needed.begin(), needed.end(), [&](std::uint32_t i) {
      const auto w = waiting.find(i);
      return w != waiting.end() && w->second > 0;
    });
    return diags_->error(place(s.body.nodes[*stuck], *stuck), s.body.nodes[*stuck].name,
                         "the graph has a cycle through this node");
  }
  if (!good) return Failure{};
  Values out;
  for (const Ref& r : wanted) {
    auto v = value_of(s, r);
    if (!v) return Failure{};
    out.push_back((*v)[0]);
  }
  return out;
}

Status Importer::translate(Scope& s, std::uint32_t i) {
  const NodeView& n = s.body.nodes[i];
  Call c(*this, s, n, place(n, i));
  const bool structural =
      s.body.frame_of_exit.count(i) || ((n.op == "Merge" || n.op == "RefMerge") && !s.body.loop_merges.count(i));
  if (!structural) {
    for (std::string_view input : n.inputs) {
      if (is_control(input)) continue;
      auto ref = resolve(s.body, input, c.loc, n.name);
      if (!ref) return Failure{};
      if (!ref->argument && s.poisoned.count(ref->node)) return Failure{};  // has been reported
      auto v = value_of(s, *ref);
      if (!v) return Failure{};
      c.inputs.push_back((*v)[0]);
    }
  }
  Result<Values> results = Failure{};
  if (const OpRow* row = find_row(n.op)) {
    results = row->translate(c, *row);
  } else {
    auto body = function_body(n.op);  // a call written as an operator of the function's name
    if (!body) return Failure{};
    results = *body ? call(c, n.op, n.attrs, c.inputs) : opaque(c);
  }
  if (!results) return Failure{};
  s.values[i] = std::move(*results);
  return ok();
}

// ---- What is computed

Result<const SignatureView*> Importer::choose_signature() {
  std::vector<std::string> names;
  const SignatureView* fallback = nullptr;
  for (const SignatureView& s : meta_.signatures) {
    if (s.key.starts_with("__saved_model")) continue;
    names.emplace_back(s.key);
    const std::string_view wanted =
        options_.signature.empty() ? std::string_view("serving_default") : std::string_view(options_.signature);
    if (s.key == wanted) return &s;
    if (!fallback || s.key == "serve") fallback = &s;
  }
  if (!options_.signature.empty()) {
    const std::string near = did_you_mean(options_.signature, names);
    return diags_->error(fmt::format(
        "--signature: the model has none named '{}'{}{}", options_.signature,
        near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near),
        names.empty() ? std::string("; it has no signatures") : fmt::format("; it has {}", fmt::join(names, ", "))));
  }
  if (fallback && names.size() > 1) {
    diags_->warning(fmt::format("the model has no signature 'serving_default'; '{}' is read of {}; --signature chooses",
                                fallback->key, fmt::join(names, ", ")));
  }
  return fallback;
}

Result<Importer::Target> Importer::from_signature(const SignatureView& signature) {
  Target t;
  for (const TensorInfoView& in : signature.inputs) {
    t.inputs.push_back({in.key, in.type, {}});
    t.input_nodes.emplace_back(in.name);
  }
  for (const TensorInfoView& out : signature.outputs) {
    if (out.name.empty()) continue;
    t.outputs.emplace_back(out.name);
    t.output_names.emplace_back(out.key);
  }
  if (t.outputs.empty()) return diags_->error({}, signature.key, "the signature has no outputs");
  return t;
}

/// What a queue hands out are inputs, typed as the queue says; several elements at once have a dim in front.
Status Importer::add_dequeued(const Body& body, std::uint32_t i, Target& t) {
  const NodeView& node = body.nodes[i];
  const auto queue =
      node.inputs.empty() ? Result<Ref>(Failure{}) : resolve(body, node.inputs[0], place(node, i), node.name);
  if (!queue) return diags_->error(place(node, i), node.name, "reads no queue");
  Damage damage;
  const NodeView& made = body.nodes[queue->node];
  std::vector<std::int64_t> types;
  std::vector<Bytes> shapes;
  for (const auto& [from, attribute] :
       {std::pair{&node, "component_types"}, std::pair{&made, "component_types"}, std::pair{&made, "shapes"}}) {
    const AttrView* a = from->find(attribute);
    if (!a) continue;
    const auto v = decode_attr(a->value, damage);
    if (!v) return damaged(damage);
    if (types.empty()) types = v->types;
    shapes = v->shapes;
  }
  if (types.empty()) return diags_->error(place(node, i), node.name, "neither it nor its queue has component_types");
  const bool several = node.op.starts_with("QueueDequeueMany") || node.op.starts_with("QueueDequeueUpTo");
  for (std::size_t k = 0; k < types.size(); ++k) {
    const DType dtype = dtype_from_tf(types[k]);
    if (dtype == DType::Undefined) continue;  // a handle
    Type type = Type::unranked(dtype);
    if (k < shapes.size()) {
      const auto shaped = decode_shape(shapes[k], dtype, damage);
      if (!shaped) return damaged(damage);
      type = *shaped;
      if (several && type.ranked()) {
        Shape shape = type.shape();
        shape.insert(shape.begin(), Dim::unknown());
        type = Type::tensor(dtype, std::move(shape));
      }
    }
    std::string_view name = node.name;
    if (k > 0) name = *names_.emplace_back(std::make_unique<std::string>(fmt::format("{}:{}", node.name, k)));
    t.inputs.push_back({name, type, place(node, i)});
    t.input_nodes.emplace_back(name);
  }
  return ok();
}

/// Without a signature: the placeholders and what is taken from queues are the inputs, and what nothing reads
/// are the outputs, as far as they depend on an input.
Result<Importer::Target> Importer::from_graph(const Body& body) {
  Target t;
  const std::size_t n = body.nodes.size();
  std::vector<std::vector<std::uint32_t>> users(n);
  std::vector<std::uint8_t> read(n, 0), depends(n, 0), inside(n, 0);
  for (std::uint32_t i = 0; i < n; ++i) {
    for (std::string_view input : body.nodes[i].inputs) {
      const bool control = is_control(input);
      auto ref = resolve(body, control ? strip_control(input) : input, place(body.nodes[i], i), body.nodes[i].name);
      if (!ref) return Failure{};
      // What somebody reads, if only to store it or to run after it, is no output.
      read[ref->node] = 1;
      if (!control) users[ref->node].push_back(i);
    }
  }
  std::vector<std::uint32_t> stack;
  // Between Enter and Exit nothing is an output.
  for (std::uint32_t i = 0; i < n; ++i) {
    if (body.nodes[i].op != "Enter" && body.nodes[i].op != "RefEnter") continue;
    inside[i] = 1;
    stack.push_back(i);
  }
  while (!stack.empty()) {
    const std::uint32_t i = stack.back();
    stack.pop_back();
    for (std::uint32_t u : users[i]) {
      if (inside[u] || body.frame_of_exit.count(u)) continue;
      inside[u] = 1;
      stack.push_back(u);
    }
  }
  for (std::uint32_t i = 0; i < n; ++i) {
    if (!is_placeholder(body.nodes[i]) && !is_dequeue(body.nodes[i])) continue;
    stack.push_back(i);
    depends[i] = 1;
  }
  const bool any_input = !stack.empty();
  while (!stack.empty()) {
    const std::uint32_t i = stack.back();
    stack.pop_back();
    for (std::uint32_t u : users[i]) {
      if (!depends[u]) stack.push_back(u);
      depends[u] = 1;
    }
  }
  Damage damage;
  for (std::uint32_t i = 0; i < n; ++i) {
    const NodeView& node = body.nodes[i];
    if (is_placeholder(node)) {
      Type type;
      std::int64_t dtype = 0;
      if (const AttrView* a = node.find("dtype")) {
        const auto v = decode_attr(a->value, damage);
        if (!v) return damaged(damage);
        if (!v->types.empty()) dtype = v->types[0];
      }
      if (dtype == kResource || dtype == kVariant) continue;
      if (dtype_from_tf(dtype) == DType::Undefined) {
        return diags_->error(place(node, i), node.name, "Placeholder without an element type");
      }
      type = Type::unranked(dtype_from_tf(dtype));
      if (const AttrView* a = node.find("shape")) {
        const auto v = decode_attr(a->value, damage);
        if (!v) return damaged(damage);
        if (!v->shapes.empty()) {
          const auto shaped = decode_shape(v->shapes[0], type.dtype(), damage);
          if (!shaped) return damaged(damage);
          type = *shaped;
        }
      }
      t.inputs.push_back({node.name, type, place(node, i)});
      t.input_nodes.emplace_back(node.name);
      continue;
    }
    if (is_dequeue(node)) {
      if (!add_dequeued(body, i, t)) return Failure{};
      continue;
    }
    if (read[i] || inside[i] || is_side_effect(node.op) || (any_input && !depends[i])) continue;
    t.outputs.emplace_back(node.name);
    t.output_names.emplace_back(node.name);
  }
  if (t.outputs.empty()) {
    // A graph of inputs or constants only: they are what it computes.
    for (std::uint32_t i = 0; i < n; ++i) {
      if (read[i] || (is_side_effect(body.nodes[i].op) && body.nodes[i].op != "Const")) continue;
      t.outputs.emplace_back(body.nodes[i].name);
      t.output_names.emplace_back(body.nodes[i].name);
    }
  }
  if (t.outputs.empty()) return diags_->error("the graph computes nothing");
  // Inputs that no output depends on are left out: lowering leaves such placeholders behind.
  std::vector<std::uint8_t> reached(n, 0);
  for (const std::string& output : t.outputs) {
    const auto at = body.by_name.at(output);
    reached[at] = 1;
    stack.push_back(at);
  }
  while (!stack.empty()) {
    const std::uint32_t i = stack.back();
    stack.pop_back();
    for (std::string_view input : body.nodes[i].inputs) {
      if (is_control(input)) continue;
      auto ref = resolve(body, input, {}, body.nodes[i].name);
      if (!ref || reached[ref->node]) continue;
      reached[ref->node] = 1;
      stack.push_back(ref->node);
    }
  }
  for (std::size_t i = t.inputs.size(); i-- > 0;) {
    const auto node = body.by_name.find(split_output(t.input_nodes[i]).first);
    if (node == body.by_name.end() || reached[node->second]) continue;
    t.inputs.erase(t.inputs.begin() + static_cast<std::ptrdiff_t>(i));
    t.input_nodes.erase(t.input_nodes.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return t;
}

Result<Graph> Importer::run() {
  auto body = decode_main();
  auto signature = choose_signature();
  if (!body || !signature) return Failure{};
  auto target = *signature ? from_signature(**signature) : from_graph(*body);
  if (!target) return Failure{};

  GraphBuilder builder(*diags_);
  Site site{.builder = builder};
  Scope scope{.body = *body, .site = site};
  for (std::size_t i = 0; i < target->inputs.size(); ++i) {
    ModelInput& in = target->inputs[i];
    const std::string_view node = split_output(target->input_nodes[i]).first;
    const auto it = body->by_name.find(node);
    if (it == body->by_name.end()) {
      return diags_->error({}, in.name, fmt::format("the signature's input '{}' is no node of the graph", node));
    }
    in.loc = place(body->nodes[it->second], it->second);
    if (!in.type) return diags_->error(in.loc, in.name, "the input has no element type");
  }
  if (!dims_.apply(target->inputs, *diags_)) return Failure{};
  for (std::size_t i = 0; i < target->inputs.size(); ++i) {
    const ModelInput& in = target->inputs[i];
    const auto [node, index] = split_output(target->input_nodes[i]);
    Values& outputs = scope.values[body->by_name.at(node)];
    if (index > 1000) return diags_->error(in.loc, in.name, fmt::format("output {} does not exist", index));
    if (outputs.size() <= index) outputs.resize(index + 1);
    outputs[index] = Value::tensor(builder.var(in.type, std::string(in.name), in.loc, in.data));
  }

  std::vector<Ref> wanted;
  for (std::size_t i = 0; i < target->outputs.size(); ++i) {
    auto ref = resolve(*body, target->outputs[i], {}, target->output_names[i]);
    if (!ref) return Failure{};
    wanted.push_back(*ref);
  }
  auto values = evaluate(scope, wanted);
  if (!values || diags_->errors()) {
    for (const ModelInput& in : target->inputs) {
      if (in.type.ranked()) continue;
      diags_->note(in.loc, in.name,
                   fmt::format("the file gives this input no shape; --shape {}=d0,d1,… does, and may help", in.name));
    }
    return Failure{};
  }
  std::vector<ValueId> results;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < values->size(); ++i) {
    const Value& v = (*values)[i];
    const NodeView& n = body->nodes[wanted[i].node];
    if (!v.is_tensor()) {
      if (!*signature) continue;  // a table, an iterator, …: nothing that a prediction is about
      return diags_->error(place(n, wanted[i].node), n.name,
                           fmt::format("output '{}' of the signature is no tensor", target->output_names[i]));
    }
    results.push_back(v.id);
    names.push_back(target->output_names[i]);
  }
  if (results.empty()) return diags_->error("the graph computes no tensor");
  return finish_live(builder, *signature ? std::string((*signature)->key) : "graph", results, std::move(names),
                     *diags_);
}

}  // namespace perfc::tf
