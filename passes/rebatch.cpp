#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ir/control_flow.h"
#include "ir/infer_context.h"
#include "passes/batch_fixes.h"
#include "passes/batch_inputs.h"
#include "passes/passes.h"

namespace perfc::passes {
namespace {

/// Bodies are rebuilt a second time when the states that enter them change, so that work doubles with
/// every level; deeper loops keep the states that they were given.
constexpr int kMaxFittedDepth = 4;

/// Rebuilds one flat graph for another batch and checks what came out.
class Rebatcher {
 public:
  Rebatcher(const Graph& graph, const BatchChange& change, BatchDemands& demands, Diagnostics& diags, int depth = 0)
      : graph_(graph), change_(change), demands_(demands), diags_(diags), depth_(depth), rewriter_(graph, diags),
        batch_(graph), sampled_(graph.size(), false), pairwise_(graph.size(), false), made_larger_(graph.size(), false),
        of_one_(graph.size(), false) {}

  Result<Graph> run(const std::vector<ResultInfo>& params) {
    for (std::size_t i = 0; i < params.size(); ++i) rewriter_.retype_param(i, params[i]);
    for (NodeId id = 0; id < graph_.size(); ++id) {
      if (!add(id) || !locate_batch(id)) return Failure{};
    }
    std::vector<ValueId> replaced;
    for (NodeId id = 0; id < graph_.size(); ++id) {
      replaced.push_back(graph_.node(id).results.empty() ? ValueId{} : rewriter_[{id, 0}]);
    }
    Graph after = rewriter_.finish();
    if (!check_work(after, replaced) || !check_results(after)) return Failure{};
    return after;
  }

 private:
  Status add(NodeId id) {
    const Node& n = graph_.node(id);
    BatchedCall call{rewriter_, batch_, change_, demands_, id, rewriter_.operands(id), n.attrs, of_one_};
    if (!(n.kind == NodeKind::Call ? add_call(call) : rewriter_.copy(id))) return Failure{};
    for (std::uint32_t r = 0; r < n.results.size(); ++r) {
      const auto& at = demands_.origin({id, r});
      if (at && !fit_result(call, r, *at)) return Failure{};
    }
    return ok();
  }

  Status add_call(BatchedCall& call) {
    const Node& n = call.node();
    const auto& begins = n.results.size() == 1 ? demands_.origin({call.id, 0}) : std::nullopt;
    bool touched = (begins && restate_batch(call, *begins)) || n.is(op("concatenate"));
    for (std::size_t i = 0; i < call.operands.size(); ++i) {
      touched = touched || !rewriter_.refines(n.operands[i], call.operands[i]);
    }
    if (!touched) return rewriter_.copy(call.id);
    if (!fix_for_batch(call)) return Failure{};
    if (!(n.regions.empty() ? rewriter_.copy_declared(call.id, call.operands, call.attrs, declared(n))
                            : add_with_regions(call))) {
      diags_.note(n.loc, n.name, fmt::format("while changing the batch from {} to {}", change_.from, change_.to));
      return Failure{};
    }
    return ok();
  }

  /// Opaque calls have no rule: their declared results follow the batch in front.
  std::vector<Type> declared(const Node& n) const {
    std::vector<Type> types;
    if (def(n.op).category != Category::Opaque) return types;
    for (const ResultInfo& r : n.results) {
      Type type = r.type;
      if (type.kind() == TypeKind::Tensor && type.ranked() && type.rank() > 0 && type.shape()[0].is(change_.from)) {
        Shape shape = type.shape();
        shape[0] = change_.to;
        type = Type::tensor(type.dtype(), std::move(shape));
      }
      types.push_back(std::move(type));
    }
    return types;
  }

