#include <algorithm>

#include "whitebox/launch/kernel_planner.h"

namespace perfc {

KernelPlanner::Fusion KernelPlanner::fusion() const {
  Fusion f{fused_groups(g_), std::vector<std::uint32_t>(g_.size(), kNone), {}, {}, {}, std::vector<bool>(g_.size(), false), {}};
  std::vector<bool> adds_itself(g_.size(), false);
  for (std::uint32_t i = 0; i < f.groups.size(); ++i) {
    const auto& members = f.groups[i].members;
    for (NodeId id : members) f.group[id] = i;
    f.free.push_back(std::ranges::all_of(members, [&](NodeId id) {
      const Node& n = g_.node(id);
      return !layout_.copied[id] && (only_looks(g_, n) || is_epilogue(g_, n));
    }));
    for (NodeId id : members) adds_itself[id] = f.free[i];
  }
  f.realization = realize(g_, adds_itself, layout_, weight_);
  for (std::uint32_t i = 0; i < f.groups.size(); ++i) {
    if (std::ranges::all_of(f.groups[i].members, [&](NodeId id) { return f.realization.inlined[id]; })) f.free[i] = true;
  }
  if (config_.precision == Precision::Amp) keep_full(f);
  f.wide.insert(g_.results().begin(), g_.results().end());
  for (NodeId id = g_.size(); id-- > 0;) {
    const Node& n = g_.node(id);
    if (n.kind != NodeKind::Call || f.realization.inlined[id]) continue;
    const bool passes_on = f.group[id] != kNone && f.free[f.group[id]];
    const bool low = config_.precision == Precision::Amp && uses_matrix_unit(n.op);
    const auto read = [&](const std::set<ValueId>& values) {
      const auto first = values.lower_bound({id, 0});
      return first != values.end() && first->node == id;
    };
    const bool read_wide = passes_on && read(f.wide), read_narrow = passes_on && read(f.narrow);
    Sources from;
    sources(f, id, 1, {}, from);
    for (const auto& [v, source] : from) {
      if (passes_on) {
        if (read_wide) f.wide.insert(v);
        if (read_narrow) f.narrow.insert(v);
      } else if (f.group[v.node] == kNone || f.group[v.node] != f.group[id]) {
        (low ? f.narrow : f.wide).insert(v);
      }
    }
  }
  return f;
}

bool KernelPlanner::keeps_operand(NodeId activation) const {
  const Node& x = g_.node(activation);
  return x.kind == NodeKind::Call && def(x.op).runs.fusion == perfc::Fusion::PointwiseTwice && g_.node(x.operands[0]).is(op("nn.bias_add"));
}

void KernelPlanner::keep_full(Fusion& f) const {
  for (NodeId id = 0; id < g_.size(); ++id) {
    const Node& n = g_.node(id);
    if (n.kind != NodeKind::Call || !is_reduction(g_, n) || !n.operands[0]) continue;
    const NodeId from = n.operands[0].node;
    if (f.group[from] != kNone && f.group[from] == f.group[id] && keeps_operand(from)) f.full[from] = true;
  }
}

double KernelPlanner::kept_for_padding(NodeId id) const {
  const Node& n = g_.node(id);
  if (config_.precision != Precision::Amp || !n.is(op("nn.pad")) || !keeps_operand(n.operands[0].node)) return 0;
  return 2 * static_cast<double>(g_.type(n.operands[0]).elements().value_or(0)) * element_bytes(g_.type(n.operands[0]), false);
}

void KernelPlanner::sources(const Fusion& f, NodeId id, double share, ValueId part, Sources& out) const {
  for (ValueId v : g_.node(id).operands) {
    if (!v) continue;
    const Look look = look_through(g_, f.realization, v);
    const double of_it = share * look.share;
    const ValueId through = part ? part : look.part;
    if (f.realization.inlined[look.at.node]) {
      sources(f, look.at.node, of_it, through, out);
      continue;
    }
    Source& s = out.try_emplace(look.at, Source{id, {}}).first->second;
    s.parts[through] = std::max(s.parts[through], of_it);
  }
}

double KernelPlanner::Source::share() const {
  double sum = 0;
  for (const auto& [part, share] : parts) sum += share;
  return std::min(sum, 1.0);
}

double KernelPlanner::read_bound(NodeId id) const {
  const Node& n = g_.node(id);
  if (!n.is(op("strided_slice")) && def(n.op).category != Category::Gather) return 1e300;
  return bytes_of({id, 0});
}

void KernelPlanner::cast_weights(NodeId id, std::vector<bool>& done) {
  const Node& product = g_.node(id);
  if (config_.precision != Precision::Amp || !uses_matrix_unit(product.op)) return;
  for (ValueId v : product.operands) {
    if (!v || g_.node(v).kind != NodeKind::Constant || done[v.node] || g_.type(v).dtype() != DType::Float32) continue;
    done[v.node] = true;
    out_.kernels.push_back(cast_of(id, v));
    out_.host_ops += repeat_;
  }
}

void KernelPlanner::fuse() {
  const Fusion f = fusion();
  const auto elements = [&](ValueId v) { return static_cast<double>(g_.type(v).elements().value_or(0)); };
  std::vector<bool> cast(g_.size(), false);
  for (std::uint32_t at = 0; at < f.groups.size(); ++at) {
    const FusedGroup& fused = f.groups[at];
    if (f.free[at]) continue;
    const auto first = static_cast<std::uint32_t>(out_.kernels.size());
    const Node& leading = g_.node(fused.leader);
    if (compiled_copies_data(g_, fused.leader, layout_, weight_) && !f.realization.in_order[fused.leader]) {
      out_.kernels.push_back(copy_of(fused.leader, leading.operands[0], read_width(leading.operands[0], leading)));
      out_.host_ops += repeat_;
    }
    if (const auto attention = written_out_attention(g_, fused.leader)) {
      write_out_fused(fused.leader, *attention);
      continue;
    }
    cast_weights(fused.leader, cast);
    Kernel k = work(fused.leader);
    k.traffic.bytes = inner_bytes(fused.leader);
    Sources from;
    for (NodeId id : fused.members) {
      const Node& n = g_.node(id);
      k.traffic.bytes += kept_for_padding(id);
      if (id != fused.leader) {
        const OpCost cost = op_cost(g_, id);
        k.work.macs += cost.macs;
        k.work.flops += cost.flops;
        if (!only_looks(g_, n)) k.ops.push_back(kernel_op(n));
      }
      if (f.realization.inlined[id]) continue;
      sources(f, id, 1, {}, from);
      for (std::uint32_t r = 0; r < n.results.size(); ++r) {
        const ValueId v{id, r};
        if (!g_.type(v).is_tensor()) continue;
        if (f.wide.count(v)) k.traffic.bytes += f.full[id] ? elements(v) * element_bytes(g_.type(v), false) : bytes_of(v);
        if (f.narrow.count(v) && !(f.wide.count(v) && half_[id])) k.traffic.bytes += elements(v) * element_bytes(g_.type(v), true);
      }
    }
    double stored = 0, loaded = 0;
    for (const auto& [v, source] : from) {
      if (f.group[v.node] == at) continue;
      const double width = f.full[v.node]                        ? element_bytes(g_.type(v), false)
                           : f.narrow.count(v) && !f.wide.count(v) ? element_bytes(g_.type(v), true)
                                                                 : read_width(v, g_.node(source.reader));
      const double bytes = std::min(g_.type(v).is_tensor() ? elements(v) * width * source.share() : 0.0, read_bound(source.reader));
      loaded += bytes;
      if (is_stored(v)) stored += bytes;
    }
    k.traffic.bytes += loaded;
    k.traffic.handed_bytes = k.traffic.bytes - stored;
    if (std::ranges::any_of(fused.members, [&](NodeId id) { return f.realization.two_kernels[id]; })) {
      Kernel statistics = k;
      statistics.traffic.bytes = loaded;
      statistics.traffic.handed_bytes = loaded - stored;
      out_.kernels.push_back(std::move(statistics));
      out_.host_ops += repeat_;
    }
    const auto index = static_cast<std::uint32_t>(out_.kernels.size());
    for (NodeId id : fused.members) made_[id] = {first, index};
    if (first != index) out_.edges.emplace_back(first, index);
    out_.kernels.push_back(std::move(k));
    out_.host_ops += repeat_;
  }
}

}  // namespace perfc
