/// Functions, branches and loops.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "frontends/stablehlo/translators.h"
#include "ir/control_flow.h"
#include "ir/counted_rounds.h"
#include "ir/rewriter.h"

namespace perfc::stablehlo {
namespace {

Literal truth() {
  auto data = std::make_shared<Data>();
  data->elements = std::vector<SymInt>{SymInt(1)};
  return {Type::tensor(DType::Bool, {}), std::move(data)};
}

/// A body under construction: a graph of its own within that of the call.
struct Body {
  explicit Body(const Call& c)
      : builder(c.builder().diagnostics()), site{.builder = builder, .outer = &c.scope.site},
        scope{.site = site, .parent = &c.scope, .depth = c.scope.depth + 1} {}

  GraphBuilder builder;
  Site site;
  Scope scope;
};

Status check_depth(const Call& c) {
  if (c.scope.depth < kMaxRegionDepth) return ok();
  return c.error(fmt::format("regions are nested deeper than {}", kMaxRegionDepth));
}

Result<std::vector<ValueId>> tensors_of(const Call& inside, const Values& values) {
  std::vector<ValueId> out;
  for (const Value& v : values) {
    auto id = inside.tensor(v);
    if (!id) return Failure{};
    out.push_back(*id);
  }
  return out;
}

// ---- Branches

/// Computes values in a scope.
using Step = std::function<Result<Values>(Scope&)>;

/// Values from outside that operations of a region use.
void collect_uses(const Region& region, std::vector<Operand>& out) {
  for (const Operation& o : region.operations) {
    out.insert(out.end(), o.operands.begin(), o.operands.end());
    for (const Region& inner : o.regions) collect_uses(inner, out);
  }
}

/// Both branches take what either of them uses, and the index: `first` is the first region that is left.
Status enter_all(Call& c, Scope& scope, std::size_t first) {
  std::vector<Operand> uses = c.operation.operands;
  for (std::size_t i = first; i < c.operation.regions.size(); ++i) collect_uses(c.operation.regions[i], uses);
  for (const Operand& use : uses) {
    if (c.importer.visible(c.scope, use) && !c.importer.look_up(scope, use, c.operation)) return Failure{};
  }
  return ok();
}

Result<Values> branch_on(Call& c, ValueId condition, std::size_t first, const Step& taken, const Step& other) {
  std::vector<GraphRef> regions;
  std::vector<ValueId> operands;
  for (const Step* step : {&taken, &other}) {
    Body body(c);
    if (!enter_all(c, body.scope, first)) return Failure{};
    auto results = (*step)(body.scope);
    auto ids = results ? tensors_of(Call(c.importer, body.scope, c.operation), *results)
                       : Result<std::vector<ValueId>>(Failure{});
    if (!ids) return Failure{};
    regions.push_back(std::make_shared<const Graph>(
        c.importer.finish(body.builder, "branch", *ids, std::vector<std::string>(ids->size()))));
    operands = body.site.captures;
  }
  const std::size_t count = regions[0]->results().size();
  if (regions[1]->results().size() != count) return c.error("its branches have different numbers of results");
  if (count == 0) return Values{};
  const auto captures = static_cast<std::int64_t>(operands.size());
  operands.insert(operands.begin(), condition);
  auto id = c.builder().call({.op = op("if"),
                              .operands = std::move(operands),
                              .attrs = {{"captures", captures}},
                              .results = static_cast<int>(count),
                              .regions = std::move(regions),
                              .name = c.name,
                              .loc = c.loc});
  if (!id) return Failure{};
  Values out;
  for (std::uint32_t i = 0; i < count; ++i) out.push_back(c.whole(ValueId{*id, i}));
  return out;
}

/// A region that nothing chooses: its operations stand where the call stood.
Result<Values> in_place(Call& c, const Region& region) {
  Scope inner{.site = c.scope.site, .parent = &c.scope, .depth = c.scope.depth + 1};
  return c.importer.run_region(inner, region);
}

/// case: the last branch also takes every index out of range. Of more than two, `if index = 0`, and the rest nested.
Result<Values> branch_of(Call& c, const Operand& index, std::size_t first) {
  const auto& regions = c.operation.regions;
  if (first + 1 == regions.size()) return in_place(c, regions[first]);
  if (!check_depth(c)) return Failure{};
  auto value = c.importer.look_up(c.scope, index, c.operation);
  if (!value) return Failure{};
  const Value number{.base = c.number(static_cast<double>(first), value->type.dtype()), .type = value->type};
  auto equal = c.pointwise(op("equal"), {&*value, &number});
  if (!equal) return Failure{};
  return branch_on(
      c, equal->base, first, [&](Scope& s) { return c.importer.run_region(s, regions[first]); },
      [&](Scope& s) -> Result<Values> {
        Call rest(c.importer, s, c.operation);
        return branch_of(rest, index, first + 1);
      });
}

// ---- Loops

/// Which variables does the body return as they came?
std::vector<bool> unchanged(const Region& body) {
  std::vector<bool> out(body.arguments.size(), false);
  if (body.operations.empty()) return out;
  const auto& returned = body.operations.back().operands;
  for (std::size_t i = 0; i < out.size() && i < returned.size(); ++i)
    out[i] = returned[i].name == body.arguments[i].name && returned[i].result == 0;
  return out;
}

class Loop {
 public:
  explicit Loop(Call& c) : c_(c), invariant_(unchanged(c.operation.regions[1])) {}