  /// Bodies hold hard-coded shapes too.
  Status add_with_regions(BatchedCall& call) {
    const Node& n = call.node();
    std::vector<ResultInfo> infos;
    std::vector<GraphRef> regions;
    const ControlLayout layout = control_layout(n.op, call.attrs, call.operands.size());
    bool settled_states = layout.carried == 0 || layout.batched || depth_ >= kMaxFittedDepth;
    for (;;) {
      infos.clear();
      regions.clear();
      for (ValueId v : call.operands) {
        infos.push_back(v ? ResultInfo{rewriter_.builder().type(v), rewriter_.builder().data_ref(v)} : ResultInfo{});
      }
      for (std::size_t i = 0; i < n.regions.size(); ++i) {
        const auto params = region_params(n.op, call.attrs, i, infos, n.regions[i]->params().size());
        BatchDemands inside(*n.regions[i], change_);
        auto body = Rebatcher(*n.regions[i], change_, inside, diags_, depth_ + 1).run(params);
        if (!body) return Failure{};
        regions.push_back(std::make_shared<const Graph>(std::move(*body)));
      }
      if (settled_states || regions.empty()) break;
      settled_states = true;
      const auto fitted = fit_states(call, layout, *regions[0]);
      if (!fitted) return Failure{};
      if (*fitted == 0) break;
    }
    auto settled = retype_regions(n.op, call.attrs, regions, std::move(infos), diags_);
    if (!settled) return Failure{};
    auto added = rewriter_.builder().call({.op = n.op,
                                           .operands = call.operands,
                                           .attrs = call.attrs,
                                           .results = static_cast<int>(n.results.size()),
                                           .regions = std::move(*settled),
                                           .name = n.name,
                                           .loc = n.loc});
    if (!added) return Failure{};
    for (std::uint32_t r = 0; r < n.results.size(); ++r) rewriter_.map({call.id, r}, {*added, r});
    return ok();
  }

  /// States that a loop or a scan begins with and that were made for the old batch, as the zeros of a recurrent
  /// layer are: the body makes states of the new batch of them. How many there were.
  Result<std::size_t> fit_states(BatchedCall& call, const ControlLayout& layout, const Graph& body) {
    std::size_t fitted = 0;
    for (std::size_t k = 0; k < layout.carried; ++k) {
      const std::size_t i = layout.first_carried + k, r = layout.first_result + k;
      if (!call.has(i) || call.batch_of(i) || r >= body.results().size()) continue;
      const Type& before = rewriter_.builder().type(call.operands[i]);
      const Type& after = body.type(body.results()[r]);
      if (!before.is_tensor() || !after.is_tensor() || !before.is_static() || !after.is_static() ||
          before.rank() != after.rank())
        continue;
      std::optional<std::size_t> axis;
      std::size_t changed = 0;
      for (std::size_t a = 0; a < before.rank(); ++a) {
        if (before.shape()[a] == after.shape()[a]) continue;
        ++changed;
        axis = a;
      }
      if (changed != 1 || !before.shape()[*axis].is(change_.from) || !after.shape()[*axis].is(change_.to)) continue;
      if (!call.fit(i, {*axis, 1}, change_.to)) return Failure{};
      ++fitted;
    }
    return fitted;
  }

  /// Notes which dim of each result follows the batch, and refuses results
  /// that changed in another way.
  Status locate_batch(NodeId id) {
    const Node& n = graph_.node(id);
    const bool reads_shape_only = n.kind == NodeKind::Call && def(n.op).dims_only;
    for (ValueId v : n.operands) {
      if (v && sampled_[v.node] && !reads_shape_only) sampled_[id] = true;
      if (v && made_larger_[v.node] && !reads_shape_only) made_larger_[id] = true;
    }
    for (std::uint32_t r = 0; r < n.results.size(); ++r) {
      if (demands_.origin({id, r})) made_larger_[id] = true;
      const Type& before = n.results[r].type;
      const Type& after = rewriter_.builder().type(rewriter_[{id, r}]);
      if (before == after || !before.is_tensor() || !before.is_static() || !after.is_static()) continue;
      const auto old_count = before.elements();
      const auto new_count = after.elements();
      if (!old_count || !new_count || *old_count == 0) continue;
      const auto expected = scaled_count(*old_count);
      std::size_t changed = 0;
      std::optional<std::size_t> axis;
      for (std::size_t i = 0; i < before.rank() && before.rank() == after.rank(); ++i) {
        if (before.shape()[i] == after.shape()[i]) continue;
        ++changed;
        axis = i;
      }
      if (before.rank() != after.rank()) axis = 0;  // a squeeze of every 1 keeps the batch now
      if (changed == 2 && pairs_samples(n, before, after)) {
        if (std::none_of(pairwise_.begin(), pairwise_.end(), [](bool b) { return b; })) {
          diags_.note(n.loc, n.name, "multiplies samples with each other: its work grows with the square of the batch");
        }
        pairwise_[id] = true;
        batch_.set({id, r}, {*axis, 1});
        continue;
      }
      if (changed > 1 || expected != *new_count) {
        return fail(n,
                    fmt::format("its result {} becomes {}; expected was one dim that goes from a multiple of {} to as "
                                "many times {}",
                                to_string(before), to_string(after), change_.from, change_.to));
      }
      if (!axis) continue;
      if (n.kind == NodeKind::Var) sampled_[id] = true;
      batch_.set({id, r}, {*axis, inherited_outer(n, before, *axis)});
    }
    return ok();
  }

