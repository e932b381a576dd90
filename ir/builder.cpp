#include "ir/builder.h"

#include <algorithm>

#include "ir/infer_context.h"
#include "ir/support/work_limit.h"

namespace perfc {
namespace {

/// What is wrong with the dims of a result, or null. A petabyte of elements is
/// no model's intent; the bound keeps later arithmetic on sizes exact.
const char* flaw_of(const Shape& shape) {
  constexpr std::int64_t kMaxElements = std::int64_t{1} << 50;
  std::int64_t known = 1;
  bool empty = false, huge = false;
  for (const Dim& dim : shape) {
    if (!dim.known()) continue;
    if (dim.value() < 0) return "a negative dim";
    empty = empty || dim.value() == 0;
    huge = huge || __builtin_mul_overflow(known, dim.value(), &known) || known > kMaxElements;
  }
  return huge && !empty ? "absurdly many elements" : nullptr;
}

/// Gives the extents of the attribute "bound" to dims that are open.
void apply_bounds(const Attrs& attrs, Node& n) {
  const std::vector<std::int64_t> bounds = attrs.ints_or_empty(kBound);
  for (std::size_t i = 0; i + 2 < bounds.size(); i += 3) {
    const auto result = static_cast<std::uint64_t>(bounds[i]), axis = static_cast<std::uint64_t>(bounds[i + 1]);
    if (result >= n.results.size() || bounds[i + 2] < 0) continue;
    Type& type = n.results[result].type;
    if (!type.is_tensor() || !type.ranked() || axis >= type.rank() || type.shape()[axis].known()) continue;
    Shape shape = type.shape();
    shape[axis] = bounds[i + 2];
    type = type.kind() == TypeKind::Tensor ? Type::tensor(type.dtype(), std::move(shape))
                                           : Type::sparse(type.dtype(), std::move(shape));
  }
}

}  // namespace

const Type& InferContext::type(std::size_t i) const {
  static const Type none;
  return has(i) ? *operands_[i].type : none;
}

std::optional<std::vector<std::int64_t>> InferContext::known_ints(std::size_t i) const {
  const Data* d = data(i);
  return d ? d->known_ints() : std::nullopt;
}

const Type& InferContext::declared(std::size_t i) const {
  static const Type none;
  return i < declared_.size() ? declared_[i] : none;
}

void InferContext::set_data(std::size_t i, Data data) {
  if (i < results_.size() && data.size() <= static_cast<std::size_t>(Data::kMaxElements)) {
    results_[i].data = std::make_shared<const Data>(std::move(data));
  }
}

Failure InferContext::fail(std::string message) const {
  return diags_.error(loc_, name_, fmt::format("{}: {}", def(op_).name, message));
}

ValueId GraphBuilder::var(Type type, std::string name, SourceLoc loc, DataRef data) {
  Node n;
  n.kind = NodeKind::Var;
  n.name = std::move(name);
  n.loc = loc;
  n.results.push_back({std::move(type), std::move(data)});
  graph_.nodes_.push_back(std::move(n));
  const ValueId id{static_cast<NodeId>(graph_.nodes_.size() - 1), 0};
  graph_.params_.push_back(id);
  return id;
}

ValueId GraphBuilder::constant(Literal literal, std::string name, SourceLoc loc) {
  Node n;
  n.kind = NodeKind::Constant;
  n.name = std::move(name);
  n.loc = loc;
  n.results.push_back({std::move(literal.type), std::move(literal.data)});
  graph_.nodes_.push_back(std::move(n));
  return {static_cast<NodeId>(graph_.nodes_.size() - 1), 0};
}

Result<NodeId> GraphBuilder::call(CallSpec spec) {
  const OpDef& d = def(spec.op);
  const auto fail = [&](std::string text) {
    return diags_.error(spec.loc, spec.name, fmt::format("{}: {}", d.name, text));
  };
  if (graph_.nodes_.size() >= kMaxNodes) return fail(fmt::format("more than {} nodes", kMaxNodes));
  if (WorkLimit* limit = WorkLimit::current()) {
    if (limit->refuses(graph_.nodes_.size())) return fail(fmt::format("more than {} nodes", limit->most_nodes()));
    if (limit->is_late()) return fail("the time for this model is up");
  }
  while (!spec.operands.empty() && !spec.operands.back()) spec.operands.pop_back();
  const int given = static_cast<int>(spec.operands.size());
  if (given < d.operands.least || (d.operands.most >= 0 && given > d.operands.most)) {
    return fail(fmt::format("takes {} operands, got {}",
                            d.operands.most < 0 ? fmt::format("at least {}", d.operands.least)
                            : d.operands.least == d.operands.most
                                ? fmt::format("{}", d.operands.least)
                                : fmt::format("{} to {}", d.operands.least, d.operands.most),
                            given));
  }
  const int count = spec.results >= 0 ? spec.results : std::max<int>(d.results, 1);
  // A body may be run for nothing; every other operator has a value to give.
  const bool pointless = count == 0 && d.category != Category::Control;
  if (pointless && d.category == Category::Opaque) return fail("has no results");

  SmallVec<InferContext::Operand, 6> operands;
  for (std::size_t i = 0; i < spec.operands.size(); ++i) {
    const ValueId v = spec.operands[i];
    if (v) {
      operands.push_back({&graph_.type(v), graph_.data(v)});
    } else {
      if (static_cast<int>(i) < d.operands.least) return fail(fmt::format("operand {} is missing", i));
      operands.push_back({});
    }
  }

  Node n;
  n.kind = NodeKind::Call;
  n.op = spec.op;
  n.results.resize(static_cast<std::size_t>(pointless ? 1 : count));
  InferContext ctx(spec.op, spec.attrs, {operands.data(), operands.size()}, spec.regions,
                   {n.results.data(), n.results.size()}, spec.declared, diags_, spec.loc, spec.name);
  if (!d.infer(ctx)) return Failure{};
  if (pointless) return fail("has no results");  // after what the rule had to say
  if (spec.attrs.has(kBound)) apply_bounds(spec.attrs, n);
  for (std::size_t i = 0; i < n.results.size(); ++i) {
    ResultInfo& r = n.results[i];
    if (i < spec.declared.size()) {
      bool conflict = false;
      Type merged = merge(r.type, spec.declared[i], &conflict);
      if (conflict) {
        diags_.warning(spec.loc, spec.name,
                       fmt::format("{}: result {} is {}, but the file declares {}; using the former", d.name, i,
                                   to_string(r.type), to_string(spec.declared[i])));
      }
      r.type = std::move(merged);
    }
    if (!r.type) return fail(fmt::format("cannot type result {}", i));
    if (r.type.is_tensor() && r.type.ranked()) {
      if (const char* flaw = flaw_of(r.type.shape())) {
        return fail(fmt::format("result {} would have {}: {}", i, flaw, to_string(r.type)));
      }
    }
  }
  if (d.eval) d.eval(ctx);

  n.operands.assign(spec.operands.begin(), spec.operands.end());
  n.attrs = std::move(spec.attrs);
  n.regions = std::move(spec.regions);
  n.name = std::move(spec.name);
  n.loc = spec.loc;
  graph_.nodes_.push_back(std::move(n));
  return static_cast<NodeId>(graph_.nodes_.size() - 1);
}

std::optional<DimBound> GraphBuilder::bound_of(NodeId id, std::size_t result, std::size_t axis) const {
  const Node& n = graph_.nodes_[id];
  const BoundFn rule = n.kind == NodeKind::Call ? def(n.op).bound : nullptr;
  if (!rule) return std::nullopt;
  SmallVec<InferContext::Operand, 6> operands;
  for (const ValueId v : n.operands)
    operands.push_back(v ? InferContext::Operand{&graph_.type(v), graph_.data(v)} : InferContext::Operand{});
  SmallVec<ResultInfo, 1> results = n.results;
  const InferContext c(n.op, n.attrs, {operands.data(), operands.size()}, n.regions, {results.data(), results.size()},
                       {}, diags_, n.loc, n.name);
  return rule(c, result, axis);
}

void GraphBuilder::fix_dims(NodeId id, std::vector<std::int64_t> bounds, std::string by) {
  Node& n = graph_.nodes_[id];
  n.attrs.set(kBound, std::move(bounds));
  n.attrs.set(kBoundBy, std::move(by));
  apply_bounds(n.attrs, n);
}

void GraphBuilder::refine(ValueId v, const Type& declared) {
  Type& type = graph_.nodes_[v.node].results[v.result].type;
  type = merge(type, declared);
}

NodeId GraphBuilder::adopt(const Node& node, const std::vector<ValueId>& operands) {
  graph_.nodes_.push_back(node);
  std::copy(operands.begin(), operands.end(), graph_.nodes_.back().operands.begin());
  return static_cast<NodeId>(graph_.nodes_.size() - 1);
}

Result<ValueId> GraphBuilder::value(CallSpec spec) {
  auto id = call(std::move(spec));
  if (!id) return Failure{};
  return ValueId{*id, 0};
}

Graph GraphBuilder::finish(std::string name, std::vector<ValueId> results, std::vector<std::string> result_names) {
  graph_.name_ = std::move(name);
  graph_.results_ = std::move(results);
  graph_.result_names_ = std::move(result_names);
  graph_.result_names_.resize(graph_.results_.size());
  return std::move(graph_);
}

}  // namespace perfc