  Result<Values> run() {
    for (std::size_t i = 0; i < c_.operands.size(); ++i) {
      if (invariant_[i]) continue;
      auto v = c_.tensor(i);
      if (!v) return Failure{};
      carried_.push_back(i);
      initial_.push_back(*v);
      infos_.push_back({c_.builder().type(*v), c_.builder().data_ref(*v)});
    }
    for (;;) {
      auto done = round();
      if (!done) return Failure{};
      if (*done) return std::move(results_);
    }
  }

 private:
  /// Builds the body for the types of this round; false: they have to be wider.
  Result<bool> round() {
    Body body(c_);
    const std::vector<ValueId> params = formals(body);
    if (params.size() != carried_.size()) return c_.error("its variables do not fit a loop");
    const Region &condition = c_.operation.regions[0], &step = c_.operation.regions[1];
    auto before = run_with(body, condition, params);
    if (!before) return Failure{};
    if (before->size() != 1) return c_.error("its condition is not one value");
    auto after = run_with(body, step, params);
    if (!after) return Failure{};
    if (after->size() != c_.operands.size())
      return c_.error(fmt::format("its body returns {} values for {} variables", after->size(), c_.operands.size()));
    const Call inside(c_.importer, body.scope, c_.operation);
    auto next = next_values(inside, *after);
    auto test = inside.tensor(before->front());
    if (!next || !test) return Failure{};
    std::vector<Carried> counters;
    for (std::size_t k = 0; k < carried_.size(); ++k)
      counters.push_back({params[k], (*next)[k], known_integer(c_.builder(), initial_[k])});
    trips_ = rounds_while(body.builder, counters, *test);
    if (trips_ == 0) {
      results_ = c_.operands;
      return true;
    }
    auto keep_on = condition_after(body, *next);
    if (!keep_on) return Failure{};
    return finish(body, params, *keep_on, *next);
  }

  std::vector<ValueId> formals(Body& body) {
    std::vector<ResultInfo> operands{{Type::tensor(DType::Int64, {}), nullptr},
                                     {Type::tensor(DType::Bool, {}), nullptr}};
    operands.insert(operands.end(), infos_.begin(), infos_.end());
    const auto infos = region_params(op("loop"), {{"captures", std::int64_t{0}}}, 0, operands, operands.size());
    if (infos.size() != operands.size()) return {};
    body.builder.var(infos[0].type, "iteration", c_.loc, infos[0].data);
    body.builder.var(infos[1].type, "condition", c_.loc, infos[1].data);
    std::vector<ValueId> params;
    for (std::size_t k = 2; k < infos.size(); ++k)
      params.push_back(body.builder.var(infos[k].type, {}, c_.loc, infos[k].data));
    return params;
  }

