#include "frontends/torch/importer.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "frontends/torch/aten_table.h"
#include "frontends/torch/call.h"
#include "frontends/torch/higher_order.h"
#include "frontends/torch/python.h"
#include "ir/eager_marks.h"

namespace perfc::torch {
namespace {

bool is_tensor_type(std::string_view type) { return type.empty() || type == "Tensor"; }

/// Names that index an embedding: what a script export leaves open is then int64.
std::set<std::string_view> index_names(const Block& block) {
  std::set<std::string_view> names;
  for (const Operation& o : block.nodes) {
    if ((o.op == "aten::embedding" || o.op == "aten::embedding_bag") && o.args.size() > 1) names.insert(o.args[1].text);
  }
  return names;
}

void collect(const Value& v, std::vector<TensorRef>& out) {
  if (const TensorRef* t = v.tensor()) out.push_back(*t);
  if (const List* l = v.list()) {
    for (const Value& item : *l->items) collect(item, out);
  }
}

bool is_launched(const Node& n) {
  return n.kind == NodeKind::Call && def(n.op).runs.launch == Launch::Kernel && !n.attrs.has(kInside);
}

/// "2 to 8", "2 or more".
std::string range_text(const Range& r) {
  return r.bounded() ? fmt::format("{} to {}", r.least, r.most) : fmt::format("{} or more", r.least);
}

bool has_shape(const Node& n) {
  return std::all_of(n.results.begin(), n.results.end(), [](const ResultInfo& r) {
    return r.type.is_tensor() && r.type.ranked() &&
           std::all_of(r.type.shape().begin(), r.type.shape().end(),
                       [](const Dim& d) { return d.known() || d.symbolic(); });
  });
}

/// Of some nodes those whose value follows from shapes and numbers alone, whatever the data is.
std::set<NodeId> independent_of_data(const Graph& g, const std::set<NodeId>& nodes) {
  std::vector<bool> follows(g.size(), false);
  std::set<NodeId> out;
  for (NodeId id = 0; id < g.size(); ++id) {
    const Node& n = g.node(id);
    if (n.kind == NodeKind::Constant) follows[id] = n.results[0].data != nullptr;
    if (n.kind != NodeKind::Call || !n.regions.empty()) continue;
    follows[id] = def(n.op).dims_only ||
                  std::all_of(n.operands.begin(), n.operands.end(), [&](ValueId v) { return !v || follows[v.node]; });
    follows[id] = follows[id] && def(n.op).category != Category::Random;
    if (follows[id] && nodes.count(id) && is_launched(n)) out.insert(id);
  }
  return out;
}

/// Of some nodes those that nothing reads. Types that depend on data stay out: nobody will know them. contiguous() is
/// among them, which may have to copy.
std::set<NodeId> unread(const Graph& g, const std::set<NodeId>& nodes) {
  std::vector<bool> live(g.size(), false);
  for (ValueId v : g.results()) live[v.node] = true;
  std::set<NodeId> out;
  for (NodeId id = static_cast<NodeId>(g.size()); id-- > 0;) {
    const Node& n = g.node(id);
    if (!live[id] && nodes.count(id) && (is_launched(n) || n.is(op("contiguous"))) && has_shape(n)) {
      out.insert(id);
      live[id] = true;
    }
    if (!live[id]) continue;
    for (ValueId v : n.operands) {
      if (v) live[v.node] = true;
    }
  }
  return out;
}

/// `made` with the sizes that `merged` has for open dims; symbols of what data decides are none.
Type sizes_of(const Type& made, const Type& merged) {
  Shape shape = made.shape();
  for (std::size_t a = 0; a < shape.size(); ++a) {
    const bool open = !shape[a].known() && !shape[a].symbolic();
    if (open && merged.shape()[a].known()) shape[a] = merged.shape()[a];
  }
  return Type::tensor(made.dtype(), std::move(shape));
}

}  // namespace

Result<Graph> without_unused(const Graph& graph, Diagnostics& diags, const EagerMarks& marks) {
  std::vector<bool> live(graph.size(), false);
  for (ValueId v : graph.results()) live[v.node] = true;
  for (ValueId v : graph.params()) live[v.node] = true;
  for (const NodeId id : marks.launched) live[id] = true;
  for (NodeId id = static_cast<NodeId>(graph.size()); id-- > 0;) {
    if (!live[id]) continue;
    for (ValueId v : graph.node(id).operands) {
      if (v) live[v.node] = true;
    }
  }
  Rewriter rewriter(graph, diags);
  for (NodeId id = 0; id < graph.size(); ++id) {
    if (!live[id]) continue;
    const bool launched = marks.launched.count(id) != 0;
    const bool inside = graph.node(id).kind == NodeKind::Call && marks.inside.count(id) != 0;
    Attrs attrs = graph.node(id).attrs;
    if (launched) attrs = with_mark(std::move(attrs), kLaunched);
    if (inside) attrs = with_mark(std::move(attrs), kInside);
    if (!(launched || inside ? rewriter.copy_with(id, rewriter.operands(id), attrs) : rewriter.copy(id)))
      return Failure{};
  }
  return rewriter.finish();
}

Result<Graph> Importer::run() {
  GraphBuilder builder(*diags_);
  Frame frame{.builder = builder};
  for (const Parameter& p : program_.parameters) {
    if (!parameters_.emplace(p.name, &p).second) { return diags_->error({}, p.name, "two parameters have this name"); }
  }
  for (const auto& [alias, name] : program_.aliases) {
    const auto primary = parameters_.find(name);
    if (primary != parameters_.end()) parameters_.emplace(alias, primary->second);
  }
  if (!declare_inputs(frame)) return Failure{};
  bool good = true;
  const std::span<const Operation> operations(program_.body.nodes);
  for (std::size_t i = 0; i < operations.size(); ++i) {
    look_ahead(operations.subspan(i));
    good = static_cast<bool>(run_operation(frame, operations[i])) && good;
  }
  if (!good || diags_->errors()) return Failure{};

  std::vector<ValueId> results;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < program_.body.outputs.size(); ++i) {
    const Arg& out = program_.body.outputs[i];
    if (out.kind != Arg::Kind::Ref) continue;  // a constant result computes nothing
    auto v = look_up(frame, out.text, nullptr);
    if (!v) return Failure{};
    if (!is_bounded(*v)) return diags_->error({}, program_.output_names[i], "the output's lists hold too many items");
    if (!flatten_output(frame, *v, program_.output_names[i], results, names)) return Failure{};
  }
  if (results.empty()) return diags_->error("the program has no tensor among its outputs");
  const Graph whole = builder.finish(program_.name, std::move(results), std::move(names));
  std::set<NodeId> launched = independent_of_data(whole, tensors_);
  launched.merge(unread(whole, tensors_));
  std::set<NodeId> inside = computed_on_host_;
  inside.insert(copied_from_host_.begin(), copied_from_host_.end());
  for (const NodeId id : inside) launched.erase(id);
  auto graph = without_unused(whole, *diags_, {std::move(launched), std::move(inside)});
  if (graph && program_.decomposed) graph->set_written_by(WrittenBy::Decomposed);
  return graph;
}

