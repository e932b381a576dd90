#include "frontends/keras/importer.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontends/keras/call.h"
#include "frontends/keras/table.h"

namespace perfc::keras {
namespace {

constexpr std::size_t kMaxCalls = 1'000'000;  ///< what models that are called several times can expand to

constexpr bool is_model(std::string_view class_name) {
  return class_name == "Functional" || class_name == "Sequential" || class_name == "Model";
}

/// Shape with null for what is open: [null, 224, 224, 3].
std::optional<Shape> shape_of(const std::optional<json::Element>& e) {
  const auto dims = json::array(e);
  if (!dims || dims->size() > 64) return std::nullopt;
  Shape out;
  for (const json::Element& d : *dims) {
    const auto extent = json::integer(d);
    if (extent && *extent < 0) return std::nullopt;
    out.push_back(extent ? Dim(*extent) : Dim::unknown());
  }
  return out;
}

/// The values that a call made, by layer and call.
using Made = std::map<std::pair<std::size_t, std::size_t>, std::vector<ValueId>>;

/// An argument with its tensors; nothing when one of them failed.
std::optional<Value> resolved(const Argument& a, const Made& made) {
  Value v{.kind = a.kind, .integer = a.integer, .real = a.real, .text = a.text};
  if (a.kind == Argument::Kind::Tensor) {
    const auto found = made.find({a.layer, a.call});
    if (found == made.end() || a.output >= found->second.size()) return std::nullopt;
    v.tensor = found->second[a.output];
  }
  for (const Argument& item : a.items) {
    auto r = resolved(item, made);
    if (!r) return std::nullopt;
    v.items.push_back(*std::move(r));
  }
  return v;
}

}  // namespace

Result<Graph> Importer::run() {
  const auto info = layer_info(root_);
  if (!info) return diags_.error("config.json holds no model");
  if (!is_model(info->class_name) || !json::member(info->config, "layers")) {
    return diags_.error(
        fmt::format("'{}' is a class of its own, whose archive holds no graph; load it in Keras, call "
                    "model.export(\"DIR\") and give DIR",
                    info->registered_name.empty() ? info->class_name : info->registered_name));
  }
  const bool sequential = info->class_name == "Sequential";
  const auto plan = read_plan(info->config, sequential, "model", diags_);
  if (!plan) return Failure{};
  std::vector<ValueId> inputs;
  if (sequential) {
    auto input = sequential_input(*plan);
    if (!input) return Failure{};
    inputs.push_back(*input);
  } else {
    std::vector<ModelInput> declared;
    for (const Argument& a : plan->inputs) {
      auto type = input_type(plan->layers[a.layer]);
      if (!type) return Failure{};
      declared.push_back({plan->layers[a.layer].name, *std::move(type), {}});
    }
    if (!dims_.apply(declared, diags_)) return Failure{};
    for (const ModelInput& i : declared) inputs.push_back(builder_.var(i.type, std::string(i.name), {}, i.data));
  }
  const auto results = run_plan(*plan, "", inputs, 0);
  if (!results || diags_.errors()) return Failure{};
  std::vector<std::string> names;
  for (std::size_t i = 0; i < results->size(); ++i)
    names.emplace_back(sequential ? "output" : plan->layers[plan->outputs[i].layer].name);
  return builder_.finish(name_, *results, std::move(names));
}

Result<Type> Importer::input_type(const LayerInfo& l) {
  auto shape = shape_of(json::member(l.config, "batch_shape"));
  if (!shape) shape = shape_of(json::member(l.config, "batch_input_shape"));
  const auto dtype = dtype_from_name(json::text(json::member(l.config, "dtype")).value_or(std::string_view("float32")));
  if (l.class_name != "InputLayer" || !shape || !dtype)
    return diags_.error({}, l.name, "an input without a shape or an element type");
  return Type::tensor(*dtype, *std::move(shape));
}

Result<ValueId> Importer::sequential_input(const Plan& plan) {
  std::string_view name = "input";
  Result<Type> type = Failure{};
  if (!plan.layers.empty() && plan.layers.front().class_name == "InputLayer") {
    name = plan.layers.front().name;
    type = input_type(plan.layers.front());
    if (!type) return Failure{};
  } else {
    const auto config = json::member(root_, "config"), build = json::member(root_, "build_config");
    auto shape = config ? shape_of(json::member(*config, "build_input_shape")) : std::nullopt;
    if (!shape && build) shape = shape_of(json::member(*build, "input_shape"));
    if (!shape && !plan.layers.empty()) shape = shape_of(json::member(plan.layers.front().config, "batch_input_shape"));
    if (!shape)
      return diags_.error(
          "a Sequential that was never built, so that the shape of its input is not known; call "
          "model.build(SHAPE) in Keras and save it again");
    // Embeddings take indices.
    const bool indices = !plan.layers.empty() && plan.layers.front().class_name == "Embedding";
    type = Type::tensor(indices ? DType::Int32 : DType::Float32, *std::move(shape));
  }
  std::vector<ModelInput> inputs{{name, *type, {}}};
  if (!dims_.apply(inputs, diags_)) return Failure{};
  return builder_.var(inputs.front().type, std::string(name), {}, inputs.front().data);
}

ValueId Importer::weight(const std::string& path, const Type& type, SourceLoc loc) {
  const auto known = weights_.find(path);
  if (known != weights_.end() && builder_.type(known->second) == type) return known->second;
  const ValueId v = builder_.constant({type, nullptr}, path, loc);
  weights_.emplace(path, v);
  return v;
}

// ---- Models

Values Importer::call_model(const LayerInfo& l, const std::string& path, const std::vector<ValueId>& inputs,
                            int depth) {
  if (depth > kMaxModels) return diags_.error({}, path, fmt::format("models are nested deeper than {}", kMaxModels));
  const auto plan = read_plan(l.config, l.class_name == "Sequential", path, diags_);
  return plan ? run_plan(*plan, path, inputs, depth) : Values(Failure{});
}

Values Importer::run_plan(const Plan& plan, const std::string& path, const std::vector<ValueId>& inputs, int depth) {
  if (plan.sequential) {
    if (inputs.empty()) return diags_.error({}, path, "is called without a tensor");
    return run_sequence(plan, path, inputs.front(), depth);
  }
  if (inputs.size() < plan.inputs.size()) {
    return diags_.error({}, path, fmt::format("takes {} tensors, {} are given", plan.inputs.size(), inputs.size()));
  }
  Made made;
  for (std::size_t i = 0; i < plan.inputs.size(); ++i) made[{plan.inputs[i].layer, plan.inputs[i].call}] = {inputs[i]};
  bool good = true;
  for (const Plan::Step& s : plan.steps) {
    const LayerInfo& l = plan.layers[s.layer];
    const LayerCall& call = l.calls[s.call];
    std::vector<Value> args;
    std::vector<std::pair<std::string_view, Value>> named;
    bool ready = true;
    for (const Argument& a : call.args) {
      auto v = resolved(a, made);
      ready = ready && v;
      if (v) args.push_back(*std::move(v));
    }
    for (const auto& [name, a] : call.named) {
      auto v = resolved(a, made);
      ready = ready && v;
      if (v) named.emplace_back(name, *std::move(v));
    }
    if (!ready && diags_.errors() == 0)
      return diags_.error({}, l.name, fmt::format("{}: uses a result that no layer makes", l.class_name));
    auto results = ready ? run_layer(l, s.call, path, std::move(args), std::move(named), depth) : Values(Failure{});
    good = good && results;
    if (results) made[{s.layer, s.call}] = *std::move(results);
  }
  if (!good) return Failure{};
  std::vector<ValueId> out;
  for (const Argument& a : plan.outputs) {
    const auto v = resolved(a, made);
    if (!v) return diags_.error({}, plan.layers[a.layer].name, "is an output that no layer makes");
    out.push_back(v->tensor);
  }
  return out;
}

Values Importer::run_sequence(const Plan& plan, const std::string& path, ValueId input, int depth) {
  std::vector<ValueId> now{input};
  for (const LayerInfo& l : plan.layers) {
    if (l.class_name == "InputLayer") continue;
    auto next = run_layer(l, 0, path, {Value::of(now.front())}, {}, depth);
    if (!next) return Failure{};
    if (next->empty()) return diags_.error({}, l.name, "gives no tensor");
    now = *std::move(next);
  }
  return now;
}

Values Importer::run_layer(const LayerInfo& l, std::size_t call, const std::string& path, std::vector<Value> args,
                           std::vector<std::pair<std::string_view, Value>> named, int depth) {
  if (++calls_ > kMaxCalls) return diags_.error(fmt::format("models expand to more than {} calls", kMaxCalls));
  const std::string inside = path.empty() ? std::string(l.name) : fmt::format("{}/{}", path, l.name);
  Call c(*this, l, call, inside, std::move(args), std::move(named), depth);
  if (is_model(l.class_name) && json::member(l.config, "layers")) {
    std::vector<ValueId> inputs;
    for (std::size_t i = 0; i < c.args.size(); ++i) {
      const auto all = c.tensors(i);
      inputs.insert(inputs.end(), all.begin(), all.end());
    }
    return call_model(l, inside, inputs, depth + 1);
  }
  return apply(c);
}

// ---- Layers

Values Importer::apply(Call& c) {
  // Layers cast what they are given to the type that they compute in; operations take it as it is.
  if (!c.layer.module.starts_with("keras.src.ops")) {
    for (Value& v : c.args) {
      const auto fit = [&](Value& t) {
        if (t.kind != Value::Kind::Tensor || !is_float(c.dtype(t.tensor)) || c.dtype(t.tensor) == c.compute()) return;
        if (const auto cast = c.cast(t.tensor, c.compute())) t.tensor = *cast;
      };
      fit(v);
      for (Value& item : v.items) fit(item);
    }
  }
  const Row* row = find_row(c.layer);
  if (!row) return opaque(c);
  auto results = row->translate(c);
  if (results && c.opaque) return opaque(c);
  if (results) check(c, *results);
  return results;
}

Type Importer::declared(const LayerInfo& l, std::size_t call, std::size_t output) const {
  const auto found = l.declared.find(call * kMostOutputs + output);
  return found == l.declared.end() || dims_.overridden() ? Type{} : dims_.bind(found->second);
}

void Importer::check(const Call& c, const std::vector<ValueId>& results) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Type wanted = declared(c.layer, c.call, i);
    bool conflict = false;
    if (wanted) (void)merge(c.type(results[i]), wanted, &conflict);
    if (conflict)
      c.warning(fmt::format("the result is {}, but the file declares {}; using the former",
                            to_string(c.type(results[i])), to_string(wanted)));
  }
}

