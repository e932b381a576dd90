/// Control flow: ProgramDesc's `while`, `conditional_block` and `select_input`,
/// PIR's `while` and `if`. Branches that are known at import run in place.
#include <algorithm>

#include "frontends/paddle/call.h"
#include "frontends/paddle/table.h"
#include "ir/control_flow.h"
#include "ir/counted_rounds.h"

namespace perfc::paddle {
namespace {

/// Lends the importer another sink for the messages of a body that may be built again.
class Trial {
 public:
  explicit Trial(Diagnostics*& slot) : slot_(slot), real_(slot), messages_(slot->file()) { slot = &messages_; }
  ~Trial() {
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

Literal boolean(bool value) {
  auto data = std::make_shared<Data>();
  data->elements = std::vector<SymInt>{SymInt(value ? 1 : 0)};
  return {Type::tensor(DType::Bool, {}), data};
}

std::string_view single(const Operation& o, std::string_view slot) {
  for (const Slot& s : o.inputs) {
    if (s.name == slot && s.values.size() == 1) return s.values.front();
  }
  return {};
}

const Slot* slot_named(const std::vector<Slot>& slots, std::string_view name) {
  const auto s = std::find_if(slots.begin(), slots.end(), [&](const Slot& x) { return x.name == name; });
  return s == slots.end() ? nullptr : &*s;
}

}  // namespace

/// A body under construction: what it captures of the frame outside becomes
/// params (weights: constants of its own).
struct Importer::Region {
  Region(Frame& outside, const Block* block, Diagnostics& diags)
      : outer(outside), builder(diags), frame{.builder = builder, .block = block, .depth = outside.depth + 1} {}

  void capture(std::string_view name, const SourceLoc& loc) {
    const Binding& b = outer.values[name];
    Binding here{.kind = b.kind};
    for (ValueId v : b.values) {
      const Node& n = outer.builder.node(v.node);
      if (n.kind == NodeKind::Constant) {
        here.values.push_back(builder.constant({n.results[0].type, n.results[0].data}, n.name, n.loc));
        continue;
      }
      const ResultInfo& info = n.results[v.result];
      operands.push_back(v);
      infos.push_back(info);
      here.values.push_back(builder.var(info.type, n.name, loc, info.data));
    }
    frame.values[name] = std::move(here);
  }