Status Importer::declare_inputs(Frame& frame) {
  const std::set<std::string_view> indices = index_names(program_.body);
  std::vector<ModelInput> inputs;
  for (const Declared& d : program_.body.inputs) {
    Type type;
    if (is_tensor_type(d.type)) {
      type = d.tensor ? d.tensor : Type::unranked(DType::Undefined);
    } else if (d.type == "int") {
      type = Type::tensor(DType::Int64, {});
    } else if (d.type == "bool") {
      type = Type::tensor(DType::Bool, {});
    } else if (d.type == "float" || d.type == "number") {
      type = Type::tensor(DType::Float32, {});
    } else if (d.type.starts_with("Optional[") || d.type == "NoneType") {
      continue;
    } else {
      return diags_->error({}, d.name,
                           fmt::format("the input is of type {}; perfc reads tensors and numbers: "
                                       "export a module whose forward takes those",
                                       d.type));
    }
    inputs.push_back({d.name, std::move(type), {}});
  }
  if (!dims_.apply(inputs, *diags_)) return Failure{};
  bool complete = true;
  for (const ModelInput& input : inputs) {
    if (input.type.is_tensor() && input.type.ranked()) continue;
    complete = false;
    (void)diags_->error({}, input.name,
                        fmt::format("the file does not say the input's shape, as scripted modules do not; give it with "
                                    "--shape {}=…, e.g. --shape {}=1,3,224,224",
                                    input.name, input.name));
  }
  if (!complete) return Failure{};
  check_ranges(inputs);
  std::size_t next = 0;
  for (const Declared& d : program_.body.inputs) {
    if (next == inputs.size() || inputs[next].name != d.name) {
      frame.values[d.name] = Value::none();
      continue;
    }
    Type type = inputs[next].type;
    const DataRef data = inputs[next++].data;
    if (type.dtype() == DType::Undefined) {
      type = type.with_dtype(indices.count(d.name) ? DType::Int64 : DType::Float32);
      diags_->note(
          {}, d.name,
          fmt::format("the file does not say the input's element type; {} is assumed", perfc::name(type.dtype())));
    }
    const DType dtype = type.dtype();
    const ValueId v = frame.builder.var(std::move(type), std::string(d.name), {}, data);
    if (is_tensor_type(d.type)) {
      frame.values[d.name] = Call::fresh(v);
      continue;
    }
    auto vector =
        frame.builder.value({.op = op("reshape"), .operands = {v, frame.builder.constant(int64_vector({1}))}});
    if (!vector) return Failure{};
    Scalar number{.dtype = dtype == DType::Float32 ? DType::Float64 : dtype, .origin = *vector};
    if (data && data->ints()) number.integer = data->ints()->front();
    if (data && data->floats()) number.real = data->floats()->front();
    frame.values[d.name] = number;
  }
  return ok();
}

