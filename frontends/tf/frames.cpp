/// Control flow as data flow: `while` as Enter, Merge, LoopCond, Switch, Exit and
/// NextIteration nodes that share a frame name, `if` as Switch and Merge.
/// Described in "Implementation of Control Flow in TensorFlow" (TensorFlow team, 2017).
#include <fmt/format.h>

#include <algorithm>

#include "frontends/tf/importer.h"

namespace perfc::tf {
namespace {

bool is(const NodeView& n, std::string_view op) {
  return n.op == op || (n.op.starts_with("Ref") && n.op.substr(3) == op);
}

std::vector<std::string_view> data_inputs(const NodeView& n) {
  std::vector<std::string_view> out;
  for (std::string_view input : n.inputs) {
    if (!is_control(input)) out.push_back(input);
  }
  return out;
}

}  // namespace

Status Importer::index_frames(Body& body) {
  const bool any = std::any_of(body.nodes.begin(), body.nodes.end(), [](const NodeView& n) { return is(n, "Enter"); });
  if (!any) return ok();
  const auto source = [&](const NodeView& n, std::size_t i) -> std::optional<Ref> {
    const auto inputs = data_inputs(n);
    if (i >= inputs.size()) return std::nullopt;
    auto ref = resolve(body, inputs[i], place(n, -1), n.name);
    if (!ref || ref->argument) return std::nullopt;
    return *ref;
  };
  Damage damage;
  std::unordered_map<std::uint32_t, std::string_view> frame_of_enter;
  for (std::uint32_t i = 0; i < body.nodes.size(); ++i) {
    const NodeView& n = body.nodes[i];
    if (!is(n, "Enter")) continue;
    const AttrView* a = n.find("frame_name");
    const auto v = a ? decode_attr(a->value, damage) : std::nullopt;
    if (!v || v->strings.size() != 1) return diags_->error(place(n, i), n.name, "Enter without a frame name");
    frame_of_enter.emplace(i, v->strings[0]);
    body.frames[v->strings[0]];
  }
  struct Place {
    LoopFrame* frame;
    std::size_t index;
    FrameVariable& variable() const { return frame->variables[index]; }
  };
  std::unordered_map<std::uint32_t, Place> by_merge, by_switch;
  std::unordered_set<std::uint32_t> varying;
  for (std::uint32_t i = 0; i < body.nodes.size(); ++i) {
    const NodeView& n = body.nodes[i];
    if (!is(n, "Merge")) continue;
    const auto a = source(n, 0), b = source(n, 1);
    if (!a || !b) continue;
    const bool swapped = is(body.nodes[a->node], "NextIteration");
    const std::uint32_t enter = swapped ? b->node : a->node, next = swapped ? a->node : b->node;
    const auto frame = frame_of_enter.find(enter);
    if (frame == frame_of_enter.end() || !is(body.nodes[next], "NextIteration")) continue;
    LoopFrame& f = body.frames.at(frame->second);
    f.variables.push_back({.enter = enter, .merge = i, .switch_ = i, .next = next});
    by_merge.insert_or_assign(i, Place{&f, f.variables.size() - 1});
    varying.insert(enter);
    body.loop_merges.insert(i);
  }
  for (const auto& [enter, name] : frame_of_enter) {
    if (!varying.count(enter)) body.frames.at(name).constants.push_back(enter);
  }
  for (auto& [name, frame] : body.frames) std::sort(frame.constants.begin(), frame.constants.end());
  for (std::uint32_t i = 0; i < body.nodes.size(); ++i) {
    const NodeView& n = body.nodes[i];
    if (!is(n, "Switch")) continue;
    const auto data = source(n, 0), selector = source(n, 1);
    if (!data || !selector) continue;
    const auto variable = by_merge.find(data->node);
    if (variable == by_merge.end() || body.nodes[selector->node].op != "LoopCond") continue;
    variable->second.variable().switch_ = i;
    variable->second.frame->condition = selector->node;
    by_switch.insert_or_assign(i, variable->second);
  }
  for (std::uint32_t i = 0; i < body.nodes.size(); ++i) {
    const NodeView& n = body.nodes[i];
    if (!is(n, "Exit")) continue;
    const auto data = source(n, 0);
    const auto variable = data ? by_switch.find(data->node) : by_switch.end();
    if (variable == by_switch.end()) return diags_->error(place(n, i), n.name, "Exit that leaves no loop");
    variable->second.variable().exit = i;
    body.frame_of_exit.emplace(i, frame_of_enter.at(variable->second.variable().enter));
  }
  return ok();
}

Result<Values> Importer::leave_frame(Call& c) {
  Scope& s = c.scope;
  const auto self = s.body.by_name.at(c.node.name);
  const auto name = s.body.frame_of_exit.find(self);
  if (name == s.body.frame_of_exit.end()) return c.error("leaves no loop");
  const LoopFrame& frame = s.body.frames.at(name->second);
  if (!frame.condition) return c.error("the loop has no condition");

  Values init;
  std::vector<bool> invariant;
  const auto enter = [&](std::uint32_t node) -> Status {
    const NodeView& e = s.body.nodes[node];
    const auto inputs = data_inputs(e);
    if (inputs.empty()) return c.error(fmt::format("'{}' has no input", e.name));
    auto ref = resolve(s.body, inputs[0], c.loc, e.name);
    if (!ref) return Failure{};
    if (!ref->argument && s.poisoned.count(ref->node)) return Failure{};
    auto v = value_of(s, *ref);
    if (!v) return Failure{};
    init.push_back((*v)[0]);
    return ok();
  };
  for (const FrameVariable& v : frame.variables) {
    if (!enter(v.enter)) return Failure{};
    const auto from_next = data_inputs(s.body.nodes[v.next]);
    if (from_next.empty()) return c.error(fmt::format("'{}' has no input", s.body.nodes[v.next].name));
    auto next = resolve(s.body, from_next[0], c.loc, c.node.name);
    if (!next) return Failure{};
    const Ref from = behind_identities(s.body, *next);
    invariant.push_back(!from.argument && from.node == v.switch_ && from.index == 1);
  }
  for (std::uint32_t e : frame.constants) {
    if (!enter(e)) return Failure{};
    invariant.push_back(true);
  }

  // A scope of the same body in which the frame's variables have these values.
  const auto inside = [&](Site& site, const Values& values, bool in_body,
                          const std::vector<Ref>& wanted) -> Result<Values> {
    Scope inner{.body = s.body, .site = site};
    inner.prefix = s.prefix;
    inner.attributes = s.attributes;
    inner.depth = s.depth + 1;
    std::size_t k = 0;
    for (const FrameVariable& v : frame.variables) {
      const Value& value = values[k++];
      inner.values[v.merge] = {value, Value{}};
      if (in_body) inner.values[v.switch_] = {Value{}, value};
    }
    for (std::uint32_t e : frame.constants) inner.values[e] = {values[k++]};
    return evaluate(inner, wanted);
  };
  const auto input_of = [&](std::uint32_t node) -> Result<Ref> {
    const auto inputs = data_inputs(s.body.nodes[node]);
    if (inputs.empty()) return c.error(fmt::format("'{}' has no input", s.body.nodes[node].name));
    return resolve(s.body, inputs[0], c.loc, c.node.name);
  };
  auto condition_ref = input_of(*frame.condition);
  if (!condition_ref) return Failure{};
  std::vector<Ref> next;
  for (const FrameVariable& v : frame.variables) {
    auto ref = input_of(v.next);
    if (!ref) return Failure{};
    next.push_back(*ref);
  }
  const Step condition = [&](Site& site, const Values& values) {
    return inside(site, values, false, {*condition_ref});
  };
  const Step body = [&](Site& site, const Values& values) -> Result<Values> {
    auto results = inside(site, values, true, next);
    if (!results) return Failure{};
    results->insert(results->end(), values.begin() + static_cast<std::ptrdiff_t>(frame.variables.size()), values.end());
    return results;
  };
  auto results = loop(c, s.site, init, invariant, condition, body);
  if (!results) return Failure{};
  Values own;
  for (std::size_t i = 0; i < frame.variables.size(); ++i) {
    if (!frame.variables[i].exit) continue;
    if (*frame.variables[i].exit == self) own = {(*results)[i]};
    s.values[*frame.variables[i].exit] = {(*results)[i]};
  }
  return own;
}

Result<const Joined*> Importer::joined(const Body& body, std::uint32_t merge) {
  auto& known = joined_[&body];
  // Conditions inside a branch are taken apart before the one around them.
  std::vector<std::uint32_t> work{merge};
  while (!work.empty()) {
    const std::uint32_t at = work.back();
    if (known.count(at)) {
      work.pop_back();
      continue;
    }
    std::optional<std::uint32_t> inner;
    auto j = look_back(body, at, inner);
    if (!j) return Failure{};
    if (!inner) {
      known.emplace(at, std::move(*j));
    } else if (std::find(work.begin(), work.end(), *inner) != work.end() || work.size() > kMaxRepeated) {
      return diags_->error(place(body.nodes[at], at), body.nodes[at].name, "the graph has a cycle through this node");
    } else {
      work.push_back(*inner);
    }
  }
  const Joined& found = known.at(merge);
  return static_cast<const Joined*>(found.switches.empty() ? nullptr : &found);
}

/// Walks back from the Merge's inputs to the switches of its condition; over the conditions inside its
/// branches, which are known: one that is not yet is handed back as `inner`.
Result<Joined> Importer::look_back(const Body& body, std::uint32_t merge, std::optional<std::uint32_t>& inner) {
  const auto& known = joined_[&body];
  const NodeView& m = body.nodes[merge];
  const auto inputs = data_inputs(m);
  const std::size_t sides = inputs.size();
  std::vector<std::vector<SwitchSeen>> met(sides);  // nearest first
  for (std::size_t side = 0; side < sides; ++side) {
    auto start = resolve(body, inputs[side], place(m, merge), m.name);
    if (!start) return Failure{};
    std::vector<Ref> queue;
    if (!start->argument) queue.push_back(*start);
    std::unordered_set<std::uint64_t> seen;
    for (std::size_t k = 0; k < queue.size(); ++k) {
      const Ref at = queue[k];
      if (!seen.insert(std::uint64_t{at.node} << 32 | at.index).second) continue;
      const NodeView& n = body.nodes[at.node];
      if (is(n, "Enter") || body.loop_merges.count(at.node)) continue;  // another frame
      const auto from = data_inputs(n);
      if ((is(n, "Switch") || n.op == "_SwitchN") && from.size() == 2) {
        auto selector = resolve(body, from[1], place(n, at.node), n.name);
        if (!selector) return Failure{};
        met[side].push_back({behind_identities(body, *selector), at.node, at.index});
        continue;
      }
      if (is(n, "Merge")) {
        const auto done = known.find(at.node);
        if (done == known.end()) {
          inner = at.node;
          return Joined{};
        }
        if (const Joined& j = done->second; !j.switches.empty()) {
          met[side].insert(met[side].end(), j.others.begin(), j.others.end());
          evaluated_ += j.others.size();
          if (!j.selector.argument) queue.push_back(j.selector);
          for (const auto& switches : j.switches) {
            for (std::uint32_t sw : switches) {
              auto ref = resolve(body, data_inputs(body.nodes[sw])[0], place(body.nodes[sw], sw), body.nodes[sw].name);
              if (!ref) return Failure{};
              if (!ref->argument) queue.push_back(*ref);
            }
          }
          continue;
        }
      }
      for (std::string_view input : n.inputs) {
        // Constants of a branch hang on its switch by a control edge only.
        const bool control = is_control(input);
        auto ref = resolve(body, control ? input.substr(1) : input, place(n, at.node), n.name);
        if (!ref) return Failure{};
        if (!ref->argument) queue.push_back(*ref);
      }
    }
    evaluated_ += queue.size() / 16;  // looking back is cheaper than translating, but not free
    if (over_budget()) return diags_->error(place(m, merge), m.name, "the graph has too many branches to take apart");
  }
  // The selector whose switches lead to each side by one output only, another
  // one for every side. A side may hang on no switch: it gets the output left.
  Joined j;
  constexpr std::uint32_t kOpen = ~0u;
  const auto branches_by = [&](const Ref& selector) -> std::vector<std::uint32_t> {
    std::vector<std::uint32_t> branch(sides, kOpen);
    for (std::size_t side = 0; side < sides; ++side) {
      for (const SwitchSeen& x : met[side]) {
        if (x.selector != selector) continue;
        if (x.output >= sides || (branch[side] != kOpen && branch[side] != x.output)) return {};
        branch[side] = x.output;
      }
    }
    for (std::uint32_t& b : branch) {
      for (std::uint32_t candidate = 0; b == kOpen && candidate < sides; ++candidate) {
        if (std::find(branch.begin(), branch.end(), candidate) == branch.end()) b = candidate;
      }
    }
    std::vector<std::uint32_t> sorted = branch;
    std::sort(sorted.begin(), sorted.end());
    for (std::uint32_t i = 0; i < sides; ++i) {
      if (sorted[i] != i) return {};
    }
    return branch;
  };
  for (std::size_t side = sides; side-- > 0 && j.switches.empty();) {
    for (const SwitchSeen& x : met[side]) {
      j.branch = branches_by(x.selector);
      if (j.branch.empty()) continue;
      j.selector = x.selector;
      j.switches.resize(sides);
      break;
    }
  }
  for (std::size_t side = 0; side < sides && !j.switches.empty(); ++side) {
    for (const SwitchSeen& x : met[side]) {
      if (x.selector != j.selector) {
        const bool again = std::any_of(j.others.begin(), j.others.end(),
                                       [&](const SwitchSeen& o) { return o.node == x.node && o.output == x.output; });
        if (!again) j.others.push_back(x);
      } else if (std::find(j.switches[side].begin(), j.switches[side].end(), x.node) == j.switches[side].end()) {
        j.switches[side].push_back(x.node);
      }
    }
  }
  return j;
}

Result<Values> Importer::join(Call& c) {
  Scope& s = c.scope;
  const std::uint32_t self = s.body.by_name.at(c.node.name);
  if (s.body.loop_merges.count(self)) return c.error("is read from outside of its loop");
  auto found = joined(s.body, self);
  if (!found) return Failure{};
  if (!*found) return c.error("joins branches whose Switch cannot be found");
  const Joined& j = **found;
  const auto at = [&](Ref ref) -> Result<Value> {
    if (!ref.argument && s.poisoned.count(ref.node)) return Failure{};
    auto v = value_of(s, ref);
    if (!v) return Failure{};
    return (*v)[0];
  };
  auto selector = at(j.selector);
  if (!selector) return Failure{};
  if (!selector->is_tensor()) return c.error("its predicate is no tensor");

  // Both branches get the data of all switches, in one list.
  Values captured;
  std::vector<std::uint32_t> switches;
  for (const auto& side : j.switches) {
    for (std::uint32_t sw : side) {
      if (std::find(switches.begin(), switches.end(), sw) != switches.end()) continue;
      auto ref = resolve(s.body, data_inputs(s.body.nodes[sw])[0], c.loc, c.node.name);
      if (!ref) return Failure{};
      // A switch inside another branch, done already, passes its data on.
      const auto given = s.values.find(sw);
      Value v;
      if (given != s.values.end()) {
        const auto first = std::find_if(given->second.begin(), given->second.end(),
                                        [](const Value& x) { return x.kind != Value::Kind::None; });
        if (first != given->second.end()) v = *first;
      } else {
        auto data = at(*ref);
        if (!data) return Failure{};
        v = *data;
      }
      switches.push_back(sw);
      captured.push_back(v);
    }
  }
  const auto inputs = data_inputs(c.node);
  std::vector<Step> steps(inputs.size());
  for (std::size_t side = 0; side < inputs.size(); ++side) {
    auto ref = resolve(s.body, inputs[side], c.loc, c.node.name);
    if (!ref) return Failure{};
    const std::uint32_t output = j.branch[side];
    steps[output] = [this, &s, switches, output, sides = inputs.size(), wanted = *ref](
                        Site& site, const Values& values) -> Result<Values> {
      Scope inner{.body = s.body, .site = site};
      inner.prefix = s.prefix;
      inner.attributes = s.attributes;
      inner.depth = s.depth + 1;
      for (std::size_t k = 0; k < switches.size(); ++k) {
        Values outputs(std::max<std::size_t>(sides, 2));
        outputs[output] = values[k];
        inner.values[switches[k]] = std::move(outputs);
      }
      return evaluate(inner, {wanted});
    };
  }
  if (s.depth >= kMaxDepth) return c.error(fmt::format("branches are nested deeper than {}", kMaxDepth));
  auto results = branch(c, s.site, selector->id, steps, captured);
  if (!results || results->empty()) return Failure{};
  // value_index: which branch it was.
  return Values{(*results)[0], *selector};
}

}  // namespace perfc::tf