  /// A region of the loop on these values of the carried variables.
  Result<Values> run_with(Body& body, const Region& region, const std::vector<ValueId>& carried) {
    Scope scope{.site = body.site, .parent = &c_.scope, .depth = body.scope.depth};
    const Call inside(c_.importer, body.scope, c_.operation);
    for (std::size_t i = 0, k = 0; i < c_.operands.size() && i < region.arguments.size(); ++i) {
      auto v = invariant_[i] ? c_.importer.enter(body.site, c_.scope.site, c_.operands[i])
                             : Result<Value>(inside.whole(carried[k++]));
      if (!v) return Failure{};
      scope.values[region.arguments[i].name] = {*v};
    }
    return c_.importer.run_region(scope, region);
  }

  Result<std::vector<ValueId>> next_values(const Call& inside, const Values& after) {
    std::vector<ValueId> out;
    for (std::size_t i : carried_) {
      auto v = inside.tensor(after[i]);
      if (!v) return Failure{};
      out.push_back(*v);
    }
    return out;
  }

  /// The condition of another round: always, where their number is known.
  Result<ValueId> condition_after(Body& body, const std::vector<ValueId>& next) {
    if (trips_) return body.builder.constant(truth(), {}, c_.loc);
    auto again = run_with(body, c_.operation.regions[0], next);
    if (!again || again->size() != 1) return Failure{};
    return Call(c_.importer, body.scope, c_.operation).tensor(again->front());
  }

  /// Of a variable that every round writes one entry of, that entry: a scan's results are stacked.
  ValueId stacked_part(const Body& body, ValueId param, ValueId next) const {
    const auto update = body.site.updates.find(next);
    if (!trips_ || update == body.site.updates.end() || update->second.tensor != param) return {};
    const Type& all = body.builder.type(param);
    if (!all.ranked() || all.rank() == 0 || !all.shape()[0].is(*trips_)) return {};
    for (NodeId id = 0; id < body.builder.size(); ++id) {
      const auto& operands = body.builder.node(id).operands;
      if (id != next.node && std::ranges::find(operands, param) != operands.end()) return {};
    }
    return update->second.part;
  }

  Result<bool> finish(Body& body, const std::vector<ValueId>& params, ValueId keep_on,
                      const std::vector<ValueId>& next) {
    const Call inside(c_.importer, body.scope, c_.operation);
    std::vector<ValueId> results{keep_on}, stacked;
    std::vector<std::size_t> stacks, stays;
    for (std::size_t k = 0; k < carried_.size(); ++k) {
      const ValueId part = stacked_part(body, params[k], next[k]);
      if (!part) {
        results.push_back(next[k]);
        stays.push_back(k);
        continue;
      }
      auto entry = inside.squeeze(part, {0});
      if (!entry) return Failure{};
      stacked.push_back(*entry);
      stacks.push_back(k);
    }
    results.insert(results.end(), stacked.begin(), stacked.end());
    return call(body, results, stays, stacks);
  }

  Result<bool> call(Body& body, const std::vector<ValueId>& results, const std::vector<std::size_t>& stays,
                    const std::vector<std::size_t>& stacks) {
    const Graph graph = c_.importer.finish(body.builder, "body", results, std::vector<std::string>(results.size()),
                                           stacked_params(stacks));
    std::vector<ValueId> operands;
    if (trips_) operands = {c_.constant(int64_scalar(*trips_)), ValueId{}};
    else if (!first_condition(operands)) return Failure{};
    std::vector<ResultInfo> infos{{Type::tensor(DType::Int64, {}), nullptr}, {Type::tensor(DType::Bool, {}), nullptr}};
    for (std::size_t k : stays) {
      operands.push_back(initial_[k]);
      infos.push_back(infos_[k]);
    }
    for (ValueId v : body.site.captures) {
      operands.push_back(v);
      infos.push_back({c_.builder().type(v), c_.builder().data_ref(v)});
    }
    const Attrs attrs{{"captures", static_cast<std::int64_t>(body.site.captures.size())}};
    if (widen_carried(op("loop"), attrs, graph, infos)) {
      for (std::size_t k = 0; k < stays.size(); ++k) infos_[stays[k]] = infos[k + 2];
      return false;
    }
    auto id = c_.builder().call({.op = op("loop"),
                                 .operands = std::move(operands),
                                 .attrs = attrs,
                                 .results = static_cast<int>(stays.size() + stacks.size()),
                                 .regions = {std::make_shared<const Graph>(graph)},
                                 .name = c_.name,
                                 .loc = c_.loc});
    if (!id) return Failure{};
    results_ = c_.operands;
    std::uint32_t r = 0;
    for (const auto* group : {&stays, &stacks}) {
      for (std::size_t k : *group) results_[carried_[k]] = c_.whole(ValueId{*id, r++});
    }
    return true;
  }