Values Importer::opaque(Call& c) {
  std::vector<ValueId> operands;
  for (std::size_t i = 0; i < c.args.size(); ++i) {
    const auto all = c.tensors(i);
    operands.insert(operands.end(), all.begin(), all.end());
  }
  std::vector<Type> types;
  for (std::size_t i = 0; i < kMostOutputs; ++i) {
    Type t = declared(c.layer, c.call, i);
    if (!t) break;
    // A batch that the file leaves open is that of the data.
    if (t.rank() > 0 && !t.shape()[0].known() && !operands.empty()) {
      Shape shape = t.shape();
      shape[0] = c.dim(operands.front(), 0);
      t = Type::tensor(t.dtype(), std::move(shape));
    }
    types.push_back(std::move(t));
  }
  const std::string_view name = c.layer.registered_name.empty() ? c.layer.class_name : c.layer.registered_name;
  if (types.empty()) {
    return c.error(fmt::format("'{}' is not known to perfc, and {} the type of its result", name,
                               dims_.overridden() ? "with --shape the file does not tell"
                                                  : "the file does not tell (nothing in it reads it)"));
  }
  c.warning(fmt::format("'{}' is {}; kept as opaque: its cost is not known", name,
                        c.opaque ? "in a form that is not supported" : "no layer that perfc knows"));
  const std::size_t results = types.size();
  const auto id = builder_.call({.op = op("opaque"),
                                 .operands = std::move(operands),
                                 .attrs = {{"source_op", std::string(name)}},
                                 .results = static_cast<int>(results),
                                 .declared = std::move(types),
                                 .name = c.name,
                                 .loc = c.loc});
  if (!id) return Failure{};
  std::vector<ValueId> out;
  for (std::uint32_t i = 0; i < results; ++i) out.push_back({*id, i});
  return out;
}

}  // namespace perfc::keras
