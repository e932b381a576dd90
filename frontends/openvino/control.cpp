/// Bodies: TensorIterator, Loop, If; and variables.
#include <algorithm>

#include "frontends/openvino/table.h"
#include "ir/control_flow.h"
#include "ir/counted_rounds.h"

namespace perfc::openvino {
namespace {

constexpr int kMaxDepth = 16;

/// Lends the importer another sink for the messages of a trial run.
class BodyTrial {
 public:
  explicit BodyTrial(Diagnostics*& slot) : slot_(slot), real_(slot), messages_(slot->file()) { slot = &messages_; }
  ~BodyTrial() {
    slot_ = real_;
    if (kept_) real_->append(messages_);
  }
  void keep() { kept_ = true; }
  Diagnostics& diagnostics() { return messages_; }

 private:
  Diagnostics*& slot_;
  Diagnostics* real_;
  Diagnostics messages_;
  bool kept_ = false;
};

/// Place of a layer by its id among parameters or results of a body.
std::optional<std::size_t> index_of(const Net& net, const std::vector<std::size_t>& among, std::int64_t id) {
  const auto found = std::ranges::find(among, id, [&](std::size_t i) { return net.layers[i].id; });
  return found == among.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - among.begin()));
}

std::optional<std::size_t> port_index(const std::vector<Port>& ports, std::int64_t id) {
  const auto found = std::ranges::find(ports, id, &Port::id);
  return found == ports.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - ports.begin()));
}

/// A loop as its port map tells it, by places in lists.
struct LoopPlan {
  struct Carried {
    std::size_t parameter, result, operand;
  };
  struct Sliced {
    std::size_t parameter, operand;
    PortMap map;
  };
  struct Output {
    std::size_t result;
    PortMap map;
  };
  std::vector<Carried> carried;
  std::vector<Sliced> sliced;
  std::vector<std::pair<std::size_t, std::size_t>> fixed;  ///< parameter, operand
  std::vector<Output> outputs;                             ///< by output of the layer
  std::optional<std::size_t> iteration, condition;         ///< parameter; result
};

Result<LoopPlan> plan_of(const Call& c, const Body& body) {
  LoopPlan plan;
  const Net& net = *body.net;
  plan.outputs.resize(c.layer.outputs.size(), {net.results.size(), {}});
  for (const PortMap& m : body.ports) {
    if (m.output) {
      const auto result = index_of(net, net.results, m.internal);
      if (!result) return c.error(fmt::format("its port map names result {}, which the body has not", m.internal));
      if (m.purpose == "execution_condition") plan.condition = *result;
      if (m.external < 0) continue;
      const auto port = port_index(c.layer.outputs, m.external);
      if (!port) return c.error(fmt::format("its port map names port {}, which the layer has not", m.external));
      plan.outputs[*port] = {*result, m};
      continue;
    }
    const auto parameter = index_of(net, net.parameters, m.internal);
    if (m.purpose == "current_iteration") {
      plan.iteration = parameter;
      continue;
    }
    if (m.internal < 0) continue;  // the trip count, the first condition
    const auto port = port_index(c.layer.inputs, m.external);
    if (!parameter || !port || !c.has(*port))
      return c.error(
          fmt::format("its port map binds port {} to parameter {}; one is not there", m.external, m.internal));
    const auto edge = std::ranges::find(body.back_edges, m.internal, &BackEdge::to);
    if (m.axis >= 0) {
      plan.sliced.push_back({*parameter, *port, m});
    } else if (edge != body.back_edges.end()) {
      const auto result = index_of(net, net.results, edge->from);
      if (!result) return c.error(fmt::format("a back edge from {}, which is no result", edge->from));
      plan.carried.push_back({*parameter, *result, *port});
    } else {
      plan.fixed.emplace_back(*parameter, *port);
    }
  }
  for (const LoopPlan::Output& o : plan.outputs) {
    if (o.result == net.results.size()) return c.error("an output that its port map does not name");
  }
  return plan;
}

