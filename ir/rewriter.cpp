#include "ir/rewriter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "ir/control_flow.h"

namespace perfc {
namespace {

constexpr std::uint32_t kNoParam = 0xffffffffu;

/// Everything `before` knows, `after` knows too.
bool refines(const Data* before, const Data* after) {
  if (!before || before == after) return true;
  if (!after) return false;
  const auto* a = before->ints();
  const auto* b = after->ints();
  if (!a || !b) return *before == *after;
  return a->size() == b->size() && std::equal(a->begin(), a->end(), b->begin(), [](const SymInt& x, const SymInt& y) {
           return x == y || (!x.known() && !x.symbolic());
         });
}

/// What a batched scan's body returns, with the batch axis of the initial value.
Type with_batch_of(const Type& start, Type value) {
  if (!value.is_tensor() || !value.ranked()) return value;
  Shape shape{start.is_tensor() && start.ranked() && start.rank() > 0 ? start.shape()[0] : Dim::unknown()};
  shape.insert(shape.end(), value.shape().begin(), value.shape().end());
  return Type::tensor(value.dtype(), std::move(shape));
}

int& region_depth() {
  thread_local int depth = 0;
  return depth;
}

/// Counts how deep the rebuilding of regions is nested.
struct DepthGuard {
  DepthGuard() { ++region_depth(); }
  ~DepthGuard() { --region_depth(); }
  DepthGuard(const DepthGuard&) = delete;
  DepthGuard& operator=(const DepthGuard&) = delete;
  bool exceeded() const { return region_depth() > kMaxRegionDepth; }
};

Failure too_deep(Diagnostics& diags) {
  return diags.error(fmt::format("regions are nested deeper than {}", kMaxRegionDepth));
}

}  // namespace

Rewriter::Rewriter(const Graph& source, Diagnostics& diags)
    : source_(source), own_(std::in_place, diags), builder_(*own_) {
  builder_.reserve(source.size());
  index();
}

Rewriter::Rewriter(const Graph& source, GraphBuilder& into) : source_(source), builder_(into) { index(); }

void Rewriter::index() {
  const Graph& source = source_;
  param_index_.assign(source.size(), kNoParam);
  first_.reserve(source.size());
  std::uint32_t total = 0;
  for (const Node& n : source.nodes()) {
    first_.push_back(total);
    total += static_cast<std::uint32_t>(n.results.size());
  }
  values_.resize(total);
  for (std::size_t i = 0; i < source.params().size(); ++i) {
    const ValueId p = source.params()[i];
    params_.push_back(source.node(p).results[p.result]);
    param_index_[p.node] = static_cast<std::uint32_t>(i);
  }
}

ValueId Rewriter::operator[](ValueId old) const {
  if (!old) return old;
  const ValueId v = values_[first_[old.node] + old.result];
  assert(v && "operand used before it was copied or mapped");
  return v;
}

void Rewriter::map(ValueId old, ValueId replacement) { values_[first_[old.node] + old.result] = replacement; }

std::vector<ValueId> Rewriter::operands(NodeId old) const {
  std::vector<ValueId> out;
  for (ValueId v : source_.node(old).operands) out.push_back((*this)[v]);
  return out;
}

bool Rewriter::refines(ValueId old, ValueId replacement) const {
  if (!old || !replacement) return !old && !replacement;
  return source_.type(old) == builder_.type(replacement) &&
         perfc::refines(source_.data(old), builder_.data(replacement));
}

bool Rewriter::unchanged(const Node& n, const std::vector<ValueId>& operands) const {
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (!operands[i]) continue;
    const ValueId old = n.operands[i];
    if (!(source_.type(old) == builder_.type(operands[i]))) return false;
    const Data* before = source_.data(old);
    const Data* after = builder_.data(operands[i]);
    if (before != after && !(before && after && *before == *after)) return false;
  }
  return true;
}

void Rewriter::retype_param(std::size_t index, ResultInfo info) { params_[index] = std::move(info); }

Status Rewriter::copy(NodeId old) {
  const Node& n = source_.node(old);
  switch (n.kind) {
    case NodeKind::Var: {
      const ResultInfo& info = params_[param_index_[old]];
      map({old, 0}, builder_.var(info.type, n.name, n.loc, info.data));
      return ok();
    }
    case NodeKind::Constant:
      map({old, 0}, {builder_.adopt(n, {}), 0});
      return ok();
    case NodeKind::Call:
      break;
  }
  std::vector<ValueId> mapped = operands(old);
  if (unchanged(n, mapped)) {
    const NodeId id = builder_.adopt(n, mapped);
    for (std::uint32_t r = 0; r < n.results.size(); ++r) map({old, r}, {id, r});
    return ok();
  }
  return copy_with(old, std::move(mapped), n.attrs);
}

Status Rewriter::copy_with(NodeId old, std::vector<ValueId> operands, Attrs attrs) {
  const Node& n = source_.node(old);
  std::vector<Type> declared;
  bool same = operands.size() == n.operands.size() && attrs == n.attrs;
  for (std::size_t i = 0; same && i < operands.size(); ++i) same = refines(n.operands[i], operands[i]);
  if (same) {
    for (const ResultInfo& r : n.results) declared.push_back(r.type);
  }
  return copy_declared(old, std::move(operands), std::move(attrs), std::move(declared));
}