void Importer::check_ranges(const std::vector<ModelInput>& inputs) {
  for (const ModelInput& input : inputs) {
    const auto declared = std::find_if(program_.body.inputs.begin(), program_.body.inputs.end(),
                                       [&](const Declared& d) { return d.name == input.name; });
    if (!declared->tensor.is_tensor() || !declared->tensor.ranked()) continue;
    for (std::size_t i = 0; i < declared->tensor.rank() && i < input.type.rank(); ++i) {
      const Dim &symbol = declared->tensor.shape()[i], &bound = input.type.shape()[i];
      if (!symbol.symbolic() || !bound.known()) continue;
      for (const Range& r : program_.ranges) {
        if (r.symbol != symbol.symbol_name() || (bound.value() >= r.least && bound.value() <= r.most)) continue;
        diags_->warning({}, input.name,
                        fmt::format("dim {} ({}) is {}, but the program was exported for {}", i, r.symbol,
                                    bound.value(), range_text(r)));
      }
    }
  }
}

Status Importer::flatten_output(Frame& frame, const Value& value, const std::string& name,
                                std::vector<ValueId>& results, std::vector<std::string>& names) {
  const Operation nowhere;
  Call c(*this, frame, nowhere);
  if (const TensorRef* t = value.tensor()) {
    auto v = c.read(*t);
    if (!v) return Failure{};
    results.push_back(*v);
    names.push_back(name);
  } else if (const List* l = value.list()) {
    for (std::size_t i = 0; i < l->items->size(); ++i) {
      if (!flatten_output(frame, (*l->items)[i], fmt::format("{}.{}", name, i), results, names)) return Failure{};
    }
  } else if (const Dict* d = value.dict()) {
    for (const auto& [key, item] : *d->items) {
      if (!flatten_output(frame, item, fmt::format("{}.{}", name, key.string() ? *key.string() : "item"), results,
                          names)) {
        return Failure{};
      }
    }
  }
  return ok();
}

void Importer::look_ahead(std::span<const Operation> operations) {
  if (vmaps_ > 0 || operations.front().op != kEnterVmap) return;
  std::int64_t depth = 0;
  vmap_levels_ = 1;
  for (const Operation& o : operations) {
    if (o.op == kEnterVmap) vmap_levels_ = std::max(vmap_levels_, ++depth);
    if (o.op == kLeaveVmap && --depth == 0) break;
  }
}

Result<std::vector<Value>> Importer::run_block(Frame& frame, const Block& block) {
  for (std::size_t i = 0; i < block.nodes.size(); ++i) {
    look_ahead(std::span(block.nodes).subspan(i));
    if (!run_operation(frame, block.nodes[i])) return Failure{};
  }
  std::vector<Value> out;
  const Operation nowhere;
  return arguments(frame, block.outputs, block.nodes.empty() ? nowhere : block.nodes.back());
}

Status Importer::run_operation(Frame& frame, const Operation& operation) {
  const auto poison_all = [&](const auto& self, const std::vector<Declared>& outputs) -> void {
    for (const Declared& d : outputs) {
      frame.poisoned.insert(d.name);
      self(self, d.items);
    }
  };
  const auto poison = [&] {
    poison_all(poison_all, operation.outputs);
    return Failure{};
  };
  Call c(*this, frame, operation);
  if (++operations_ > kMaxOperations) {
    return c.error(fmt::format("more than {} operations after unrolling loops", kMaxOperations));
  }
  auto args = arguments(frame, operation.args, operation);
  if (!args) return poison();
  c.args = *std::move(args);
  const auto first = static_cast<NodeId>(frame.builder.size());
  auto results = translate(c);
  if (!results) return poison();
  if (!frame.outer) note_results(c, *results, first);
  reconcile_with_declared(c, *results);
  for (std::size_t i = 0; i < operation.outputs.size(); ++i) {
    const Declared& d = operation.outputs[i];
    if (i >= results->size()) {
      (void)c.error(fmt::format("has {} results, the file names {}", results->size(), operation.outputs.size()));
      return poison();
    }
    frame.values[d.name] = (*results)[i];
    const auto bind_items = [&](const auto& self, const Declared& list, const Value& value) -> void {
      const List* l = value.list();
      for (std::size_t k = 0; l && k < list.items.size() && k < l->items->size(); ++k) {
        frame.values[list.items[k].name] = (*l->items)[k];
        self(self, list.items[k], (*l->items)[k]);
      }
    };
    bind_items(bind_items, d, (*results)[i]);
  }
  return ok();
}