  /// A product of all samples with all samples, or what is computed from one: both dims hold the batch.
  bool pairs_samples(const Node& n, const Type& before, const Type& after) const {
    for (std::size_t i = 0; i < before.rank(); ++i) {
      if (before.shape()[i] == after.shape()[i]) continue;
      if (!after.shape()[i].known() || change_.scale(before.shape()[i].value()) != after.shape()[i].value())
        return false;
    }
    if (n.kind == NodeKind::Call && def(n.op).category == Category::MatMul && batch_[n.operands[0]] &&
        batch_[n.operands[1]])
      return true;
    return reads_pairs(n);
  }

  bool reads_pairs(const Node& n) const {
    return std::any_of(n.operands.begin(), n.operands.end(), [&](ValueId v) { return v && pairwise_[v.node]; });
  }

  std::int64_t inherited_outer(const Node& n, const Type& result, std::size_t axis) const {
    if (axis >= result.rank()) return 1;
    for (ValueId v : n.operands) {
      if (!v || !batch_[v]) continue;
      const Type& type = graph_.type(v);
      if (def(n.op).category == Category::Shape) return outer_factor(type.shape(), *batch_[v], result.shape(), axis);
      if (type.shape()[batch_[v]->axis] == result.shape()[axis]) return batch_[v]->outer;
    }
    return 1;
  }

  /// Work on samples grows with the batch, work on weights does not.
  Status check_work(const Graph& after, const std::vector<ValueId>& replaced) {
    const std::vector<bool> weight = graph_.weight_only();
    for (NodeId id = 0; id < graph_.size(); ++id) {
      const Node& n = graph_.node(id);
      if (n.kind != NodeKind::Call || !replaced[id] || !(sampled_[id] || weight[id])) continue;
      const double before = op_cost(graph_, id).macs;
      const double macs = op_cost(after, replaced[id].node).macs;
      const double samples = pairwise_[id] || reads_pairs(n) ? change_.ratio() * change_.ratio() : change_.ratio();
      const bool grows = made_larger_[id] && std::abs(macs - before * change_.ratio()) <= 1e-9 * macs;
      const bool follows = !of_one_[id] && (sampled_[id] || grows);
      const double expected = follows ? before * samples : before;
      if (std::abs(macs - expected) > 1e-9 * std::max(macs, expected)) {
        return fail(
            n, macs == before
                   ? std::string("its work does not follow the batch: what it reads has no sample "
                                 "per entry, or was made for the old batch")
                   : fmt::format("its {:.0f} multiply-accumulates become {:.0f}; expected were {:.0f}, {}", before,
                                 macs, expected,
                                 follows ? fmt::format("{:.0f} a sample", expected / static_cast<double>(change_.to))
                                         : std::string("for it reads weights alone")));
      }
    }
    return ok();
  }