  Frame& outer;
  GraphBuilder builder;
  Frame frame;
  std::vector<ValueId> operands;  ///< of the outer graph, one per captured param
  std::vector<ResultInfo> infos;
};

Result<const Block*> Importer::block_of(const Call& c, std::size_t i) const {
  if (i >= c.operation.blocks.size() || c.operation.blocks[i] >= program_.blocks.size()) {
    return c.error(fmt::format("its block {} is not in the file", i));
  }
  if (c.frame.depth >= kMaxRegionDepth)
    return c.error(fmt::format("blocks are nested deeper than {}", kMaxRegionDepth));
  return &program_.blocks[c.operation.blocks[i]];
}

Result<const Importer::Free*> Importer::free_names(const Block& block, int depth) {
  Free& out = free_[&block];
  if (out.complete) return &out;
  if (depth > kMaxRegionDepth)
    return diags_->error(fmt::format("blocks are nested deeper than {}, or within themselves", kMaxRegionDepth));
  std::set<std::string_view> made(block.args.begin(), block.args.end()), seen, written;
  std::vector<std::string_view> reads, writes;
  const auto read = [&](std::string_view v) {
    if (!v.empty() && !made.count(v) && seen.insert(v).second) reads.push_back(v);
  };
  const auto write = [&](std::string_view v) {
    if (v.empty()) return;
    made.insert(v);
    if (program_.dialect == Dialect::Descriptor && !block.vars.count(v) && written.insert(v).second)
      writes.push_back(v);
  };
  const auto write_in_place = [&](std::string_view v) {
    if (!v.empty() && !made.count(v) && written.insert(v).second) writes.push_back(v);
  };
  for (const Operation& o : block.ops) {
    for (const Slot& s : o.inputs) std::for_each(s.values.begin(), s.values.end(), read);
    for (std::uint32_t index : o.blocks) {
      if (index >= program_.blocks.size()) continue;  // reported when it is translated
      const auto inner = free_names(program_.blocks[index], depth + 1);
      if (!inner) return Failure{};
      std::for_each((*inner)->reads.begin(), (*inner)->reads.end(), read);
      for (std::string_view v : (*inner)->writes) program_.dialect == Dialect::Pir ? write_in_place(v) : write(v);
    }
    const Slot* changed = program_.dialect == Dialect::Pir ? in_place_operand(o) : nullptr;
    if (changed) write_in_place(changed->values.front());
    for (const Slot& s : o.outputs) std::for_each(s.values.begin(), s.values.end(), write);
  }
  std::for_each(block.results.begin(), block.results.end(), read);
  out = {std::move(reads), std::move(writes), true};
  return &out;
}

/// Names of the frame that a block uses or may leave as they are. Weights are not captured.
Status Importer::add_captures(Frame& frame, const Block& block, std::vector<std::string_view>& names) {
  const auto free = free_names(block, 0);
  if (!free) return Failure{};
  for (const auto* list : {&(*free)->reads, &(*free)->writes}) {
    for (std::string_view name : *list) {
      if (frame.pending.count(name) && !settle(frame, name)) return Failure{};
      if (frame.poisoned.count(name)) return Failure{};
      if (frame.values.count(name) && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return ok();
}

// ---- Branches

/// Runs a branch in its region and gives what `outputs` of the call stand for.
Status Importer::fill_branch(Call& c, Region& r, const Branch& branch, const std::vector<std::string_view>& outputs,
                             std::vector<ValueId>& results) {
  if (branch.block && !run_block(r.frame, *branch.block)) return Failure{};
  for (std::size_t i = 0; i < branch.results.size(); ++i) {
    const std::string_view name = branch.results[i];
    Frame& f = r.frame;
    if (!f.values.count(name) && !f.pending.count(name)) {
      const Variable* v = variable(c.frame, name);
      if (!branch.block && v && v->role == Variable::Role::Value) {
        // Not set on this side: the program does not read it then.
        const Type t = declared(c.frame, outputs[i]);
        if (!t.is_static())
          return c.error(fmt::format("'{}' is set in one branch only, and the file does not declare its shape", name));
        results.push_back(r.builder.constant({t, nullptr}, {}, c.loc));
        continue;
      }
    }
    const auto binding = look_up(f, name, c.operation);
    if (!binding) return Failure{};
    if (binding->kind != Binding::Kind::One || binding->values.size() != 1)
      return c.error("a branch returns a list of tensors; only tensors are read");
    Call inner(*this, f, c.operation, nullptr);
    auto fitted = adapt(inner, binding->values[0], outputs[i]);
    if (!fitted) return Failure{};
    results.push_back(*fitted);
  }
  return ok();
}

Status Importer::if_call(Call& c, ValueId condition, const Branch& then, const Branch& otherwise,
                         const std::vector<std::string_view>& outputs) {
  std::vector<std::string_view> captures;
  for (const Branch* b : {&then, &otherwise}) {
    if (b->block && !add_captures(c.frame, *b->block, captures)) return Failure{};
    for (std::string_view name : b->results) {
      if (c.frame.pending.count(name) && !settle(c.frame, name)) return Failure{};
      if (c.frame.values.count(name) && std::find(captures.begin(), captures.end(), name) == captures.end())
        captures.push_back(name);
    }
  }
  std::vector<ValueId> operands;
  std::vector<GraphRef> regions;
  for (const Branch* b : {&then, &otherwise}) {
    Region r(c.frame, b->block ? b->block : c.frame.block, *diags_);
    for (std::string_view name : captures) r.capture(name, c.loc);
    std::vector<ValueId> results;
    if (!fill_branch(c, r, *b, outputs, results)) return Failure{};
    if (regions.empty()) {
      auto truth = c.cast(condition, DType::Bool);
      if (!truth) return Failure{};
      operands.push_back(*truth);
      operands.insert(operands.end(), r.operands.begin(), r.operands.end());
    }
    std::vector<std::string> names(results.size());
    regions.push_back(std::make_shared<const Graph>(
        r.builder.finish(regions.empty() ? "then" : "else", std::move(results), std::move(names))));
  }
  if (outputs.empty()) return ok();  // what it prints or asserts costs nothing
  auto id = c.frame.builder.call({.op = op("if"),
                                  .operands = operands,
                                  .attrs = {{"captures", static_cast<std::int64_t>(operands.size() - 1)}},
                                  .results = static_cast<int>(outputs.size()),
                                  .regions = std::move(regions),
                                  .name = c.name,
                                  .loc = c.loc});
  if (!id) return Failure{};
  for (std::uint32_t i = 0; i < outputs.size(); ++i) {
    c.frame.pending.erase(outputs[i]);
    c.frame.values[outputs[i]] = {.values = {{*id, i}}};
  }
  return ok();
}

Status Importer::branches(Call& c) {
  const std::string_view name = c.operation.inputs.empty() || c.operation.inputs[0].values.empty()
                                    ? std::string_view{}
                                    : c.operation.inputs[0].values[0];
  const auto condition = look_up(c.frame, name, c.operation);
  if (!condition) return Failure{};
  if (condition->values.size() != 1) return c.error("its condition is a list");
  auto then = block_of(c, 0), otherwise = block_of(c, 1);
  if (!then || !otherwise) return Failure{};
  const std::vector<std::string_view> outputs = c.outputs();
  if ((*then)->results.size() < outputs.size() || (*otherwise)->results.size() < outputs.size()) {
    return c.error(fmt::format("has {} results; its branches yield {} and {}", outputs.size(), (*then)->results.size(),
                               (*otherwise)->results.size()));
  }
  if (const auto known = known_integer(c.frame.builder, condition->values[0])) {
    const Block& taken = *known != 0 ? **then : **otherwise;
    if (!run_block(c.frame, taken)) return Failure{};
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const auto value = look_up(c.frame, taken.results[i], c.operation);
      if (!value) return Failure{};
      if (!outputs[i].empty()) c.frame.values[outputs[i]] = *value;
    }
    return ok();
  }
  std::vector<std::string_view> all = outputs;
  const auto yields = [&](const Block& b) {
    return Branch{&b, {b.results.begin(), b.results.begin() + static_cast<std::ptrdiff_t>(outputs.size())}};
  };
  Branch yes = yields(**then), no = yields(**otherwise);
  for (const Block* b : {*then, *otherwise}) {
    const auto free = free_names(*b, 0);
    if (!free) return Failure{};
    for (std::string_view name : (*free)->writes) {
      if (!c.frame.values.count(name) || std::find(all.begin(), all.end(), name) != all.end()) continue;
      for (auto* list : {&all, &yes.results, &no.results}) list->push_back(name);
    }
  }
  return if_call(c, condition->values[0], yes, no, all);
}

/// (Cond, Input…) → Out…, Scope. The condition is one element (is_scalar_condition),
/// or the block runs when all Input tensors have elements, which they do here.
Status Importer::conditional_block(Call& c) {
  const auto block = block_of(c, 0);
  if (!block) return Failure{};
  const std::string_view name = single(c.operation, "Cond");
  if (name.empty()) return run_block(c.frame, **block);
  const auto condition = look_up(c.frame, name, c.operation);
  if (!condition) return Failure{};
  if (condition->values.size() != 1) return c.error("its condition is a list");
  if (const auto known = known_integer(c.frame.builder, condition->values[0])) {
    return *known != 0 ? run_block(c.frame, **block) : ok();
  }
  const auto free = free_names(**block, 0);
  if (!free) return Failure{};
  for (std::string_view written : (*free)->writes) c.frame.pending[written] = {&c.operation, condition->values[0]};
  return ok();
}

Status Importer::settle(Frame& frame, std::string_view name) {
  const Pending p = frame.pending[name];
  Call c(*this, frame, *p.operation, nullptr);
  const auto block = block_of(c, 0);
  if (!block) return Failure{};
  std::vector<std::string_view> outputs;
  for (auto it = frame.pending.begin(); it != frame.pending.end();) {
    if (it->second.operation == p.operation) {
      outputs.push_back(it->first);
      it = frame.pending.erase(it);
    } else {
      ++it;
    }
  }
  std::sort(outputs.begin(), outputs.end());
  return if_call(c, p.condition, {*block, outputs}, {nullptr, outputs}, outputs);
}

/// (X = [when false, when true], Mask) → Out: joins what two opposite conditional blocks
/// wrote. All joins of the same two blocks become one `if`.
Status Importer::select_input(Call& c, const Block& block, std::size_t index) {
  const std::string_view mask_name = single(c.operation, "Mask");
  const auto mask = look_up(c.frame, mask_name, c.operation);
  const Slot* x = slot_named(c.operation.inputs, "X");
  const Slot* out = slot_named(c.operation.outputs, "Out");
  if (!mask) return Failure{};
  if (!x || x->values.size() != 2 || !out || out->values.size() != 1 || mask->values.size() != 1) {
    return c.error("needs two values, a mask and a result");
  }
  const auto maker = [&](std::string_view name) -> const Operation* {
    const auto p = c.frame.pending.find(name);
    return p == c.frame.pending.end() ? nullptr : p->second.operation;
  };
  const Operation *otherwise = maker(x->values[0]), *then = maker(x->values[1]);
  if (const auto known = known_integer(c.frame.builder, mask->values[0])) {
    const auto value = look_up(c.frame, x->values[*known != 0 ? 1 : 0], c.operation);
    if (!value) return Failure{};
    c.frame.values[out->values[0]] = *value;
    return ok();
  }
  std::vector<std::string_view> outputs;
  Branch yes, no;
  const auto add = [&](const Operation& o) {
    const Slot* values = slot_named(o.inputs, "X");
    outputs.push_back(slot_named(o.outputs, "Out")->values[0]);
    no.results.push_back(values->values[0]);
    yes.results.push_back(values->values[1]);
  };
  add(c.operation);
  if (then && otherwise && then != otherwise) {
    for (std::size_t i = index + 1; i < block.ops.size(); ++i) {
      const Operation& o = block.ops[i];
      const Slot *xs = slot_named(o.inputs, "X"), *outs = slot_named(o.outputs, "Out");
      if (o.type != "select_input" || single(o, "Mask") != mask_name || !xs || xs->values.size() != 2 || !outs ||
          outs->values.size() != 1)
        continue;
      if (maker(xs->values[0]) != otherwise || maker(xs->values[1]) != then) continue;
      add(o);
      c.frame.done.insert(&o);
    }
    Call first(*this, c.frame, *then, nullptr), second(*this, c.frame, *otherwise, nullptr);
    auto then_block = block_of(first, 0), else_block = block_of(second, 0);
    if (!then_block || !else_block) return Failure{};
    yes.block = *then_block;
    no.block = *else_block;
    const ValueId condition = c.frame.pending[x->values[1]].condition;
    for (std::string_view name : yes.results) c.frame.pending.erase(name);
    for (std::string_view name : no.results) c.frame.pending.erase(name);
    return if_call(c, condition, yes, no, outputs);
  }
  for (std::string_view name : x->values) {
    if (!look_up(c.frame, name, c.operation)) return Failure{};
  }
  return if_call(c, mask->values[0], yes, no, outputs);
}

// ---- Loops

/// A loop that fills lists runs round by round, as far as its condition is known.
Status Importer::unrolled(Call& c, const Block& b, std::string_view condition, std::string_view next_condition,
                          const std::vector<std::string_view>& starts, const std::vector<std::string_view>& formals,
                          const std::vector<std::string_view>& nexts, const std::vector<std::string_view>& outputs) {
  const auto hand_over = [&](const std::vector<std::string_view>& from,
                             const std::vector<std::string_view>& to) -> Status {
    std::vector<Binding> values;
    for (std::string_view name : from) {
      auto v = look_up(c.frame, name, c.operation);
      if (!v) return Failure{};
      values.push_back(*std::move(v));
    }
    for (std::size_t i = 0; i < to.size(); ++i) c.frame.values[to[i]] = values[i];
    return ok();
  };
  if (!hand_over(starts, formals)) return Failure{};
  for (std::string_view test = condition;; test = next_condition) {
    const auto value = look_up(c.frame, test, c.operation);
    if (!value) return Failure{};
    const auto known = value->values.size() == 1 ? known_integer(c.frame.builder, value->values[0]) : std::nullopt;
    if (!known)
      return c.error(
          "fills a list, and how often it runs is not known when importing; bind open dims with --dim or --shape");
    if (*known == 0) return hand_over(formals, outputs);
    if (++operations_ > kMaxOperations) return c.error(fmt::format("runs more than {} times", kMaxOperations));
    if (!run_block(c.frame, b) || !hand_over(nexts, formals)) return Failure{};
  }
}

/// PIR: (condition, start…) → end…; the block's args are the values, it yields (condition, next…).
/// ProgramDesc: (Condition, X…) → Out…; the block writes the variables and the condition.
Status Importer::while_loop(Call& c) {
  auto block = block_of(c, 0);
  if (!block) return Failure{};
  const bool pir = program_.dialect == Dialect::Pir;
  const Block& b = **block;
  std::vector<std::string_view> starts, formals, nexts, outputs;  // of carried values
  std::string_view condition_name, next_condition;
  if (pir) {
    for (const Slot& s : c.operation.inputs) starts.push_back(s.values.empty() ? std::string_view{} : s.values[0]);
    if (starts.empty() || b.args.size() + 1 != starts.size() || b.results.size() != starts.size()) {
      return c.error("its operands, its block's arguments and what that yields do not fit");
    }
    condition_name = starts.front();
    starts.erase(starts.begin());
    next_condition = b.results.front();
    formals = b.args;
    nexts.assign(b.results.begin() + 1, b.results.end());
    outputs = c.outputs();
    if (outputs.size() != starts.size())
      return c.error(fmt::format("has {} results for {} values", outputs.size(), starts.size()));
  } else {
    condition_name = next_condition = single(c.operation, "Condition");
  }
  // What the body writes of what stands outside: all that changes in ProgramDesc, in-place operators in PIR.
  const auto free = free_names(b, 0);
  if (!free) return Failure{};
  bool changes_lists = false;
  for (std::string_view name : (*free)->writes) {
    if (c.frame.pending.count(name) && !settle(c.frame, name)) return Failure{};
    const auto bound = c.frame.values.find(name);
    if (name == condition_name || bound == c.frame.values.end()) continue;
    changes_lists = changes_lists || bound->second.kind == Binding::Kind::List;
    for (auto* list : {&starts, &formals, &nexts, &outputs}) list->push_back(name);
  }
  const auto condition = look_up(c.frame, condition_name, c.operation);
  if (!condition) return Failure{};
  if (changes_lists) return unrolled(c, b, condition_name, next_condition, starts, formals, nexts, outputs);
  std::vector<ValueId> init;
  for (std::string_view name : starts) {
    const auto v = look_up(c.frame, name, c.operation);
    if (!v) return Failure{};
    if (v->kind != Binding::Kind::One || v->values.size() != 1)
      return c.error(fmt::format("'{}' is a list that the loop changes; only tensors are carried", name));
    init.push_back(v->values[0]);
  }
  const auto enters =
      condition->values.size() == 1 ? known_integer(c.frame.builder, condition->values[0]) : std::nullopt;
  if (enters && *enters == 0) {
    for (std::size_t i = 0; i < outputs.size(); ++i) c.frame.values[outputs[i]] = {.values = {init[i]}};
    return ok();
  }
  std::vector<std::string_view> captures;
  if (!add_captures(c.frame, b, captures)) return Failure{};
  std::erase_if(captures, [&](std::string_view name) {
    return std::find(formals.begin(), formals.end(), name) != formals.end();
  });

  std::vector<ResultInfo> carried;
  carried.reserve(init.size());
  for (ValueId v : init) carried.push_back({c.type(v), c.frame.builder.data_ref(v)});
  for (;;) {
    Trial trial(diags_);
    Region r(c.frame, &b, trial.diagnostics());
    std::vector<ResultInfo> operand_infos{{Type::tensor(DType::Int64, {}), nullptr},
                                          {Type::tensor(DType::Bool, {}), nullptr}};
    operand_infos.insert(operand_infos.end(), carried.begin(), carried.end());
    const auto params =
        region_params(op("loop"), {{"captures", std::int64_t{0}}}, 0, operand_infos, operand_infos.size());
    if (params.size() != operand_infos.size()) return c.error("its values do not fit a loop");
    std::vector<Carried> counters;
    for (std::size_t i = 0; i < params.size(); ++i) {
      const ValueId v = r.builder.var(params[i].type,
                                      i == 0   ? "iteration"
                                      : i == 1 ? "condition"
                                               : std::string(formals[i - 2]),
                                      c.loc, params[i].data);
      if (i < 2) continue;
      r.frame.values[formals[i - 2]] = {.values = {v}};
      counters.push_back({v, {}, known_integer(c.frame.builder, init[i - 2])});
    }
    for (std::string_view name : captures) r.capture(name, c.loc);
    const auto failed = [&]() -> Status {
      trial.keep();
      return Failure{};
    };
    if (!run_block(r.frame, b)) return failed();
    std::vector<ValueId> results;
    Call inside(*this, r.frame, c.operation, nullptr);
    for (std::size_t i = 0; i <= nexts.size(); ++i) {
      const auto v = look_up(r.frame, i == 0 ? next_condition : nexts[i - 1], c.operation);
      if (!v) return failed();
      if (v->kind != Binding::Kind::One || v->values.size() != 1)
        return inside.error("its body gives a list for a tensor"), failed();
      results.push_back(v->values[0]);
      if (i > 0) counters[i - 1].next = v->values[0];
    }
    const auto rounds = enters ? rounds_until(r.builder, counters, results[0]) : std::nullopt;
    auto go_on = rounds ? Result<ValueId>(r.builder.constant(boolean(true), {}, c.loc))
                        : inside.reshape(inside.cast(results[0], DType::Bool), {});
    if (!go_on) return failed();
    results[0] = *go_on;
    std::vector<std::string> names(results.size());
    const Graph graph = r.builder.finish("body", std::move(results), std::move(names));
    const Attrs attrs{{"captures", static_cast<std::int64_t>(r.operands.size())}};
    std::vector<ResultInfo> infos = operand_infos;
    infos.insert(infos.end(), r.infos.begin(), r.infos.end());
    if (widen_carried(op("loop"), attrs, graph, infos)) {
      std::copy_n(infos.begin() + 2, carried.size(), carried.begin());
      continue;
    }
    trial.keep();
    std::vector<ValueId> operands{ValueId{}, ValueId{}};
    if (rounds) {
      operands[0] = c.constant(int64_scalar(*rounds));
    } else {
      auto first = c.reshape(c.cast(condition->values[0], DType::Bool), {});
      if (!first) return Failure{};
      operands[1] = *first;
    }
    operands.insert(operands.end(), init.begin(), init.end());
    operands.insert(operands.end(), r.operands.begin(), r.operands.end());
    auto id = c.frame.builder.call({.op = op("loop"),
                                    .operands = std::move(operands),
                                    .attrs = attrs,
                                    .results = static_cast<int>(init.size()),
                                    .regions = {std::make_shared<const Graph>(graph)},
                                    .name = c.name,
                                    .loc = c.loc});
    if (!id) return Failure{};
    for (std::uint32_t i = 0; i < outputs.size(); ++i) {
      if (!outputs[i].empty()) c.frame.values[outputs[i]] = {.values = {{*id, i}}};
    }
    return ok();
  }
}

}  // namespace perfc::paddle
