/// What is computed: the inputs and outputs of a signature, or those of a graph that has none.
#include <fmt/format.h>

#include <algorithm>

#include "frontends/tf/importer.h"

namespace perfc::tf {
namespace {

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

}  // namespace perfc::tf