/// A TensorArray that starts as a constant with 1s for the extents of its elements, in the shape that it ends in.
Operand reserved(const Call& c, ValueId start, const Type& last) {
  const Type& type = c.type(start);
  // Declared shapes have no element type, and so are not static.
  const bool known = last.is_tensor() && last.ranked() && element_count(last.shape());
  if (!known || !type.is_static() || type.rank() != last.rank() || !c.data(start)) return start;
  Ints sizes;
  bool wider = false;
  for (std::size_t i = 0; i < type.rank(); ++i) {
    const Dim &from = type.shape()[i], &to = last.shape()[i];
    if (from != to && !from.is(1)) return start;
    wider = wider || from != to;
    sizes.push_back(to.value());
  }
  return wider ? c.emit(op("broadcast_to"), {start, c.int_constant(sizes)}) : Operand(start);
}

/// How many rounds: of Loop, operand 0 unless it is −1; of what is sliced, its parts.
Operand rounds_of(const Call& c, const LoopPlan& plan) {
  if (c.layer.type == "Loop") {
    if (const auto n = c.known_ints(0); n && n->size() == 1 && n->front() < 0) return ValueId{};
    return c.reshape(c.cast(c.tensor(0), DType::Int64), {});
  }
  if (plan.sliced.empty()) return c.error("nothing is sliced, so that how often it runs is not known");
  const LoopPlan::Sliced& s = plan.sliced.front();
  auto extent = c.shape_of(c.operands[s.operand], s.map.axis, s.map.axis + 1);
  if (s.map.part > 1) extent = c.emit(op("divide"), {extent, c.int_constant({s.map.part})});
  return c.reshape(extent, {});
}

}  // namespace

Values Importer::run_body(Frame& inner, const std::vector<ValueId>& parameters) {
  inner.values.resize(inner.net.layers.size());
  for (std::size_t i = 0; i < parameters.size(); ++i) inner.values[inner.net.parameters[i]] = {parameters[i]};
  if (!run_layers(inner)) return Failure{};
  std::vector<ValueId> out;
  for (std::size_t r : inner.net.results) {
    if (inner.values[r].empty() || !inner.values[r].front()) return Failure{};
    out.push_back(inner.values[r].front());
  }
  return out;
}

