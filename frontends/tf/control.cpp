/// Functions and functional control flow. `branch` and `loop` also serve the
/// Switch/Merge form (frames.cpp).
#include <fmt/format.h>

#include <algorithm>

#include "frontends/tf/translators.h"
#include "ir/counted_rounds.h"

namespace perfc::tf {
namespace {

/// Lends a site's values to a region. Weights become constants of the region,
/// other tensors params that capture them.
class Captures {
 public:
  Captures(Site& outer, Site& inner) : outer_(outer), inner_(inner) {}

  /// The value as the region sees it; captured tensors are appended to `operands`.
  Value enter(const Value& v, const SourceLoc& loc) {
    if (v.is_tensor()) return Value::tensor(enter(v.id, loc));
    if (v.kind != Value::Kind::List || !v.list->dense) return v;
    List l = *v.list;
    l.dense = enter(l.dense, loc);
    return Value::of(std::move(l));
  }

  std::vector<ValueId> operands;  ///< of the outer graph
  std::vector<ResultInfo> infos;

 private:
  ValueId enter(ValueId v, const SourceLoc& loc) {
    const Node& n = outer_.builder.node(v.node);
    if (n.kind == NodeKind::Constant)
      return inner_.builder.constant({n.results[0].type, n.results[0].data}, n.name, n.loc);
    operands.push_back(v);
    infos.push_back({outer_.builder.type(v), outer_.builder.data_ref(v)});
    return inner_.builder.var(infos.back().type, n.name, loc, infos.back().data);
  }

