#include "whitebox/launch/kernels.h"

#include <fmt/format.h>

#include <algorithm>

#include "whitebox/launch/kernel_planner.h"
#include "ir/control_flow.h"
#include "ir/layout.h"

namespace perfc {
namespace {

ConvolutionGroup convolution_group(const Graph& g, const Node& n, double window, bool channels_last) {
  ConvolutionGroup out{.inputs = kUngrouped, .outputs = kUngrouped, .window = window, .channels_last = channels_last};
  const Type& w = g.type(n.operands[1]);
  const auto axes = kernel_axes(g, n);
  if (!w.is_static() || w.rank() < 3 || !axes) return out;
  const auto groups = static_cast<double>(n.attrs.int_or("groups", 1));
  const auto extent = [&](std::size_t axis) { return static_cast<double>(w.shape()[axis].value()); };
  const bool transposed = is_transposed_convolution(n.op);
  out.outputs = transposed ? extent(axes->channel) : extent(axes->outer) / groups;
  out.inputs = transposed ? extent(axes->outer) / groups : extent(axes->channel);
  return out;
}

/// FlashAttention takes no mask; the memory-efficient kernel that does reaches half its
/// rate (timm's beit runs at several resolutions, against vit's, on RTX 4090 and 5090).
constexpr double kMaskedAttention = 2;

/// How well tensor cores load rows as long as the last axis, see Kernel::aligned.
double row_alignment(const Type& t) {
  if (!t.is_static() || t.rank() == 0) return 0;
  const std::int64_t row = t.shape().back().value();
  return row % 8 == 0 ? 1 : row % 2 == 0 ? 0.5 : 0;
}

Status check_static(const Graph& g, Diagnostics& diags) {
  bool good = true;
  for (const Node& n : g.nodes()) {
    for (const ResultInfo& r : n.results) {
      if (r.type.is_static() || !good) continue;
      (void)diags.error(n.loc, n.name,
                        fmt::format("{} has the open type {}; bind it with --dim NAME=VALUE, --shape INPUT=… or --batch",
                                    n.kind == NodeKind::Call ? def(n.op).name : "value", to_string(r.type)));
      good = false;
    }
  }
  return good ? ok() : Status(Failure{});
}

}  // namespace

bool is_masked_attention(const Node& n) { return n.is(op("nn.sdpa")) && n.operands.size() > 3 && n.operands[3]; }

void KernelPlanner::run() {
  made_.assign(g_.size(), {});
  find_halves();
  layout_ = data_layout(g_, config_, weight_);
  if (config_.mode == ExecMode::Compiled) {
    fuse();
  } else {
    eager();
  }
  connect();
}

double KernelPlanner::element_bytes(const Type& t, bool is_half) const {
  if (!is_float(t.dtype()) || t.dtype() == DType::Float64) return bits(t.dtype()) / 8.0;
  const double own = bits(t.dtype()) / 8.0;
  return is_half ? std::min(own, 2.0) : own;
}

double KernelPlanner::bytes_of(ValueId v) const {
  const Type& t = g_.type(v);
  return t.is_static() && t.is_tensor() ? static_cast<double>(*t.elements()) * element_bytes(t, half_[v.node]) : 0.0;
}

bool KernelPlanner::takes_half(const Node& n) const {
  return uses_matrix_unit(n.op) || (config_.norms == Norms::Half && is_float32_norm(n));
}

double KernelPlanner::read_width(ValueId v, const Node& user) const {
  const Type& t = g_.type(v);
  if (config_.precision == Precision::Amp && is_float(t.dtype())) {
    if (takes_half(user)) return element_bytes(t, true);
    if (config_.mode == ExecMode::Eager && wants_full(user) && !widens_itself(user)) return element_bytes(t, false);
  }
  return element_bytes(t, half_[v.node]);
}

double KernelPlanner::bytes_read(ValueId v, const Node& user) const {
  const Type& t = g_.type(v);
  return t.is_static() && t.is_tensor() ? static_cast<double>(*t.elements()) * read_width(v, user) : 0.0;
}

void KernelPlanner::find_halves() {
  const bool all = config_.precision == Precision::Fp16 || config_.precision == Precision::Bf16;
  half_.assign(g_.size(), all);
  if (config_.precision != Precision::Amp) return;
  std::vector<bool> cast_done(2 * g_.size(), false);  // a value is cast once to each side
  for (NodeId id = 0; id < g_.size(); ++id) {
    const Node& n = g_.node(id);
    if (n.kind != NodeKind::Call) continue;
    const bool low = takes_half(n);
    const bool high = !low && wants_full(n);
    bool any_full = n.operands.empty();
    for (ValueId v : n.operands) {
      if (!v || !is_float(g_.type(v).dtype())) continue;
      const bool constant = g_.node(v).kind == NodeKind::Constant;
      if ((low && !half_[v.node]) || (high && half_[v.node] && !widens_itself(n))) add_cast(v, low, cast_done, id);
      const bool scalar = constant && g_.type(v).ranked() && g_.type(v).rank() == 0;  // one of shape (1) promotes
      if (!half_[v.node] && !scalar && !(&v != n.operands.data() && parameters_follow_data(n))) any_full = true;
    }
    half_[id] = low || (!high && !any_full);
  }
}

void KernelPlanner::add_cast(ValueId v, bool to_half, std::vector<bool>& done, NodeId user) {
  const std::size_t key = 2 * v.node + (to_half ? 1 : 0);
  if (done[key] || config_.mode == ExecMode::Compiled) return;  // compilers fuse casts into their neighbours
  done[key] = true;
  casts_.push_back({static_cast<std::uint32_t>(out_.kernels.size()), v.node, user});
  out_.kernels.push_back(cast_of(user, v));
  out_.host_ops += repeat_;
}

void KernelPlanner::add(NodeId id, Kernel k) {
  const auto index = static_cast<std::uint32_t>(out_.kernels.size());
  Made& made = made_[id];
  if (made.first == kNone) {
    made.first = index;
  } else {
    out_.edges.emplace_back(made.last, index);
  }
  made.last = index;
  out_.kernels.push_back(std::move(k));
}

void KernelPlanner::connect() {
  // The node whose kernel wrote what a node hands on: itself, or behind views.
  std::vector<NodeId> source(g_.size());
  for (NodeId id = 0; id < g_.size(); ++id) {
    const Node& n = g_.node(id);
    source[id] = id;
    if (n.kind == NodeKind::Call && made_[id].first == kNone && !n.operands.empty() && n.operands[0]) source[id] = source[n.operands[0].node];
  }
  std::set<std::pair<NodeId, NodeId>> cast;  // (operand, user) that go through a cast
  for (const Cast& c : casts_) {
    cast.insert({c.from, c.to});
    if (made_[source[c.from]].first != kNone) out_.edges.emplace_back(made_[source[c.from]].last, c.kernel);
    if (made_[c.to].first != kNone) out_.edges.emplace_back(c.kernel, made_[c.to].first);
  }
  casts_.clear();
  for (NodeId id = 0; id < g_.size(); ++id) {
    if (g_.node(id).kind != NodeKind::Call || made_[id].first == kNone) continue;
    for (ValueId v : g_.node(id).operands) {
      if (!v || cast.count({v.node, id})) continue;
      const Made& from = made_[source[v.node]];
      if (from.first != kNone && from.last != made_[id].first && !same_group(source[v.node], id)) out_.edges.emplace_back(from.last, made_[id].first);
    }
  }
}

Extents KernelPlanner::elementwise_extents(const Type& t, double elements) {
  Extents e;
  e.n = t.is_static() && t.rank() > 0 ? static_cast<double>(t.shape().back().value()) : 1;
  e.m = e.n > 0 ? elements / e.n : 0;
  e.k = 1;
  return e;
}

Extents KernelPlanner::extents_of(NodeId id, double macs) const {
  const Node& n = g_.node(id);
  Extents e;
  if (n.results.empty() || !n.results[0].type.is_static() || !n.results[0].type.is_tensor()) return e;
  const Type& result = n.results[0].type;
  const auto elements = static_cast<double>(*result.elements());
  e = elementwise_extents(result, elements);
  const Category c = def(n.op).category;
  if (c == Category::Convolution && n.operands.size() > 1) {
    const auto axes = kernel_axes(g_, n);
    const Type& w = g_.type(n.operands[1]);
    if (!axes || !w.is_static() || elements <= 0) return e;
    const auto groups = static_cast<double>(n.attrs.int_or("groups", 1));
    for (std::size_t axis : axes->spatial) e.window *= static_cast<double>(w.shape()[axis].value());
    for (std::int64_t s : n.attrs.ints_or_empty("strides")) e.stride *= static_cast<double>(s);
    const bool transposed = is_transposed_convolution(n.op);
    const auto outer = static_cast<double>(w.shape()[axes->outer].value()), inner = static_cast<double>(w.shape()[axes->channel].value());
    e.products = groups;
    e.n = transposed ? inner : outer / groups;
    e.m = e.n > 0 ? elements / (groups * e.n) : 0;
    e.k = macs / elements;
  } else if (uses_matrix_unit(n.op) && elements > 0) {
    e.k = macs / elements;
    if (!n.is(op("nn.dense")) && result.rank() > 2) {
      e.m = static_cast<double>(result.shape()[result.rank() - 2].value());
      e.products = e.m * e.n > 0 ? elements / (e.m * e.n) : 1;
    }
  } else if (!n.operands.empty() && n.operands[0] && elements > 0) {
    e.k = static_cast<double>(g_.type(n.operands[0]).elements().value_or(0)) / elements;
  }
  return e;
}

Kernel KernelPlanner::work(NodeId id) const {
  const Node& n = g_.node(id);
  const OpCost cost = op_cost(g_, id);
  const Category c = def(n.op).category;
  Kernel k;
  k.node = owner_ ? *owner_ : id;
  k.work.macs = cost.macs;
  k.work.flops = cost.flops;
  k.repeat = repeat_;
  k.half = half_[id];
  k.placement.wide_index = wide_index(g_, n);
  if (k.placement.wide_index) k.limits.slowdown = index_slowdown(n, config_.mode);
  k.extents = extents_of(id, cost.macs);
  k.ops.push_back(kernel_op(n));
  if (c == Category::Convolution && n.operands.size() > 1) {
    const Type& w = g_.type(n.operands[1]);
    const auto axes = kernel_axes(g_, n);
    const bool full = w.is_static() && axes && w.shape()[is_transposed_convolution(n.op) ? axes->channel : axes->outer].value() % 8 == 0;
    k.placement.aligned = full ? 1 : 0.5;  // cuDNN pads channels
    k.placement.channels_first = !layout_.channels_last[id];
    k.kind = KernelKind::Convolution;
    if (n.attrs.int_or("groups", 1) > 1) {
      ConvolutionGroup group = convolution_group(g_, n, k.extents.window, layout_.channels_last[id]);
      group.wide_index = k.placement.wide_index && config_.mode == ExecMode::Eager;
      k.extents.channels_per_group = std::min(group.inputs, group.outputs);
      if (on_matrix_units(group)) {
        k.limits.group_share = group_share(group);
      } else {
        k.kind = KernelKind::Depthwise;
        k.limits.vector_share = vector_limit(group);
      }
    }
  } else if (uses_matrix_unit(n.op)) {
    k.kind = KernelKind::Matmul;
    if (is_masked_attention(n)) k.limits.slowdown *= kMaskedAttention;
    if (n.is(op("nn.sdpa"))) k.limits.tile_share = attention_tile_share(g_, n);
    k.placement.aligned = row_alignment(g_.type(n.operands[0]));
    if (!n.results.empty()) k.placement.aligned = std::min(k.placement.aligned, row_alignment(n.results[0].type));
    if (c == Category::Recurrent) {
      k.traffic.state_weights = static_cast<double>(g_.type(n.operands[2]).elements().value_or(0)) * element_bytes(g_.type(n.operands[2]), half_[id]);
      k.traffic.steps = static_cast<double>(g_.type(n.operands[0]).shape()[n.attrs.int_or("layout", 0) == 1 ? 1 : 0].value());
    }
  } else if (c == Category::Gather || c == Category::Scatter || c == Category::Sort) {
    k.kind = KernelKind::Gather;
  } else if (config_.mode == ExecMode::Eager) {
    k.limits.serial_steps = serial_steps(g_, id, layout_.channels_last[id]);
    if (n.is(op("nn.layer_norm"))) k.limits.row_blocks = k.extents.m;
  }
  return k;
}

double KernelPlanner::inner_bytes(NodeId id) const {
  const Node& n = g_.node(id);
  if (n.is(op("nn.group_norm"))) return bytes_read(n.operands[0], n);
  if (def(n.op).category != Category::Recurrent) return 0;
  constexpr double kGatePasses = 4, kGateBytes = 4;
  const Type &states = n.results[0].type, &weights = g_.type(n.operands[2]);  // (directions, gates · hidden, hidden)
  if (!states.is_static() || !weights.is_static() || weights.rank() != 3 || weights.elements() == 0) return 0;
  const std::int64_t rows = weights.shape()[1].value(), columns = weights.shape()[2].value();
  const double gates = static_cast<double>(std::max(rows, columns)) / static_cast<double>(std::min(rows, columns));
  return static_cast<double>(*states.elements()) * gates * kGatePasses * kGateBytes;
}

bool KernelPlanner::is_stored(ValueId v) const { return weight_[v.node] || g_.node(v).kind != NodeKind::Call; }

double KernelPlanner::stored_bytes(NodeId id) const {
  double stored = 0;
  for (ValueId v : g_.node(id).operands) {
    if (v && is_stored(v)) stored += bytes_read(v, g_.node(id));
  }
  return stored;
}

Kernel KernelPlanner::copy_of(NodeId id, ValueId v, double element_bytes) const {
  Kernel k;
  k.node = owner_ ? *owner_ : id;
  k.repeat = repeat_;
  const auto elements = static_cast<double>(g_.type(v).elements().value_or(0));
  k.traffic.bytes = k.traffic.handed_bytes = 2 * elements * element_bytes;
  k.extents = elementwise_extents(g_.type(v), elements);
  k.ops.push_back(op("copy"));
  return k;
}

Kernel KernelPlanner::cast_of(NodeId id, ValueId v) const {
  const auto n = static_cast<double>(g_.type(v).elements().value_or(0));
  Kernel k;
  k.node = owner_ ? *owner_ : id;
  k.work.flops = n;
  k.traffic.bytes = 6 * n;
  if (!is_stored(v)) k.traffic.handed_bytes = k.traffic.bytes;
  k.repeat = repeat_;
  // However a weight is stored, its elements lie in one row.
  k.extents = weight_[v.node] ? Extents{.m = n, .n = 1, .k = 1} : elementwise_extents(g_.type(v), n);
  k.ops.push_back(op("cast"));
  return k;
}

namespace {

Status plan(const Graph& g, const ExecConfig& config, double repeat, const NodeId* owner, KernelPlan& out, Diagnostics& diags);

/// Which branch runs is not known: the one with more work counts.
Status plan_dearer_branch(const Graph& g, NodeId id, const ExecConfig& config, double repeat, NodeId owner, KernelPlan& out, Diagnostics& diags) {
  const Node& n = g.node(id);
  KernelPlan best;
  double most = -1;
  for (const GraphRef& body : n.regions) {
    KernelPlan branch;
    if (!plan(*body, config, repeat, &owner, branch, diags)) return Failure{};
    double work = 0;
    for (const Kernel& k : branch.kernels) work += k.repeat * (2 * k.work.macs + k.work.flops + k.traffic.bytes);
    if (work > most) {
      most = work;
      best = std::move(branch);
    }
  }
  const auto offset = static_cast<std::uint32_t>(out.kernels.size());
  for (const auto& [from, to] : best.edges) out.edges.emplace_back(from + offset, to + offset);
  out.kernels.insert(out.kernels.end(), best.kernels.begin(), best.kernels.end());
  out.host_ops += best.host_ops;
  out.warnings.insert(out.warnings.end(), best.warnings.begin(), best.warnings.end());
  out.warnings.push_back(fmt::format("'{}': which branch runs is not known; the dearer one is counted", n.name));
  return ok();
}

Status plan_bodies(const Graph& g, const ExecConfig& config, double repeat, const NodeId* owner, KernelPlan& out, Diagnostics& diags) {
  for (NodeId id = 0; id < g.size(); ++id) {
    const Node& n = g.node(id);
    if (n.regions.empty()) continue;
    const NodeId reported = owner ? *owner : id;
    out.host_ops += repeat;
    if (n.is(op("if"))) {
      if (!plan_dearer_branch(g, id, config, repeat, reported, out, diags)) return Failure{};
      continue;
    }
    const SymInt trips = trip_count(g, id);
    if (!trips.known()) out.warnings.push_back(fmt::format("'{}': {} runs an unknown number of times; counted once", n.name, def(n.op).name));
    const double times = repeat * (trips.known() ? static_cast<double>(trips.value()) : 1.0);
    for (const GraphRef& body : n.regions) {
      if (!plan(*body, config, times, &reported, out, diags)) return Failure{};
    }
  }
  return ok();
}

Status plan(const Graph& g, const ExecConfig& config, double repeat, const NodeId* owner, KernelPlan& out, Diagnostics& diags) {
  if (!check_static(g, diags)) return Failure{};
  KernelPlanner(g, config, repeat, owner, out).run();
  return plan_bodies(g, config, repeat, owner, out, diags);
}

}  // namespace

double float_bytes(Precision p) {
  return p == Precision::Fp16 || p == Precision::Bf16 ? 2.0 : p == Precision::Int8 ? 1.0 : 4.0;
}

Result<KernelPlan> plan_kernels(const Graph& graph, const ExecConfig& config, Diagnostics& diags) {
  KernelPlan out;
  if (!plan(graph, config, 1.0, nullptr, out, diags)) return Failure{};
  return out;
}

}  // namespace perfc