/// Slices are taken in the body, by the number of the round; what is stacked gets its axis moved behind the loop.
Values Importer::loop(Call& c) {
  if (c.layer.bodies.empty()) return c.error("has no body");
  if (c.frame.depth >= kMaxDepth) return c.error(fmt::format("bodies are nested deeper than {}", kMaxDepth));
  const Body& body = c.layer.bodies.front();
  const auto plan = plan_of(c, body);
  const auto rounds = plan ? rounds_of(c, *plan) : Operand(Failure{});
  if (!rounds) return Failure{};
  if (std::ranges::any_of(plan->sliced, [](const auto& s) { return s.map.part != 1; }) ||
      std::ranges::any_of(plan->outputs, [](const auto& o) { return o.map.part != 1 && o.map.axis >= 0; }))
    return c.unpriced();
  std::vector<ValueId> operands{*rounds, c.layer.type == "Loop" && c.has(1) ? c.operands[1] : ValueId{}};
  for (const auto& v : plan->carried) {
    const auto out = std::ranges::find_if(
        plan->outputs, [&](const LoopPlan::Output& o) { return o.result == v.result && o.map.axis < 0; });
    const Type last =
        out == plan->outputs.end() ? Type{} : c.declared_shape(static_cast<std::size_t>(out - plan->outputs.begin()));
    auto start = reserved(c, c.operands[v.operand], last);
    if (!start) return Failure{};
    operands.push_back(*start);
  }
  const std::size_t first_capture = operands.size();
  for (const auto& v : plan->sliced) operands.push_back(c.operands[v.operand]);
  for (const auto& v : plan->fixed) operands.push_back(c.operands[v.second]);
  const Attrs attrs{{"captures", static_cast<std::int64_t>(operands.size() - first_capture)}};
  std::vector<ResultInfo> infos;
  infos.reserve(operands.size());
  for (ValueId v : operands) infos.push_back(v ? ResultInfo{c.type(v), c.builder().data_ref(v)} : ResultInfo{});
  infos[0] = {Type::tensor(DType::Int64, {}), operands[0] ? c.builder().data_ref(operands[0]) : nullptr};
  infos[1] = {Type::tensor(DType::Bool, {}), operands[1] ? c.builder().data_ref(operands[1]) : nullptr};

  // Outputs that the body carries are its last values; all others are stacked.
  std::vector<std::size_t> stacked;
  for (const auto& o : plan->outputs) {
    const bool is_carried =
        o.map.axis < 0 && std::ranges::find(plan->carried, o.result, &LoopPlan::Carried::result) != plan->carried.end();
    if (!is_carried) stacked.push_back(static_cast<std::size_t>(&o - plan->outputs.data()));
  }
  GraphRef region;
  std::optional<std::int64_t> counted;  // rounds that a counter of the body tells
  const auto enters = operands[1] ? known_integer(c.builder(), operands[1]) : std::optional<std::int64_t>(1);
  while (!region) {
    BodyTrial trial(diags_);
    const auto failed = [&]() -> Values {
      trial.keep();
      return Failure{};
    };
    GraphBuilder builder(trial.diagnostics());
    Frame inner{.builder = builder, .net = *body.net, .depth = c.frame.depth + 1};
    const auto params = region_params(op("loop"), attrs, 0, infos, infos.size());
    if (params.size() != infos.size()) return c.error("its values do not fit a loop");
    std::vector<ValueId> vars;
    for (std::size_t i = 0; i < params.size(); ++i)
      vars.push_back(builder.var(params[i].type, i == 0 ? "iteration" : "", c.loc, params[i].data));
    Call inside(*this, inner, c.layer, {}, nullptr);
    std::vector<ValueId> parameters(body.net->parameters.size());
    if (plan->iteration) {
      const Layer& l = body.net->layers[body.net->parameters[*plan->iteration]];
      const Type t = l.outputs.empty() ? Type{} : l.outputs.front().type;
      auto i = inside.cast(vars[0], t.is_tensor() ? t.dtype() : DType::Int64);
      if (i && t.ranked() && t.rank() == 1) i = inside.reshape(i, {1});
      if (!i) return failed();
      parameters[*plan->iteration] = *i;
    }
    std::size_t next = 2;
    for (const auto& v : plan->carried) parameters[v.parameter] = vars[next++];
    for (const auto& v : plan->sliced) {
      Operand at = vars[0];
      if (v.map.stride < 0) {
        auto extent = inside.reshape(inside.shape_of(vars[next], v.map.axis, v.map.axis + 1), {});
        at = inside.emit(op("subtract"), {extent, inside.emit(op("add"), {at, inside.number(1, DType::Int64)})});
      }
      auto part = inside.expand_dims(inside.emit(op("take"), {vars[next++], at}, {{"axis", v.map.axis}}), {v.map.axis});
      if (!part) return failed();
      parameters[v.parameter] = *part;
    }
    for (const auto& v : plan->fixed) parameters[v.first] = vars[next++];
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (!parameters[i]) return inside.error(fmt::format("nothing binds parameter {} of the body", i)), failed();
    }
    const auto made = run_body(inner, parameters);
    if (!made) return failed();
    auto go_on = plan->condition ? inside.reshape(inside.cast((*made)[*plan->condition], DType::Bool), {})
                                 : Operand(inside.number(1, DType::Bool));
    if (!go_on) return failed();
    if (!operands[0] && enters && *enters != 0) {
      std::vector<Carried> counters;
      for (std::size_t i = 0; i < plan->carried.size(); ++i) {
        counters.push_back(
            {vars[2 + i], (*made)[plan->carried[i].result], known_integer(c.builder(), operands[2 + i])});
      }
      counted = rounds_until(builder, counters, *go_on);
      if (counted) go_on = inside.number(1, DType::Bool);
    }
    std::vector<ValueId> results{*go_on};
    for (const auto& v : plan->carried) results.push_back((*made)[v.result]);
    for (std::size_t i : stacked) {
      const LoopPlan::Output& o = plan->outputs[i];
      auto part = o.map.axis < 0 ? Operand((*made)[o.result]) : inside.squeeze((*made)[o.result], {o.map.axis});
      if (!part) return failed();
      results.push_back(*part);
    }
    std::vector<std::string> names(results.size());
    auto graph = std::make_shared<const Graph>(builder.finish("body", std::move(results), std::move(names)));
    if (widen_carried(op("loop"), attrs, *graph, infos)) continue;
    trial.keep();
    region = std::move(graph);
  }
  if (counted) {
    operands[0] = c.number(static_cast<double>(*counted), DType::Int64);
    operands[1] = ValueId{};
  }
  std::vector<Type> declared_types(plan->carried.size());
  for (std::size_t i = 0; i < plan->outputs.size(); ++i) {
    const auto v = std::ranges::find(plan->carried, plan->outputs[i].result, &LoopPlan::Carried::result);
    if (v != plan->carried.end() && plan->outputs[i].map.axis < 0)
      declared_types[static_cast<std::size_t>(v - plan->carried.begin())] = c.declared_shape(i);
  }
  const auto id = c.builder().call({.op = op("loop"),
                                    .operands = std::move(operands),
                                    .attrs = attrs,
                                    .results = static_cast<int>(plan->carried.size() + stacked.size()),
                                    .declared = std::move(declared_types),
                                    .regions = {region},
                                    .name = c.name,
                                    .loc = c.loc});
  if (!id) return Failure{};
  std::vector<ValueId> out;
  for (std::size_t i = 0; i < plan->outputs.size(); ++i) {
    const LoopPlan::Output& o = plan->outputs[i];
    const auto at = std::ranges::find(stacked, i);
    if (at == stacked.end()) {
      const auto v = std::ranges::find(plan->carried, o.result, &LoopPlan::Carried::result);
      out.push_back({*id, static_cast<std::uint32_t>(v - plan->carried.begin())});
      continue;
    }
    const ValueId whole{*id, static_cast<std::uint32_t>(plan->carried.size() + (at - stacked.begin()))};
    Operand v = whole;
    if (o.map.axis < 0) {  // of the last round
      v = c.squeeze(c.slice(whole, 0, -1, INT64_MAX), {0});
    } else if (o.map.axis > 0) {
      const auto rank = c.rank(whole);
      if (!rank) return Failure{};
      Ints perm;
      for (std::int64_t a = 1; a < *rank; ++a) perm.push_back(a);
      perm.insert(perm.begin() + std::min<std::int64_t>(o.map.axis, *rank - 1), 0);
      v = c.transpose(whole, perm);
    }
    if (!v) return Failure{};
    out.push_back(*v);
  }
  return out;
}

