/// prim::If and prim::Loop: taken or unrolled where that is decided at import,
/// regions of the IR elsewhere.
#include <algorithm>

#include "frontends/torch/call.h"
#include "frontends/torch/python.h"
#include "ir/ops/rule_helpers.h"

namespace perfc::torch {
namespace {

/// Loops with more rounds, or whose rounds add up to more operations, stay loops.
constexpr std::int64_t kMaxRounds = 4096;
constexpr std::size_t kMaxUnrolled = 50'000;
constexpr int kMaxTrials = 64;

/// Lends the importer another sink for the messages of a trial.
class DiagnosticsSwap {
 public:
  DiagnosticsSwap(Diagnostics*& slot, Diagnostics& trial) : slot_(slot), old_(slot) { slot = &trial; }
  ~DiagnosticsSwap() { slot_ = old_; }

 private:
  Diagnostics*& slot_;
  Diagnostics* old_;
};

bool raises(const Block& b) {
  return std::any_of(b.nodes.begin(), b.nodes.end(), [](const Operation& o) { return o.op == "prim::RaiseException"; });
}

std::size_t count_operations(const Block& b) {
  std::size_t n = b.nodes.size();
  for (const Operation& o : b.nodes) {
    for (const Block& inner : o.blocks) n += count_operations(inner);
  }
  return n;
}

/// Tensors and numbers inside a value, in order; what is left is its structure.
void leaves(const Value& v, std::vector<Value>& out) {
  if (v.tensor() || v.scalar()) out.push_back(v);
  if (const List* l = v.list()) {
    for (const Value& item : *l->items) leaves(item, out);
  }
}

/// `shape` with its leaves replaced, in the same order.
Value with_leaves(const Value& shape, const std::vector<Value>& from, std::size_t& next) {
  if (shape.tensor() || shape.scalar()) return from[next++];
  if (const List* l = shape.list()) {
    std::vector<Value> items;
    for (const Value& item : *l->items) items.push_back(with_leaves(item, from, next));
    return Value::list(std::move(items), l->kind);
  }
  return shape;
}

bool same_structure(const Value& a, const Value& b) {
  if (a.tensor() || a.scalar()) return b.tensor() || b.scalar();
  const List *x = a.list(), *y = b.list();
  if (x && y) {
    if (x->items->size() != y->items->size()) return false;
    for (std::size_t i = 0; i < x->items->size(); ++i) {
      if (!same_structure((*x->items)[i], (*y->items)[i])) return false;
    }
    return true;
  }
  return !x && !y && a.v.index() == b.v.index();
}

/// A leaf as a value of the graph: tensors as they are, numbers as 0-d tensors.
Result<ValueId> id_of(Call& c, const Value& leaf) {
  if (const TensorRef* t = leaf.tensor()) return c.read(*t);
  const Scalar* s = leaf.scalar();
  if (!s) return c.error(fmt::format("decides by {}", leaf.kind()));
  return c.scalar_tensor(*s, s->dtype);
}

/// The reverse, given what kind of leaf it was.
Result<Value> leaf_of(Call& c, ValueId v, const Value& model) {
  if (model.tensor()) return Call::fresh(v);
  auto vector = c.reshape(v, {1});
  if (!vector) return Failure{};
  return Value(c.scalar_of(*vector, model.scalar()->dtype));
}

ResultInfo info_of(const GraphBuilder& b, ValueId v) { return {b.type(v), b.data_ref(v)}; }

}  // namespace

Result<ValueId> Importer::capture(Frame& frame, ValueId outer) {
  if (!outer) return outer;
  const auto found = frame.captured.find(outer);
  if (found != frame.captured.end()) return found->second;
  const Node& n = frame.outer->builder.node(outer.node);
  ValueId here;
  if (n.kind == NodeKind::Constant) {
    here = frame.builder.constant({n.results[0].type, n.results[0].data}, n.name, n.loc);
  } else {
    here = frame.builder.var(n.results[outer.result].type, n.name, n.loc, n.results[outer.result].data);
    frame.captures.push_back(outer);
  }
  frame.captured.emplace(outer, here);
  return here;
}

Result<Value> Importer::capture(Frame& frame, const Value& outer) {
  if (!is_bounded(outer)) return diags_->error("a body uses lists that hold too many items");
  if (const TensorRef* t = outer.tensor()) {
    // Reading brings views of changed storages up to date before they cross.
    const Operation nowhere;
    Call c(*this, *frame.outer, nowhere);
    auto now = c.read(*t);
    if (!now) return Failure{};
    auto inner = std::make_shared<Tensor>();
    auto& both = frame.storages[(*t)->storage.get()];
    if (!both.second) {
      auto base = capture(frame, (*t)->storage->value);
      if (!base) return Failure{};
      both.first = (*t)->storage;
      both.second = std::make_shared<Storage>();
      both.second->value = *base;
    }
    inner->storage = both.second;
    for (ViewStep s : (*t)->views) {
      for (ValueId& v : s.operands) {
        auto id = capture(frame, v);
        if (!id) return Failure{};
        v = *id;
      }
      inner->views.push_back(std::move(s));
    }
    auto id = capture(frame, *now);
    if (!id) return Failure{};
    inner->value = *id;
    inner->version = 0;
    if (both.second->version != 0) inner->version = both.second->version + 1;  // stale: computed anew when read
    return Value(inner);
  }
  if (const Scalar* s = outer.scalar()) {
    Scalar inner = *s;
    auto origin = capture(frame, s->origin);
    auto shape_of = capture(frame, s->shape_of);
    if (!origin || !shape_of) return Failure{};
    inner.origin = *origin;
    inner.shape_of = *shape_of;
    return Value(inner);
  }
  if (const List* l = outer.list()) {
    std::vector<Value> items;
    for (const Value& item : *l->items) {
      auto v = capture(frame, item);
      if (!v) return Failure{};
      items.push_back(*std::move(v));
    }
    Value inner = Value::list(items, l->kind);
    frame.copied_lists.emplace_back(*inner.list(), std::move(items));
    return inner;
  }
  if (const Dict* d = outer.dict()) {
    Dict inner{std::make_shared<std::vector<std::pair<Value, Value>>>()};
    for (const auto& [key, item] : *d->items) {
      auto v = capture(frame, item);
      if (!v) return Failure{};
      inner.items->emplace_back(key, *std::move(v));
    }
    frame.copied_dicts.emplace_back(inner, *inner.items);
    return Value(inner);
  }
  return outer;
}

/// Another value, as far as the program can tell: a tensor put in the place of one, or anything where a tensor was.
bool is_other(const Value& now, const Value& before) {
  const TensorRef *a = now.tensor(), *b = before.tensor();
  return a && b ? *a != *b : (a == nullptr) != (b == nullptr);
}

/// Whether a body changed lists or dicts from outside, of which it has copies: nothing carries them back.
bool changes_containers(const Frame& frame) {
  const auto list_changed = [](const auto& copied) {
    const auto& [list, before] = copied;
    return !std::ranges::equal(*list.items, before, [](const Value& a, const Value& b) { return !is_other(a, b); });
  };
  const auto dict_changed = [](const auto& copied) {
    const auto& [dict, before] = copied;
    return !std::ranges::equal(*dict.items, before,
                               [](const auto& a, const auto& b) { return !is_other(a.second, b.second); });
  };
  return std::ranges::any_of(frame.copied_lists, list_changed) || std::ranges::any_of(frame.copied_dicts, dict_changed);
}

/// Builds the bodies of one operation as closed regions.
class Regions {
 public:
  Regions(Importer& importer, Call& call) : importer_(importer), c_(call) {}