  /// Positions among the body's params.
  static std::vector<std::size_t> stacked_params(const std::vector<std::size_t>& stacks) {
    std::vector<std::size_t> out;
    out.reserve(stacks.size());
    for (std::size_t k : stacks) out.push_back(k + 2);
    return out;
  }

  Status first_condition(std::vector<ValueId>& operands) {
    Scope scope{.site = c_.scope.site, .parent = &c_.scope, .depth = c_.scope.depth + 1};
    const Region& region = c_.operation.regions[0];
    for (std::size_t i = 0; i < c_.operands.size() && i < region.arguments.size(); ++i)
      scope.values[region.arguments[i].name] = {c_.operands[i]};
    auto first = c_.importer.run_region(scope, region);
    if (!first || first->size() != 1) return Failure{};
    auto id = c_.tensor(first->front());
    if (!id) return Failure{};
    operands = {ValueId{}, *id};
    return ok();
  }

  Call& c_;
  std::vector<bool> invariant_;
  std::vector<std::size_t> carried_;  ///< operands that change
  std::vector<ValueId> initial_;
  std::vector<ResultInfo> infos_;
  std::optional<std::int64_t> trips_;
  Values results_;
};

}  // namespace

Result<Values> call(Call& c, const OpRow&) {
  std::string_view callee = c.operation.symbol;
  if (const auto text = c.operation.find("callee"); callee.empty() && text) callee = text->substr(1);
  return c.importer.inlined(c, callee, c.operands);
}

/// composite: an operator that was lowered, by its name, or what its function computes.
Result<Values> composite(Call& c, const OpRow&) {
  const auto name = c.operation.find("name").value_or(c.operation.find("").value_or(""));
  if (const OpRow* row = find_row(unquoted(name)); row && row->translate != composite) return row->translate(c, *row);
  const auto function = c.operation.find("decomposition");
  if (!function || !function->starts_with('@')) return c.error("has no decomposition");
  return c.importer.inlined(c, function->substr(1), c.operands);
}

/// if, case
Result<Values> branches(Call& c, const OpRow&) {
  const auto& regions = c.operation.regions;
  if (regions.empty()) return c.error("has no branches");
  if (!check_depth(c)) return Failure{};
  const bool is_if = c.operation.name.ends_with(".if");
  if (is_if && regions.size() != 2) return c.error(fmt::format("has {} branches, not 2", regions.size()));
  if (const auto known = c.integer_of(0)) {
    const auto last = static_cast<std::int64_t>(regions.size()) - 1;
    const std::int64_t index = is_if ? (*known != 0 ? 0 : 1) : *known < 0 || *known > last ? last : *known;
    return in_place(c, regions[static_cast<std::size_t>(index)]);
  }
  if (!is_if) return branch_of(c, c.operation.operands[0], 0);
  auto condition = c.tensor(0);
  if (!condition) return Failure{};
  return branch_on(
      c, *condition, 0, [&](Scope& s) { return c.importer.run_region(s, regions[0]); },
      [&](Scope& s) { return c.importer.run_region(s, regions[1]); });
}

Result<Values> loop(Call& c, const OpRow&) {
  if (c.operation.regions.size() != 2) return c.error("has no condition and body");
  if (!check_depth(c)) return Failure{};
  for (const Region& r : c.operation.regions) {
    if (r.arguments.size() != c.operands.size())
      return c.error(fmt::format("its regions take {} values for {} variables", r.arguments.size(), c.operands.size()));
  }
  return Loop(c).run();
}

}  // namespace perfc::stablehlo