Result<std::vector<Value>> Importer::arguments(Frame& frame, const std::vector<Arg>& args, const Operation& at) {
  std::vector<Value> out;
  out.reserve(args.size());
  for (const Arg& a : args) {
    switch (a.kind) {
      case Arg::Kind::Ref: {
        auto v = look_up(frame, a.text, &at);
        if (!v) return Failure{};
        out.push_back(*std::move(v));
        break;
      }
      case Arg::Kind::None:
        out.push_back(Value::none());
        break;
      case Arg::Kind::Int:
        out.emplace_back(Scalar::of(a.integer));
        break;
      case Arg::Kind::Float:
        out.emplace_back(Scalar::of(a.real));
        break;
      case Arg::Kind::Bool:
        out.emplace_back(Scalar::truth(a.integer != 0));
        break;
      case Arg::Kind::Str:
        out.push_back(Value::text(std::string(a.text)));
        break;
      case Arg::Kind::Object:
        out.emplace_back(PythonObject{std::string(a.text)});
        break;
      case Arg::Kind::Tensor: {
        const std::string name(at.outputs.empty() ? std::string_view{} : at.outputs[0].name);
        out.push_back(Call::fresh(frame.builder.constant(*a.tensor, name, {.node = at.index})));
        break;
      }
      case Arg::Kind::List: {
        auto items = arguments(frame, a.items, at);
        if (!items) return Failure{};
        out.push_back(Value::list(*std::move(items)));
        break;
      }
    }
  }
  return out;
}

Result<Value> Importer::look_up(Frame& frame, std::string_view name, const Operation* at) {
  const auto found = frame.values.find(name);
  if (found != frame.values.end()) return found->second;
  if (frame.poisoned.count(name)) return Failure{};  // reported where it failed
  const auto parameter = parameters_.find(name);
  if (parameter != parameters_.end()) {
    const Parameter& p = *parameter->second;
    if (const auto shared = frame.values.find(p.name); shared != frame.values.end()) return shared->second;
    Literal literal = p.literal;
    literal.type = dims_.bind(literal.type);
    const bool number = p.written_out && literal.type.ranked() && literal.type.rank() == 0;
    const ValueId constant = frame.builder.constant(std::move(literal), p.label);
    if (number && !frame.outer) written_numbers_.insert(constant);
    Value v = Call::fresh(constant);
    frame.values.emplace(p.name, v);
    return v;
  }
  if (frame.outer) {
    auto outer = look_up(*frame.outer, name, at);
    if (!outer) return Failure{};
    auto here = capture(frame, *outer);
    if (!here) return Failure{};
    frame.values.emplace(name, *here);
    return here;
  }
  SourceLoc loc;
  if (at) loc.node = at->index;
  return diags_->error(loc, at && !at->outputs.empty() ? at->outputs[0].name : std::string_view{},
                       fmt::format("'{}' is used but nothing before makes it", name));
}