  struct Body {
    GraphRef graph;
    std::vector<Value> outputs;                     ///< in the body's own ids; structure only
    std::vector<std::shared_ptr<Storage>> written;  ///< outer storages that the body writes to
    std::vector<ValueId> captures;                  ///< outer values it uses beyond those given
  };

  /// `formals` are types of the block's leading params; `given` are outer values
  /// that follow as captures, whether used or not; `carried` binds block inputs
  /// and written storages to formals. `trial`: messages go nowhere.
  Result<Body> build(const Block& block, const std::vector<ResultInfo>& formals, const std::vector<ValueId>& given,
                     const std::vector<std::shared_ptr<Storage>>& storages, std::size_t first_storage, bool loop,
                     const std::vector<Value>& models) {
    GraphBuilder builder(importer_.diagnostics());
    Frame frame{.builder = builder, .outer = &c_.frame, .depth = c_.frame.depth + 1};
    if (frame.depth > kMaxRegionDepth)
      return c_.error(fmt::format("bodies are nested deeper than {}", kMaxRegionDepth));
    std::vector<ValueId> params;
    params.reserve(formals.size());
    for (const ResultInfo& f : formals) params.push_back(builder.var(f.type, {}, c_.loc, f.data));
    for (ValueId v : given) {
      if (!importer_.capture(frame, v)) return Failure{};
    }
    for (std::size_t i = 0; i < storages.size(); ++i) {
      auto inner = std::make_shared<Storage>();
      inner->value = params[first_storage + i];
      frame.storages[storages[i].get()] = {storages[i], inner};
    }
    Call inside(importer_, frame, c_.operation);
    if (loop) {
      auto round = leaf_of(inside, params[0], Value(Scalar::of(std::int64_t{0})));
      if (!round) return Failure{};
      if (!block.inputs.empty()) frame.values[block.inputs[0].name] = *round;
      std::vector<Value> all;
      std::size_t next = 2;
      for (const Value& m : models) {
        std::vector<Value> before;
        leaves(m, before);
        std::vector<Value> now;
        for (const Value& leaf : before) {
          auto v = leaf_of(inside, params[next++], leaf);
          if (!v) return Failure{};
          now.push_back(*std::move(v));
        }
        std::size_t at = 0;
        all.push_back(with_leaves(m, now, at));
      }
      for (std::size_t i = 0; i < all.size() && i + 1 < block.inputs.size(); ++i) {
        frame.values[block.inputs[i + 1].name] = all[i];
      }
    }
    auto outputs = importer_.run_block(frame, block);
    if (!outputs) return Failure{};
    if (changes_containers(frame)) {
      return c_.error(
          fmt::format("puts tensors into a list or dict from outside of its body, and {} is not known when "
                      "importing: data decides it; export the model by tracing, or as ONNX",
                      loop ? "how many rounds it runs" : "which branch runs"));
    }

    Body body;
    body.outputs = *outputs;
    for (const auto& [key, both] : frame.storages) {
      if (both.second->version > 0) body.written.push_back(both.first);
    }
    std::vector<ValueId> results;
    std::vector<Value> all;
    for (const Value& v : *outputs) {
      if (!is_bounded(v)) return c_.error("a result's lists hold too many items");
      leaves(v, all);
    }
    for (const Value& leaf : all) {
      auto v = id_of(inside, leaf);
      if (!v) return Failure{};
      results.push_back(*v);
    }
    for (const auto& s : storages) results.push_back(frame.storages.at(s.get()).second->value);
    for (ValueId v : frame.captures) {
      if (std::find(given.begin(), given.end(), v) == given.end()) body.captures.push_back(v);
    }
    auto graph = without_unused(builder.finish({}, std::move(results), {}), importer_.diagnostics());
    if (!graph) return Failure{};
    body.graph = std::make_shared<const Graph>(*std::move(graph));
    return body;
  }