  Status check_results(const Graph& after) {
    for (std::size_t i = 0; i < graph_.results().size(); ++i) {
      const ValueId v = graph_.results()[i];
      const Type& type = graph_.type(v);
      if (!sampled_[v.node] || pairwise_[v.node] || !type.is_tensor() || !type.is_static() || type.rank() == 0)
        continue;
      const auto before = type.elements();
      const Type& now = after.type(after.results()[i]);
      if (!before || !now.elements() || scaled_count(*before) == now.elements()) continue;
      const std::string& name = graph_.result_names()[i];
      return fail(graph_.node(v),
                  fmt::format("output {} depends on samples and stays {}; expected was one entry or more a sample",
                              name.empty() ? fmt::format("{}", i) : fmt::format("'{}'", name), to_string(now)));
    }
    return ok();
  }

  std::optional<std::int64_t> scaled_count(std::int64_t count) const { return change_.scale(count); }

  Failure fail(const Node& n, const std::string& reason) {
    return diags_.error(n.loc, n.name,
                        fmt::format("{}cannot change the batch from {} to {}: {}",
                                    n.kind == NodeKind::Call ? fmt::format("{}: ", def(n.op).name) : std::string(),
                                    change_.from, change_.to, reason));
  }

  const Graph& graph_;
  const BatchChange& change_;
  BatchDemands& demands_;
  Diagnostics& diags_;
  int depth_;  // of bodies within bodies
  Rewriter rewriter_;
  BatchDims batch_;
  std::vector<bool> sampled_;   // by old node: computed from the samples' contents
  std::vector<bool> pairwise_;  // by old node: has an entry for every pair of samples
  // by old node: reads what BatchDemands made for the new batch, beside weights
  std::vector<bool> made_larger_;
  std::vector<bool> of_one_;  // by old node: computed of one sample, and of the others by other nodes
};

/// Rebuilds until nothing new has to follow the batch. What was made for the old one and cannot is repeated or cut
/// where it meets samples.
Result<Graph> rebuild(const Graph& graph, const BatchChange& change, const std::vector<ResultInfo>& params,
                      Diagnostics& diags) {
  constexpr int kMaxRounds = 8;
  BatchDemands demands(graph, change);
  for (int round = 0;; ++round) {
    const std::size_t known = demands.size();
    Diagnostics messages(diags.file());
    auto after = Rebatcher(graph, change, demands, messages).run(params);
    if (demands.size() != known && round < kMaxRounds) continue;
    if (!after && known > 0) {
      BatchDemands none(graph, change);
      messages = Diagnostics(diags.file());
      after = Rebatcher(graph, change, none, messages).run(params);
    }
    diags.append(messages);
    return after;
  }
}

}  // namespace

Result<Graph> rebatch(Graph graph, const PassOptions& options, Diagnostics& diags) {
  if (options.batch == 0) return graph;
  if (options.batch < 0) return diags.error(fmt::format("the batch cannot be {}", options.batch));
  const auto inputs = batch_inputs(graph, options.batch_axes);
  if (!inputs) {
    if (graph.params().empty()) return diags.error("cannot change the batch: the model has no inputs");
    return diags.error(options.batch_axes.empty()
                           ? "cannot change the batch: no input has a dim that could count samples"
                           : "cannot change the batch: with this --batch-axis no input holds samples");
  }
  const Dim& batch = inputs->samples;
  const BatchChange change{batch.known() ? batch.value() : 1, options.batch, *inputs->axes[inputs->first],
                           options.contents};
  if (batch.symbolic()) {
    PassOptions bound;
    bound.dims.emplace_back(batch.symbol_name(), options.batch);
    return bind_shapes(graph, bound, diags);
  }
  if (batch.is(0)) {
    const Node& n = graph.node(graph.params()[inputs->first]);
    return diags.error(n.loc, n.name,
                       fmt::format("cannot change the batch: dim {} of the input is 0", *inputs->axes[inputs->first]));
  }
  if (batch.is(options.batch)) return graph;

  const auto params = changed_params(graph, *inputs, change, diags);
  if (!params) return Failure{};
  if (!batch.known()) return retype(graph, *params, diags);
  auto after = rebuild(graph, change, *params, diags);
  if (!after) say_what_helps(graph, *inputs, change, diags);
  if (after && options.batch_axes.empty()) warn_left_behind(graph, *inputs, diags);
  return after;
}

}  // namespace perfc::passes