Status Rewriter::copy_declared(NodeId old, std::vector<ValueId> operands, Attrs attrs, std::vector<Type> declared) {
  const Node& n = source_.node(old);
  std::vector<GraphRef> regions = n.regions;
  if (!regions.empty()) {
    bool same = operands.size() == n.operands.size();
    for (std::size_t i = 0; same && i < operands.size(); ++i) same = refines(n.operands[i], operands[i]);
    if (!same) {
      std::vector<ResultInfo> infos;
      infos.reserve(operands.size());
      for (ValueId v : operands) {
        infos.push_back(v ? ResultInfo{builder_.type(v), builder_.data_ref(v)} : ResultInfo{});
      }
      auto rebuilt = retype_regions(n.op, attrs, regions, std::move(infos), builder_.diagnostics());
      if (!rebuilt) return Failure{};
      regions = std::move(*rebuilt);
    }
  }
  auto id = builder_.call({.op = n.op,
                           .operands = std::move(operands),
                           .attrs = std::move(attrs),
                           .results = static_cast<int>(n.results.size()),
                           .declared = std::move(declared),
                           .regions = std::move(regions),
                           .name = n.name,
                           .loc = n.loc});
  if (!id) return Failure{};
  for (std::uint32_t r = 0; r < n.results.size(); ++r) map({old, r}, {*id, r});
  return ok();
}

Graph Rewriter::finish() {
  std::vector<ValueId> results;
  for (ValueId v : source_.results()) results.push_back((*this)[v]);
  return builder_.finish(source_.name(), std::move(results), source_.result_names());
}

Result<Graph> retype(const Graph& graph, const std::vector<ResultInfo>& params, Diagnostics& diags) {
  const DepthGuard depth;
  if (depth.exceeded()) return too_deep(diags);
  Rewriter rewriter(graph, diags);
  for (std::size_t i = 0; i < params.size() && i < graph.params().size(); ++i) {
    if (params[i].type) rewriter.retype_param(i, params[i]);
  }
  for (NodeId id = 0; id < graph.size(); ++id) {
    // Not `copy`, which takes unchanged results over: everything is inferred.
    const Node& n = graph.node(id);
    const Status status =
        n.kind == NodeKind::Call ? rewriter.copy_with(id, rewriter.operands(id), n.attrs) : rewriter.copy(id);
    if (!status) return Failure{};
  }
  return rewriter.finish();
}

bool widen_carried(OpId op, const Attrs& attrs, const Graph& body, std::vector<ResultInfo>& operands) {
  const ControlLayout layout = control_layout(op, attrs, operands.size());
  bool widened = false;
  for (std::size_t i = 0; i < layout.carried; ++i) {
    if (layout.first_result + i >= body.results().size()) break;
    ResultInfo& start = operands[layout.first_carried + i];
    Type next = body.type(body.results()[layout.first_result + i]);
    if (layout.batched) next = with_batch_of(start.type, std::move(next));
    if (!start.type || next == start.type) continue;
    Type both = join(start.type, next);
    if (!both || both == start.type) continue;
    start = {std::move(both), nullptr};
    widened = true;
  }
  return widened;
}

Result<std::vector<GraphRef>> retype_regions(OpId op, const Attrs& attrs, const std::vector<GraphRef>& regions,
                                             std::vector<ResultInfo> operands, Diagnostics& diags) {
  for (;;) {
    std::vector<GraphRef> rebuilt;
    for (std::size_t i = 0; i < regions.size(); ++i) {
      const std::size_t count = regions[i]->params().size();
      auto body = retype(*regions[i], region_params(op, attrs, i, operands, count), diags);
      if (!body) return Failure{};
      rebuilt.push_back(std::make_shared<const Graph>(std::move(*body)));
    }
    if (rebuilt.empty() || !widen_carried(op, attrs, *rebuilt[0], operands)) return rebuilt;
  }
}

namespace {

Result<Graph> apply_to_regions(Graph graph, Diagnostics& diags, const std::function<Result<Graph>(Graph)>& pass) {
  const DepthGuard depth;
  if (depth.exceeded()) return too_deep(diags);
  const auto has_regions = [](const Node& n) { return !n.regions.empty(); };
  if (std::none_of(graph.nodes().begin(), graph.nodes().end(), has_regions)) return pass(std::move(graph));

  Rewriter rewriter(graph, diags);
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node& n = graph.node(id);
    if (n.regions.empty()) {
      if (!rewriter.copy(id)) return Failure{};
      continue;
    }
    CallSpec spec{.op = n.op,
                  .operands = rewriter.operands(id),
                  .attrs = n.attrs,
                  .results = static_cast<int>(n.results.size()),
                  .name = n.name,
                  .loc = n.loc};
    for (const ResultInfo& r : n.results) spec.declared.push_back(r.type);
    for (const GraphRef& region : n.regions) {
      auto done = apply_to_regions(*region, diags, pass);
      if (!done) return Failure{};
      spec.regions.push_back(std::make_shared<const Graph>(std::move(*done)));
    }
    auto call = rewriter.builder().call(std::move(spec));
    if (!call) return Failure{};
    for (std::uint32_t r = 0; r < n.results.size(); ++r) rewriter.map({id, r}, {*call, r});
  }
  return pass(rewriter.finish());
}

}  // namespace

Result<Graph> for_each_region(Graph graph, Diagnostics& diags, const std::function<Result<Graph>(Graph)>& pass) {
  return apply_to_regions(std::move(graph), diags, pass);
}

}  // namespace perfc