/// (condition, …): a condition known at import leaves its branch.
Values Importer::branches(Call& c) {
  const auto condition = c.tensor(0);
  if (!condition) return Failure{};
  if (c.layer.bodies.size() != 2) return c.error("needs two bodies");
  if (c.frame.depth >= kMaxDepth) return c.error(fmt::format("bodies are nested deeper than {}", kMaxDepth));
  const auto operands_of = [&](const Body& b) -> Values {
    std::vector<ValueId> out(b.net->parameters.size());
    for (const PortMap& m : b.ports) {
      if (m.output) continue;
      const auto parameter = index_of(*b.net, b.net->parameters, m.internal);
      const auto port = port_index(c.layer.inputs, m.external);
      if (!parameter || !port || !c.has(*port)) return c.error("its port map names what is not there");
      out[*parameter] = c.operands[*port];
    }
    if (std::ranges::find(out, ValueId{}) != out.end()) return c.error("nothing binds a parameter of a branch");
    return out;
  };
  const auto in_order = [&](const Body& b, const std::vector<ValueId>& results) -> Values {
    std::vector<ValueId> out(c.layer.outputs.size());
    for (const PortMap& m : b.ports) {
      if (!m.output) continue;
      const auto result = index_of(*b.net, b.net->results, m.internal);
      const auto port = port_index(c.layer.outputs, m.external);
      if (!result || !port) return c.error("its port map names what is not there");
      out[*port] = results[*result];
    }
    if (std::ranges::find(out, ValueId{}) != out.end()) return c.error("a branch does not give every output");
    return out;
  };
  if (const auto known = known_integer(c.builder(), *condition)) {
    const Body& taken = c.layer.bodies[*known != 0 ? 0 : 1];
    const auto given = operands_of(taken);
    if (!given) return Failure{};
    Frame inner{.builder = c.builder(), .net = *taken.net, .depth = c.frame.depth + 1};
    const auto made = run_body(inner, *given);
    return made ? in_order(taken, *made) : Values(Failure{});
  }
  const auto flag = c.reshape(c.cast(condition, DType::Bool), {});
  if (!flag) return Failure{};
  std::vector<ValueId> operands{*flag};
  std::vector<std::size_t> first;
  for (const Body& b : c.layer.bodies) {
    const auto given = operands_of(b);
    if (!given) return Failure{};
    first.push_back(operands.size() - 1);
    operands.insert(operands.end(), given->begin(), given->end());
  }
  std::vector<GraphRef> regions;
  for (std::size_t i = 0; i < 2; ++i) {
    const Body& b = c.layer.bodies[i];
    GraphBuilder builder(*diags_);
    std::vector<ValueId> vars;
    for (std::size_t v = 1; v < operands.size(); ++v)
      vars.push_back(builder.var(c.type(operands[v]), "", c.loc, c.builder().data_ref(operands[v])));
    const auto from = vars.begin() + static_cast<std::ptrdiff_t>(first[i]);
    Frame inner{.builder = builder, .net = *b.net, .depth = c.frame.depth + 1};
    const auto made = run_body(inner, {from, from + static_cast<std::ptrdiff_t>(b.net->parameters.size())});
    auto results = made ? in_order(b, *made) : Values(Failure{});
    if (!results) return Failure{};
    std::vector<std::string> names(results->size());
    regions.push_back(
        std::make_shared<const Graph>(builder.finish(std::string(b.tag), *std::move(results), std::move(names))));
  }
  const auto captures = static_cast<std::int64_t>(operands.size() - 1);
  const auto id = c.builder().call({.op = op("if"),
                                    .operands = std::move(operands),
                                    .attrs = {{"captures", captures}},
                                    .results = static_cast<int>(c.layer.outputs.size()),
                                    .regions = std::move(regions),
                                    .name = c.name,
                                    .loc = c.loc});
  if (!id) return Failure{};
  std::vector<ValueId> out;
  for (std::uint32_t i = 0; i < c.layer.outputs.size(); ++i) out.push_back({*id, i});
  return out;
}

Values loop(Call& c) { return c.importer.loop(c); }
Values branches(Call& c) { return c.importer.branches(c); }

/// The variable's initial value; without one, a value of the declared type that is there from before.
Values read_value(Call& c) {
  if (c.has(0)) return one(c.tensor(0));
  const Type t = c.layer.outputs.empty() ? Type{} : c.importer.declared(c.layer.outputs.front());
  if (!t.is_tensor() || !t.ranked()) return c.error("a variable without an initial value or a type");
  return one(c.builder().constant({t, nullptr}, std::string(c.text_or("variable_id", "")), c.loc));
}

}  // namespace perfc::openvino
