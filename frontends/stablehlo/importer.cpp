#include "frontends/stablehlo/importer.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/rewriter.h"

namespace perfc::stablehlo {

Importer::Importer(const Module& module, const ImportOptions& options, Diagnostics& diags)
    : module_(module), options_(options), diags_(&diags), dims_(options) {
  for (const Function& f : module.functions) functions_.emplace(f.name, &f);
}

Result<const Function*> Importer::main_function() {
  if (const auto it = functions_.find("main"); it != functions_.end()) return it->second;
  const Function* only = nullptr;
  for (const Function& f : module_.functions) {
    if (!f.is_public) continue;
    if (only) return diags_->error("holds several public functions, none named 'main'; which one is the model?");
    only = &f;
  }
  if (!only) return diags_->error("holds no public function");
  return only;
}

Result<Graph> Importer::run() {
  auto main = main_function();
  if (!main) return Failure{};
  GraphBuilder builder(*diags_);
  Site site{.builder = builder};
  Scope scope{.site = site};
  auto arguments = parameters(**main, builder);
  if (!arguments) return Failure{};
  for (std::size_t i = 0; i < arguments->size(); ++i) scope.values[(*main)->body.arguments[i].name] = {(*arguments)[i]};
  call_stack_.push_back((*main)->name);
  auto values = run_region(scope, (*main)->body);
  if (!values || diags_->errors()) return Failure{};
  std::vector<ValueId> results;
  std::vector<std::string> names;
  const Operation end{.name = "return"};
  const Call returned(*this, scope, end);
  for (std::size_t i = 0; i < values->size(); ++i) {
    if (!(*values)[i].type.is_tensor()) continue;
    auto v = returned.tensor((*values)[i]);
    if (!v) return Failure{};
    results.push_back(*v);
    std::string name = i < (*main)->result_names.size() ? (*main)->result_names[i] : std::string();
    names.push_back(name.empty() ? fmt::format("result.{}", i) : std::move(name));
  }
  if (results.empty()) return diags_->error("its main function returns no tensor");
  const std::string name = module_.name.empty() ? std::string((*main)->name) : std::string(module_.name);
  return finish(builder, name, results, std::move(names));
}

// ---- Values

bool Importer::visible(const Scope& scope, const Operand& o) const {
  for (const Scope* s = &scope; s; s = s->parent) {
    if (s->values.count(o.name)) return true;
  }
  return false;
}

Result<Value> Importer::look_up(Scope& scope, const Operand& o, const Operation& reader) {
  for (const Scope* s = &scope; s; s = s->parent) {
    const auto it = s->values.find(o.name);
    if (it == s->values.end()) continue;
    if (o.result >= it->second.size())
      return diags_->error(reader.loc, o.name, fmt::format("{}: has no result {}", reader.name, o.result));
    if (&s->site == &scope.site) return it->second[o.result];
    return enter(scope.site, s->site, it->second[o.result]);
  }
  return diags_->error(reader.loc, o.name,
                       fmt::format("{}: takes {}, which nothing before makes", reader.name, o.name));
}

ValueId Importer::enter(Site& site, const Site& from, ValueId v) {
  if (&site == &from || !v) return v;
  const auto found = site.captured.find(v);
  if (found != site.captured.end()) return found->second;
  const ValueId outer = enter(*site.outer, from, v);
  const GraphBuilder& b = site.outer->builder;
  const Node& n = b.node(outer.node);
  ValueId here;
  if (n.kind == NodeKind::Constant) {
    here = site.builder.constant({n.results[0].type, n.results[0].data}, n.name, n.loc);
  } else {
    here = site.builder.var(b.type(outer), n.name, n.loc, b.data_ref(outer));
    site.captures.push_back(outer);
  }
  site.captured.emplace(v, here);
  return here;
}

Result<Value> Importer::enter(Site& site, const Site& from, const Value& v) {
  Value out = v;
  out.base = enter(site, from, v.base);
  out.extents = enter(site, from, v.extents);
  return out;
}

// ---- Operations

Result<Values> Importer::inlined(const Call& c, std::string_view function, const Values& arguments) {
  const auto it = functions_.find(function);
  if (it == functions_.end()) return c.error(fmt::format("calls @{}, which the file does not hold", function));
  const Function& f = *it->second;
  if (std::ranges::find(call_stack_, f.name) != call_stack_.end())
    return c.error(fmt::format("the function @{} calls itself", function));
  if (call_stack_.size() >= static_cast<std::size_t>(kMaxRegionDepth))
    return c.error(fmt::format("functions are nested deeper than {}", kMaxRegionDepth));
  if (arguments.size() != f.body.arguments.size())
    return c.error(fmt::format("@{} takes {} arguments, got {}", function, f.body.arguments.size(), arguments.size()));
  Scope scope{.site = c.scope.site, .depth = c.scope.depth};
  for (std::size_t i = 0; i < arguments.size(); ++i) scope.values[f.body.arguments[i].name] = {arguments[i]};
  call_stack_.push_back(f.name);
  auto values = run_region(scope, f.body);
  call_stack_.pop_back();
  return values;
}

Result<Values> Importer::run_region(Scope& scope, const Region& region) {
  for (const Operation& o : region.operations) {
    if (++translated_ > kMaxRepeated)
      return diags_->error(o.loc, {}, fmt::format("calls and bodies expand to more than {} operations", kMaxRepeated));
    auto values = translate(scope, o);
    if (!values) return Failure{};
    if (o.name.ends_with("return")) return values;
    std::size_t next = 0;
    for (const ResultName& r : o.results) {
      if (next + r.count > values->size())
        return diags_->error(o.loc, r.name,
                             fmt::format("{}: has {} results, not {}", o.name, values->size(), next + r.count));
      const auto first = values->begin() + static_cast<std::ptrdiff_t>(next);
      scope.values[r.name] = Values(first, first + static_cast<std::ptrdiff_t>(r.count));
      next += r.count;
    }
  }
  return diags_->error(region.operations.empty() ? SourceLoc{} : region.operations.back().loc, {},
                       "the region does not end with a return");
}

Result<Values> Importer::translate(Scope& scope, const Operation& o) {
  Call c(*this, scope, o);
  for (const Operand& operand : o.operands) {
    auto v = look_up(scope, operand, o);
    if (!v) return Failure{};
    c.operands.push_back(*std::move(v));
  }
  if (o.name.ends_with("return")) return c.operands;
  const OpRow* row = find_row(o.name);
  if (!row) {
    c.unread = "unknown operator";
    return opaque(c);
  }
  for (std::size_t i = 0; i < c.operands.size(); ++i) {
    const Value& v = c.operands[i];
    if (i < row->operands && !v.base) return c.error(fmt::format("operand {} is no tensor", i));
    if (v.type.is_tensor() && !v.type.ranked())
      return c.error("takes a tensor of unknown rank; export with known ranks");
  }
  if (c.operands.size() < row->operands)
    return c.error(fmt::format("too few operands: {} of {}", c.operands.size(), row->operands));
  auto values = row->translate(c, *row);
  return values || c.unread.empty() ? std::move(values) : opaque(c);
}

/// MLIR gives every result a type, so that what follows stays typed.
Result<Values> Importer::opaque(Call& c) {
  std::vector<ValueId> operands;
  for (const Value& v : c.operands) {
    if (!v.type.is_tensor()) continue;
    auto id = c.tensor(v);
    if (!id) return Failure{};
    operands.push_back(*id);
  }
  std::vector<Type> declared;
  for (std::size_t i = 0; i < c.operation.result_types.size(); ++i) declared.push_back(c.declared(i));
  if (declared.empty()) return Values{};
  c.warning(fmt::format("{}: kept as opaque, its cost is not known", c.unread));
  auto id = c.builder().call({.op = op("opaque"),
                              .operands = std::move(operands),
                              .attrs = {{"source_op", c.spelling}},
                              .results = static_cast<int>(declared.size()),
                              .declared = declared,
                              .name = c.name,
                              .loc = c.loc});
  if (!id) return Failure{};
  Values out;
  for (std::uint32_t i = 0; i < declared.size(); ++i) out.push_back(c.whole(ValueId{*id, i}));
  return out;
}

Graph Importer::finish(GraphBuilder& built, std::string name, const std::vector<ValueId>& results,
                       std::vector<std::string> result_names, const std::vector<std::size_t>& without_params) {
  const Graph all = built.finish(name, results, result_names);
  std::vector<bool> live(all.size(), false);
  for (std::size_t i = 0; i < all.params().size(); ++i)
    live[all.params()[i].node] = std::ranges::find(without_params, i) == without_params.end();
  for (ValueId v : all.results()) live[v.node] = true;
  for (NodeId id = static_cast<NodeId>(all.size()); id-- > 0;) {
    if (!live[id]) continue;
    for (ValueId v : all.node(id).operands) {
      if (v) live[v.node] = true;
    }
  }
  GraphBuilder builder(*diags_);
  std::vector<NodeId> moved(all.size(), ValueId::kNone);
  const auto at = [&](ValueId v) { return v ? ValueId{moved[v.node], v.result} : v; };
  for (NodeId id = 0; id < all.size(); ++id) {
    if (!live[id]) continue;
    const Node& n = all.node(id);
    if (n.kind == NodeKind::Var) {
      moved[id] = builder.var(n.results[0].type, n.name, n.loc, n.results[0].data).node;
      continue;
    }
    std::vector<ValueId> operands;
    for (ValueId v : n.operands) operands.push_back(at(v));
    moved[id] = builder.adopt(n, operands);
  }
  std::vector<ValueId> outputs;
  for (ValueId v : all.results()) outputs.push_back(at(v));
  return builder.finish(std::move(name), std::move(outputs), std::move(result_names));
}

}  // namespace perfc::stablehlo
