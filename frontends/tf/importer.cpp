#include "frontends/tf/importer.h"

#include <fmt/format.h>

#include <algorithm>
#include <queue>

namespace perfc::tf {

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