  /// Repeats `make` until the bodies use and write nothing that is not passed in.
  template <class Make>
  Result<std::vector<Body>> settle(Make make, std::vector<ValueId>& captures,
                                   std::vector<std::shared_ptr<Storage>>& storages) {
    for (int trial = 0; trial < kMaxTrials; ++trial) {
      Diagnostics messages(importer_.diagnostics().file());
      Result<std::vector<Body>> bodies = Failure{};
      {
        const DiagnosticsSwap swap(importer_.diags_, messages);
        bodies = make();
      }
      if (!bodies) {
        importer_.diagnostics().append(messages);
        return Failure{};
      }
      bool complete = true;
      for (const Body& b : *bodies) {
        for (ValueId v : b.captures) {
          if (std::find(captures.begin(), captures.end(), v) != captures.end()) continue;
          captures.push_back(v);
          complete = false;
        }
        for (const auto& s : b.written) {
          if (std::find(storages.begin(), storages.end(), s) != storages.end()) continue;
          storages.push_back(s);
          complete = false;
        }
      }
      if (!complete) continue;
      importer_.diagnostics().append(messages);
      return bodies;
    }
    return c_.error("the bodies do not settle");
  }

 private:
  Importer& importer_;
  Call& c_;
};

Result<std::vector<Value>> Importer::inlined(Call& c, const Block& block, std::size_t first_argument) {
  if (block.inputs.empty()) return run_block(c.frame, block);
  // A graph of its own, whose names may be those of values here.
  if (c.args.size() - std::min(c.args.size(), first_argument) < block.inputs.size())
    return c.error("a subgraph lacks arguments");
  auto saved = c.frame.values;
  for (std::size_t i = 0; i < block.inputs.size(); ++i)
    c.frame.values[block.inputs[i].name] = c.args[first_argument + i];
  auto out = run_block(c.frame, block);
  c.frame.values = std::move(saved);
  return out;
}

Result<std::vector<Value>> Importer::branch(Call& c) {
  const auto& blocks = c.operation.blocks;
  if (c.args.empty() || blocks.size() != 2) return c.error("needs one condition and two blocks");
  if (c.args.size() == 2 && c.args[1].list()) {  // torch.cond: operands of both branches in a list
    const std::vector<Value> operands = *c.args[1].list()->items;
    c.args.resize(1);
    c.args.insert(c.args.end(), operands.begin(), operands.end());
  }
  const auto known = truth(c, c.args[0]);
  if (!known) return Failure{};
  // A branch that only raises is one that a model's input never takes.
  const bool one_raises = raises(blocks[0]) != raises(blocks[1]);
  if (*known || one_raises) {
    const bool take_first = *known ? **known : raises(blocks[1]);
    return inlined(c, blocks[take_first ? 0 : 1], 1);
  }
  const std::unordered_map<std::string_view, Value> saved =
      blocks[0].inputs.empty() ? std::unordered_map<std::string_view, Value>{} : c.frame.values;
  for (const Block& b : blocks) {
    if (b.inputs.size() + 1 > c.args.size()) return c.error("a subgraph lacks arguments");
    for (std::size_t i = 0; i < b.inputs.size(); ++i) c.frame.values[b.inputs[i].name] = c.args[1 + i];
  }

  std::vector<ValueId> captures;
  std::vector<std::shared_ptr<Storage>> storages;
  Regions regions(*this, c);
  auto bodies = regions.settle(
      [&]() -> Result<std::vector<Regions::Body>> {
        std::vector<ResultInfo> formals;
        std::vector<ValueId> given;
        for (const auto& s : storages) {
          // Written storages come in as captures, too: both branches see the old value.
          if (std::find(captures.begin(), captures.end(), s->value) == captures.end() &&
              c.builder().node(s->value.node).kind != NodeKind::Constant) {
            captures.push_back(s->value);
          }
        }
        given = captures;
        std::vector<Regions::Body> out;
        for (const Block& b : blocks) {
          auto body = regions.build(b, formals, given, {}, 0, false, {});
          if (!body) return Failure{};
          out.push_back(*std::move(body));
        }
        return out;
      },
      captures, storages);
  if (!blocks[0].inputs.empty()) c.frame.values = saved;
  if (!bodies) return Failure{};
  if (!storages.empty()) {
    return c.error("the condition is not known when importing, and a branch writes in place to a tensor from outside");
  }
  std::vector<Regions::Body>& both = *bodies;
  for (std::size_t i = 0; i < both[0].outputs.size(); ++i) {
    if (i >= both[1].outputs.size() || !same_structure(both[0].outputs[i], both[1].outputs[i])) {
      return c.error("the condition is not known when importing, and the branches give results of different structure");
    }
  }
  auto condition = id_of(c, c.args[0]);
  if (!condition) return Failure{};
  auto test = c.cast(*condition, DType::Bool);
  if (!test) return Failure{};
  std::vector<ValueId> operands{*test};
  operands.insert(operands.end(), captures.begin(), captures.end());
  const std::size_t results = both[0].graph->results().size();
  if (results == 0) return std::vector<Value>{};
  auto node = c.builder().call({.op = op("if"),
                                .operands = std::move(operands),
                                .attrs = {{"captures", static_cast<std::int64_t>(captures.size())}},
                                .results = static_cast<int>(results),
                                .regions = {both[0].graph, both[1].graph},
                                .name = c.name,
                                .loc = c.loc});
  if (!node) return Failure{};
  std::vector<Value> out;
  std::uint32_t next = 0;
  for (const Value& model : both[0].outputs) {
    std::vector<Value> before, now;
    leaves(model, before);
    for (const Value& leaf : before) {
      auto v = leaf_of(c, {*node, next++}, leaf);
      if (!v) return Failure{};
      now.push_back(*std::move(v));
    }
    std::size_t at = 0;
    out.push_back(with_leaves(model, now, at));
  }
  return out;
}

Result<std::vector<Value>> Importer::loop(Call& c) {
  if (c.args.size() < 2 || c.operation.blocks.size() != 1)
    return c.error("needs a trip count, a condition and one block");
  const Block& block = c.operation.blocks[0];
  if (block.inputs.size() + 1 != c.args.size() || block.outputs.size() + 1 != c.args.size()) {
    return c.error(fmt::format("{} values are carried, the block takes {} and gives {}", c.args.size() - 2,
                               block.inputs.size() - std::min<std::size_t>(block.inputs.size(), 1),
                               block.outputs.size() - std::min<std::size_t>(block.outputs.size(), 1)));
  }
  const Scalar* limit = c.args[0].scalar();
  if (!limit) return c.error(fmt::format("the trip count is {}", c.args[0].kind()));
  std::vector<Value> carried(c.args.begin() + 2, c.args.end());
  Value condition = c.args[1];

  // Unrolled as long as it is known whether another round follows.
  const std::size_t cost = std::max<std::size_t>(count_operations(block), 1);
  std::int64_t round = 0;
  for (;; ++round) {
    if (!limit->integer.known()) break;
    if (round >= limit->integer.value()) return carried;
    const auto more = truth(c, condition);
    if (!more) return Failure{};
    if (!*more) break;
    if (!**more) return carried;
    const bool endless = limit->integer.value() > kMaxRounds;
    if (round >= kMaxRounds || static_cast<std::size_t>(round + 1) * cost > kMaxUnrolled) break;
    if (endless && round == 0 && limit->integer.value() != INT64_MAX) break;  // counted, and long: stays a loop
    if (static_cast<std::size_t>(std::min(limit->integer.value(), kMaxRounds)) * cost > kMaxUnrolled && !endless &&
        round == 0)
      break;
    c.frame.values[block.inputs[0].name] = Scalar::of(round);
    for (std::size_t i = 0; i < carried.size(); ++i) c.frame.values[block.inputs[i + 1].name] = carried[i];
    auto next = run_block(c.frame, block);
    if (!next) return Failure{};
    condition = next->front();
    carried.assign(next->begin() + 1, next->end());
  }

  std::vector<ValueId> captures;
  std::vector<std::shared_ptr<Storage>> storages;
  std::vector<ValueId> start;  // carried leaves
  std::vector<Value> all;
  for (const Value& v : carried) {
    if (!is_bounded(v)) return c.error("a carried value's lists hold too many items");
    leaves(v, all);
  }
  for (const Value& leaf : all) {
    auto v = id_of(c, leaf);
    if (!v) return Failure{};
    start.push_back(*v);
  }
  Scalar rest = *limit;
  if (round > 0) rest = Scalar{.integer = rules::operator-(limit->integer, SymInt(round))};
  auto rounds = id_of(c, Value(rest));
  auto test = id_of(c, condition);
  if (!rounds || !test) return Failure{};
  auto go = c.cast(*test, DType::Bool);
  if (!go) return Failure{};

  Regions regions(*this, c);
  std::vector<ValueId> operands;
  std::size_t carried_count = 0;
  Attrs attrs;
  auto bodies = regions.settle(
      [&]() -> Result<std::vector<Regions::Body>> {
        operands = {*rounds, *go};
        operands.insert(operands.end(), start.begin(), start.end());
        for (const auto& s : storages) operands.push_back(s->value);
        carried_count = operands.size() - 2;
        operands.insert(operands.end(), captures.begin(), captures.end());
        attrs.set("captures", static_cast<std::int64_t>(captures.size()));
        std::vector<ResultInfo> infos;
        infos.reserve(operands.size());
        for (ValueId v : operands) infos.push_back(info_of(c.builder(), v));
        for (int trial = 0; trial < kMaxTrials; ++trial) {
          auto params = region_params(op("loop"), attrs, 0, infos, carried_count + 2 + captures.size());
          if (params.size() < carried_count + 2) return c.error("the body's params do not fit");
          params.resize(carried_count + 2);
          auto body = regions.build(block, params, captures, storages, 2 + start.size(), true, carried);
          if (!body) return Failure{};
          if (!same_structure(Value::list(carried), Value::list({body->outputs.begin() + 1, body->outputs.end()}))) {
            return c.error("the structure of a carried value changes from round to round");
          }
          if (!body->captures.empty() || !body->written.empty()) {
            bool open = !body->captures.empty();
            for (const auto& s : body->written)
              open = open || std::find(storages.begin(), storages.end(), s) == storages.end();
            if (open) return std::vector<Regions::Body>{*std::move(body)};
          }
          if (widen_carried(op("loop"), attrs, *body->graph, infos)) continue;
          return std::vector<Regions::Body>{*std::move(body)};
        }
        return c.error("the types of carried values do not settle");
      },
      captures, storages);
  if (!bodies) return Failure{};
  auto node = c.builder().call({.op = op("loop"),
                                .operands = operands,
                                .attrs = attrs,
                                .results = static_cast<int>(carried_count),
                                .regions = {bodies->front().graph},
                                .name = c.name,
                                .loc = c.loc});
  if (!node) return Failure{};
  std::vector<Value> out;
  std::uint32_t next = 0;
  for (const Value& model : carried) {
    std::vector<Value> before, now;
    leaves(model, before);
    for (const Value& leaf : before) {
      auto v = leaf_of(c, {*node, next++}, leaf);
      if (!v) return Failure{};
      now.push_back(*std::move(v));
    }
    std::size_t at = 0;
    out.push_back(with_leaves(model, now, at));
  }
  for (const auto& s : storages) {
    s->value = {*node, next++};
    ++s->version;
  }
  return out;
}

}  // namespace perfc::torch