  Site& outer_;
  Site& inner_;
};

Literal boolean(bool value) {
  auto data = std::make_shared<Data>();
  data->elements = std::vector<SymInt>{SymInt(value ? 1 : 0)};
  return {Type::tensor(DType::Bool, {}), data};
}

/// A condition that is not a bool counts as one when it is not zero.
Result<ValueId> as_bool(const Call& c, Site& site, ValueId v) {
  if (site.builder.type(v).dtype() == DType::Bool) return v;
  return site.builder.value(
      {.op = op("cast"), .operands = {v}, .attrs = {{"to", "bool"}}, .name = c.name, .loc = c.loc});
}

}  // namespace

Result<Values> Importer::call(Call& c, std::string_view function, const std::vector<AttrView>& attributes,
                              const Values& arguments) {
  return function_step(c, function, attributes)(c.scope.site, arguments);
}

Step Importer::function_step(Call& c, std::string_view function, const std::vector<AttrView>& attributes) {
  return [this, &c, function, &attributes](Site& site, const Values& arguments) -> Result<Values> {
    auto body = function_body(function);
    if (!body) return Failure{};
    if (!*body) return c.error(fmt::format("calls the function '{}', which the file does not hold", function));
    if (std::find(call_stack_.begin(), call_stack_.end(), function) != call_stack_.end()) {
      return c.error(fmt::format("the function '{}' calls itself", function));
    }
    if (c.scope.depth >= kMaxDepth || call_stack_.size() >= static_cast<std::size_t>(kMaxDepth)) {
      return c.error(fmt::format("functions are nested deeper than {}", kMaxDepth));
    }
    const FunctionView& f = (*body)->function;
    if (arguments.size() < f.args.size()) {
      return c.error(
          fmt::format("the function '{}' takes {} arguments, got {}", function, f.args.size(), arguments.size()));
    }
    Scope scope{.body = **body, .site = site, .arguments = arguments};
    scope.prefix = c.name + "/";
    scope.attributes = &attributes;
    scope.depth = c.scope.depth + 1;
    std::vector<Ref> wanted;
    for (const ArgView& result : f.results) {
      const auto ret =
          std::find_if(f.rets.begin(), f.rets.end(), [&](const auto& r) { return r.first == result.name; });
      if (ret == f.rets.end())
        return c.error(fmt::format("the function '{}' does not say what its result '{}' is", function, result.name));
      auto ref = resolve(**body, ret->second, c.loc, function);
      if (!ref) return Failure{};
      wanted.push_back(*ref);
    }
    call_stack_.push_back(function);
    auto values = evaluate(scope, wanted);
    call_stack_.pop_back();
    return values;
  };
}

Result<Values> Importer::branch(const Call& c, Site& site, ValueId selector, const std::vector<Step>& branches,
                                const Values& captured) {
  if (branches.empty() || branches.size() > static_cast<std::size_t>(kMaxDepth)) {
    return c.error(fmt::format("has {} branches; 1 to {} are read", branches.size(), kMaxDepth));
  }
  const bool is_index = site.builder.type(selector).dtype() != DType::Bool && branches.size() > 2;
  if (const auto known = known_integer(site.builder, selector)) {
    const auto last = static_cast<std::int64_t>(branches.size()) - 1;
    const std::int64_t chosen = *known < 0 || *known > last ? last : *known;
    return branches[static_cast<std::size_t>(chosen)](site, captured);
  }
  if (branches.size() == 1) return branches[0](site, captured);

  // Of more than two: `if index = 0`, and the rest in the else branch.
  Step taken = branches[1], other = branches[0];
  ValueId condition = selector;
  Values values = captured;
  if (is_index) {
    const DType dtype = site.builder.type(selector).dtype();
    auto zero = std::make_shared<Data>();
    zero->elements = std::vector<SymInt>{SymInt(0)};
    const ValueId first = site.builder.constant({Type::tensor(dtype, {}), zero}, {}, c.loc);
    const ValueId one = site.builder.constant(Literal{Type::tensor(dtype, {}),
                                                      [] {
      auto d = std::make_shared<Data>();
      d->elements = std::vector<SymInt>{SymInt(1)};
      return d;
                                                      }()},
                                              {}, c.loc);
    auto equal = site.builder.value({.op = op("equal"), .operands = {selector, first}, .name = c.name, .loc = c.loc});
    auto rest = site.builder.value({.op = op("subtract"), .operands = {selector, one}, .name = c.name, .loc = c.loc});
    if (!equal || !rest) return Failure{};
    condition = *equal;
    values.push_back(Value::tensor(*rest));
    taken = branches[0];
    const std::vector<Step> others(branches.begin() + 1, branches.end());
    other = [this, &c, others](Site& inner, const Values& with_index) -> Result<Values> {
      Values without(with_index.begin(), with_index.end() - 1);
      return branch(c, inner, with_index.back().id, others, without);
    };
  }
  auto cond = as_bool(c, site, condition);
  if (!cond) return Failure{};

  std::vector<ValueId> operands{*cond};
  std::vector<GraphRef> regions;
  std::size_t count = 0;
  bool first = true;
  for (const Step& step : {taken, other}) {
    GraphBuilder builder(*diags_);
    Site inner{.builder = builder, .in_loop = site.in_loop};
    Captures captures(site, inner);
    Values entered;
    for (const Value& v : values) entered.push_back(captures.enter(v, c.loc));
    auto results = step(inner, entered);
    if (!results) return Failure{};
    if (!first && results->size() != count) return c.error("its branches have different numbers of results");
    count = results->size();
    std::vector<ValueId> ids;
    for (const Value& v : *results) {
      if (!v.is_tensor()) return c.error("a branch returns a resource or a list of tensors; only tensors are read");
      ids.push_back(v.id);
    }
    if (first) operands.insert(operands.end(), captures.operands.begin(), captures.operands.end());
    regions.push_back(std::make_shared<const Graph>(
        finish_live(builder, first ? "then" : "else", ids, std::vector<std::string>(ids.size()), *diags_)));
    first = false;
  }
  if (count == 0) return Values{};
  auto id = site.builder.call({.op = op("if"),
                               .operands = operands,
                               .attrs = {{"captures", static_cast<std::int64_t>(operands.size() - 1)}},
                               .results = static_cast<int>(count),
                               .regions = std::move(regions),
                               .name = c.name,
                               .loc = c.loc});
  if (!id) return Failure{};
  Values out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(Value::tensor({*id, static_cast<std::uint32_t>(i)}));
  return out;
}

Result<Values> Importer::loop(const Call& c, Site& site, const Values& init, const std::vector<bool>& invariant,
                              const Step& condition, const Step& body) {
  if (c.scope.depth >= kMaxDepth) return c.error(fmt::format("bodies are nested deeper than {}", kMaxDepth));
  // Tensors that change are carried; what stays, and lists written as a whole
  // before, are captured; a list that the body writes becomes a stacked result.
  std::vector<std::size_t> carried;
  for (std::size_t i = 0; i < init.size(); ++i) {
    if (init[i].is_tensor() && !invariant[i]) carried.push_back(i);
  }
  std::vector<ResultInfo> carried_infos;
  carried_infos.reserve(carried.size());
  for (std::size_t i : carried)
    carried_infos.push_back({site.builder.type(init[i].id), site.builder.data_ref(init[i].id)});

  std::optional<std::int64_t> trips;
  std::vector<std::size_t> stacked;
  for (;;) {
    GraphBuilder builder(*diags_);
    Site inner{.builder = builder, .in_loop = true};
    Captures captures(site, inner);
    // Formal params first: iteration, condition, carried values.
    std::vector<ResultInfo> operand_infos{{Type::tensor(DType::Int64, {}), nullptr},
                                          {Type::tensor(DType::Bool, {}), nullptr}};
    operand_infos.insert(operand_infos.end(), carried_infos.begin(), carried_infos.end());
    const std::vector<ResultInfo> formals =
        region_params(op("loop"), {{"captures", std::int64_t{0}}}, 0, operand_infos, operand_infos.size());
    if (formals.size() != operand_infos.size()) return c.error("its variables do not fit a loop");
    std::vector<ValueId> params;
    for (std::size_t k = 0; k < formals.size(); ++k) {
      params.push_back(builder.var(formals[k].type,
                                   k == 0   ? "iteration"
                                   : k == 1 ? "condition"
                                            : "",
                                   c.loc, formals[k].data));
    }
    params.erase(params.begin(), params.begin() + 2);
    Values values(init.size());
    for (std::size_t i = 0, k = 0; i < init.size(); ++i) {
      const bool is_carried = k < carried.size() && carried[k] == i;
      values[i] = is_carried ? Value::tensor(params[k++]) : captures.enter(init[i], c.loc);
    }
    auto before = condition(inner, values);
    if (!before) return Failure{};
    auto after = body(inner, values);
    if (!after) return Failure{};
    if (before->size() != 1 || !(*before)[0].is_tensor()) return c.error("its condition is not one tensor");
    if (after->size() < init.size())
      return c.error(fmt::format("its body returns {} values for {} variables", after->size(), init.size()));
    std::vector<ValueId> results;
    std::vector<Carried> counters;
    for (std::size_t k = 0; k < carried.size(); ++k) {
      const Value& next = (*after)[carried[k]];
      if (!next.is_tensor())
        return c.error(fmt::format("its body does not return a tensor for variable {}", carried[k]));
      results.push_back(next.id);
      counters.push_back({params[k], next.id, known_integer(site.builder, init[carried[k]].id)});
    }
    trips = rounds_while(builder, counters, (*before)[0].id);
    if (trips == 0) return init;

    ValueId keep_on;
    if (trips) {
      keep_on = builder.constant(boolean(true), {}, c.loc);
    } else {
      auto next = condition(inner, *after);
      if (!next || next->size() != 1 || !(*next)[0].is_tensor()) return Failure{};
      auto as_condition = as_bool(c, inner, (*next)[0].id);
      if (!as_condition) return Failure{};
      keep_on = *as_condition;
    }
    stacked.clear();
    std::vector<ValueId> all{keep_on};
    all.insert(all.end(), results.begin(), results.end());
    for (std::size_t i = 0; i < init.size(); ++i) {
      const Value& v = (*after)[i];
      if (init[i].kind != Value::Kind::List) continue;
      if (v.kind != Value::Kind::List)
        return c.error(fmt::format("its body does not return a list for variable {}", i));
      if (!v.list->written) continue;
      stacked.push_back(i);
      all.push_back(v.list->written);
    }
    const Graph graph = finish_live(builder, "body", all, std::vector<std::string>(all.size()), *diags_);
    std::vector<ValueId> operands;
    if (trips) {
      operands = {site.builder.constant(int64_scalar(*trips), {}, c.loc), ValueId{}};
    } else {
      auto first = condition(site, init);
      if (!first || first->size() != 1 || !(*first)[0].is_tensor()) return Failure{};
      auto cond = as_bool(c, site, (*first)[0].id);
      if (!cond) return Failure{};
      operands = {ValueId{}, *cond};
    }
    for (std::size_t i : carried) operands.push_back(init[i].id);
    operands.insert(operands.end(), captures.operands.begin(), captures.operands.end());
    Attrs attrs{{"captures", static_cast<std::int64_t>(captures.operands.size())}};
    std::vector<ResultInfo> infos = operand_infos;
    infos.insert(infos.end(), captures.infos.begin(), captures.infos.end());
    if (widen_carried(op("loop"), attrs, graph, infos)) {
      std::copy(infos.begin() + 2, infos.begin() + 2 + static_cast<std::ptrdiff_t>(carried.size()),
                carried_infos.begin());
      continue;
    }
    auto id = site.builder.call({.op = op("loop"),
                                 .operands = operands,
                                 .attrs = attrs,
                                 .results = static_cast<int>(carried.size() + stacked.size()),
                                 .regions = {std::make_shared<const Graph>(graph)},
                                 .name = c.name,
                                 .loc = c.loc});
    if (!id) return Failure{};
    Values out = init;
    std::uint32_t r = 0;
    for (std::size_t i : carried) out[i] = Value::tensor({*id, r++});
    for (std::size_t i : stacked) {
      List l = *init[i].list;
      l.dense = {*id, r++};
      l.written = {};
      if (trips) l.count = SymInt(*trips);
      out[i] = Value::of(std::move(l));
    }
    return out;
  }
}

// ---- Operators

Result<Values> partitioned_call(Call& c, const OpRow&) {
  const auto f = c.attr("f");
  if (!f || f->functions.size() != 1) return c.error("has no function");
  Damage damage;
  const auto ref = decode_function_ref(f->functions[0], damage);
  if (!ref) return c.importer.damaged(damage);
  return c.importer.call(c, ref->name, ref->attrs, c.inputs);
}

/// If(cond, inputs…), StatelessIf: the predicate may be a number.
Result<Values> functional_if(Call& c, const OpRow&) {
  auto cond = c.tensor(0);
  if (!cond) return Failure{};
  std::vector<FunctionRef> refs;
  for (std::string_view key : {"else_branch", "then_branch"}) {
    const auto f = c.attr(key);
    if (!f || f->functions.size() != 1) return c.error(fmt::format("has no {}", key));
    Damage damage;
    auto ref = decode_function_ref(f->functions[0], damage);
    if (!ref) return c.importer.damaged(damage);
    refs.push_back(std::move(*ref));
  }
  const Values captured(c.inputs.begin() + 1, c.inputs.end());
  return c.importer.branch(c, c.scope.site, *cond,
                           {c.importer.function_step(c, refs[0].name, refs[0].attrs),
                            c.importer.function_step(c, refs[1].name, refs[1].attrs)},
                           captured);
}

Result<Values> functional_case(Call& c, const OpRow&) {
  auto index = c.tensor(0);
  const auto branches = c.attr("branches");
  if (!index || !branches || branches->functions.empty()) return c.error("has no branches");
  std::vector<FunctionRef> refs;
  for (Bytes b : branches->functions) {
    Damage damage;
    auto ref = decode_function_ref(b, damage);
    if (!ref) return c.importer.damaged(damage);
    refs.push_back(std::move(*ref));
  }
  std::vector<Step> steps;
  steps.reserve(refs.size());
  for (const FunctionRef& r : refs) steps.push_back(c.importer.function_step(c, r.name, r.attrs));
  return c.importer.branch(c, c.scope.site, *index, steps, Values(c.inputs.begin() + 1, c.inputs.end()));
}

Result<Values> functional_while(Call& c, const OpRow&) {
  std::vector<FunctionRef> refs;
  for (std::string_view key : {"cond", "body"}) {
    const auto f = c.attr(key);
    if (!f || f->functions.size() != 1) return c.error(fmt::format("has no {}", key));
    Damage damage;
    auto ref = decode_function_ref(f->functions[0], damage);
    if (!ref) return c.importer.damaged(damage);
    refs.push_back(std::move(*ref));
  }
  auto body = c.importer.function_body(refs[1].name);
  if (!body) return Failure{};
  if (!*body) return c.error(fmt::format("calls the function '{}', which the file does not hold", refs[1].name));
  const FunctionView& f = (*body)->function;
  std::vector<bool> invariant(c.inputs.size(), false);
  for (std::size_t i = 0; i < c.inputs.size() && i < f.results.size(); ++i) {
    const auto ret =
        std::find_if(f.rets.begin(), f.rets.end(), [&](const auto& r) { return r.first == f.results[i].name; });
    if (ret == f.rets.end()) continue;
    auto ref = c.importer.resolve(**body, ret->second, c.loc, c.name);
    if (!ref) return Failure{};
    invariant[i] = c.importer.behind_identities(**body, *ref) == Ref{static_cast<std::uint32_t>(i), 0, true};
  }
  return c.importer.loop(c, c.scope.site, c.inputs, invariant, c.importer.function_step(c, refs[0].name, refs[0].attrs),
                         c.importer.function_step(c, refs[1].name, refs[1].attrs));
}

/// A Switch whose Merge was not found leaves its data on both sides.
Result<Values> pass_both(Call& c, const OpRow&) {
  if (c.inputs.empty()) return c.error("has no input");
  return Values{c.inputs[0], c.inputs[0]};
}

Result<Values> leave_frame(Call& c, const OpRow&) { return c.importer.leave_frame(c); }
Result<Values> join(Call& c, const OpRow&) { return c.importer.join(c); }

Result<Values> outside_frame(Call& c, const OpRow&) {
  return c.error("is read from outside of its loop; the graph's control flow is damaged");
}

Result<Values> identity(Call& c, const OpRow&) { return c.inputs; }
Result<Values> no_values(Call&, const OpRow&) { return Values{}; }

Result<Values> refused_xla(Call& c, const OpRow&) {
  return c.error(
      "its body is serialised StableHLO, which perfc does not read; export without it (jax2tf: "
      "native_serialization=False; "
      "Keras: the TensorFlow backend)");
}

}  // namespace perfc::tf