Result<std::vector<Value>> Importer::translate(Call& c) {
  const Operation& o = c.operation;
  auto python = python_operation(c);
  if (!python) return Failure{};
  if (*python) return **std::move(python);

  std::string_view name = o.op;
  for (const Value& v : c.args) {
    if (!is_bounded(v)) return c.error("an argument's lists hold too many items");
  }
  if (name.starts_with("aten::")) name.remove_prefix(6);
  std::vector<Value> args = c.args;
  std::string plain;
  c.row = find_row(name, o.args, args);
  if (!c.row && !has_row(name)) {
    if (name.starts_with("__i") && name.ends_with("__")) {
      plain = fmt::format("__{}", name.substr(3));
    } else if (name.ends_with("_") && !name.ends_with("__")) {
      plain = name.substr(0, name.size() - 1);
    }
    if (!plain.empty() && has_row(plain)) {
      c.in_place = true;
      name = plain;
      c.row = find_row(name, o.args, args);
      if (!c.row)
        return c.error(fmt::format("no overload takes these {} arguments; known: {}", o.args.size(), signatures(name)));
    }
  }
  if (c.row) {
    c.args = std::move(args);
    return c.row->translate ? c.row->translate(c) : map_row(c);
  }
  if (has_row(name)) {
    return c.error(fmt::format("no overload takes these {} arguments; known: {}", o.args.size(), signatures(name)));
  }

  // An unknown operator: typed from what the file declares.
  std::vector<TensorRef> tensors;
  for (const Value& v : c.args) collect(v, tensors);
  std::vector<ValueId> operands;
  for (const TensorRef& t : tensors) {
    auto v = c.read(t);
    if (!v) return Failure{};
    operands.push_back(*v);
  }
  for (const Declared& d : o.outputs) {
    if (d.tensor.is_tensor()) continue;
    return c.error(fmt::format("unknown operator, and the file does not declare the type of its result '{}'", d.name));
  }
  if (o.outputs.empty()) return c.error("unknown operator without a result");
  if (o.op.ends_with("_") && !o.op.ends_with("__")) {
    return c.error("unknown operator that writes to its argument in place");
  }
  c.warning("unknown operator: kept as opaque, its cost is not known");
  return c.finish(op("opaque"), std::move(operands), {{"source_op", std::string(o.op)}}, o.outputs.size());
}

void Importer::note_results(const Call& c, const std::vector<Value>& results, NodeId first) {
  const std::vector<Declared>& declared = c.operation.outputs;
  if (!declared.empty() && std::all_of(declared.begin(), declared.end(), [](const Declared& d) { return d.on_host; })) {
    for (auto id = first; id < c.builder().size(); ++id) computed_on_host_.insert(id);
    return;
  }
  std::vector<TensorRef> arguments, made;
  for (const Value& v : c.args) collect(v, arguments);
  for (const Value& v : results) collect(v, made);
  // torch.tensor(3.0) is on the host, and so is what is computed of such numbers: exported on a CPU, too.
  const auto is_written = [&](const TensorRef& t) { return written_numbers_.count(t->value) != 0; };
  if (!arguments.empty() && std::all_of(arguments.begin(), arguments.end(), is_written)) {
    for (const TensorRef& t : made) {
      if (const Type type = c.type(t->value); type.ranked() && type.rank() == 0) written_numbers_.insert(t->value);
    }
    if (std::all_of(made.begin(), made.end(), is_written)) {
      for (auto id = first; id < c.builder().size(); ++id) computed_on_host_.insert(id);
      return;
    }
  }
  // A copy from the host to where the weights are is no kernel.
  if (!arguments.empty() && !made.empty() && computed_on_host_.count(arguments[0]->value.node)) {
    const NodeId id = made[0]->value.node;
    const Node& n = c.builder().node(id);
    if (id >= first && n.kind == NodeKind::Call && keeps_elements(def(n.op).moves)) copied_from_host_.insert(id);
  }
  // A trace computes with sizes as 0-d tensors, which eager Python has as ints.
  const auto is_number = [&](const TensorRef& t) { return numbers_on_host_.count(t->value) != 0; };
  const bool number =
      c.operation.op == "prim::NumToTensor" || std::any_of(arguments.begin(), arguments.end(), is_number);
  for (const TensorRef& t : made) {
    const Type type = c.type(t->value);
    if (number && type.ranked() && type.rank() == 0) numbers_on_host_.insert(t->value);
    else if (c.row && t->value.node >= first) tensors_.insert(t->value.node);
  }
}

void Importer::reconcile_with_declared(Call& c, const std::vector<Value>& results) {
  if (!declared_holds()) return;
  for (std::size_t i = 0; i < results.size() && i < c.outputs(); ++i) {
    const Type& declared = c.operation.outputs[i].tensor;
    const TensorRef* t = results[i].tensor();
    if (!declared || !t) continue;
    const Type made = c.type((*t)->value);
    bool conflict = false;
    const Type merged = merge(made, dims_.bind(declared), &conflict);
    if (!conflict) {
      const bool is_last = (*t)->value.node + 1 == c.builder().size();
      if (is_last && declared_sizes_hold() && made.kind() == TypeKind::Tensor && made.ranked())
        c.builder().refine((*t)->value, sizes_of(made, merged));
      continue;
    }
    c.warning(fmt::format("the result is {}, but the file declares {}; using the former", to_string(made),
                          to_string(declared)));
  }
}

}  // namespace perfc::torch
