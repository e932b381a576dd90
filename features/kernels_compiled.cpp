#include <algorithm>

#include "features/kernel_planner.h"

namespace perfc {

KernelPlanner::Fusion KernelPlanner::fusion() const {
  Fusion f{fused_groups(g_), std::vector<std::uint32_t>(g_.size(), kNone), {}, {}, {}, std::vector<bool>(g_.size(), false), inlined()};
  for (std::uint32_t i = 0; i < f.groups.size(); ++i) {
    const auto& members = f.groups[i].members;
    for (NodeId id : members) f.group[id] = i;
    f.free.push_back(std::ranges::all_of(members, [&](NodeId id) {
      const Node& n = g_.node(id);
      return !layout_.copied[id] && (is_view(n) || is_strided_view(g_, n) || is_epilogue(g_, n));
    }));
  }
  if (config_.precision == Precision::Amp) keep_full(f);
  f.wide.insert(g_.results().begin(), g_.results().end());
  for (NodeId id = g_.size(); id-- > 0;) {
    const Node& n = g_.node(id);
    if (n.kind != NodeKind::Call) continue;
    const bool passes_on = f.group[id] != kNone && f.free[f.group[id]];
    const bool low = config_.precision == Precision::Amp && uses_matrix_unit(def(n.op).category);
    const auto read = [&](const std::set<ValueId>& values) {
      const auto first = values.lower_bound({id, 0});
      return first != values.end() && first->node == id;
    };
    const bool read_wide = passes_on && read(f.wide), read_narrow = passes_on && read(f.narrow);
    for (ValueId v : n.operands) {
      if (!v) continue;
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
  const bool twice = x.is(op("nn.silu")) || x.is(op("nn.hard_swish")) || x.is(op("nn.mish")) || x.is(op("nn.gelu"));
  return twice && g_.node(x.operands[0]).is(op("nn.bias_add"));
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

std::vector<bool> KernelPlanner::inlined() const {
  std::vector<bool> out(g_.size(), false);
  for (NodeId id = 0; id < g_.size(); ++id) {
    const Node& n = g_.node(id);
    if (!n.is(op("nn.bias_add"))) continue;
    const Node& from = g_.node(n.operands[0]);
    out[id] = from.kind == NodeKind::Call && def(from.op).category == Category::Convolution && g_.node(from.operands[1]).kind == NodeKind::Call;
  }
  for (ValueId v : g_.results()) out[v.node] = false;
  for (const Node& n : g_.nodes()) {
    const bool computes = n.kind == NodeKind::Call && fuses(n) && !is_view(n) && !is_strided_view(g_, n);
    for (ValueId v : n.operands) {
      if (v && !computes) out[v.node] = false;
    }
  }
  return out;
}

double KernelPlanner::read_bound(NodeId id) const {
  const Node& n = g_.node(id);
  if (!n.is(op("strided_slice")) && def(n.op).category != Category::Gather) return 1e300;
  return bytes_of({id, 0});
}

void KernelPlanner::fuse() {
  const Fusion f = fusion();
  const auto elements = [&](ValueId v) { return static_cast<double>(g_.type(v).elements().value_or(0)); };
  for (std::uint32_t at = 0; at < f.groups.size(); ++at) {
    const FusedGroup& fused = f.groups[at];
    if (f.free[at]) continue;
    const auto first = static_cast<std::uint32_t>(out_.kernels.size());
    const Node& leading = g_.node(fused.leader);
    if (compiled_copies_data(g_, fused.leader, layout_, weight_)) {
      out_.kernels.push_back(copy_of(fused.leader, leading.operands[0], read_width(leading.operands[0], leading)));
      out_.host_ops += repeat_;
    }
    if (const auto attention = written_out_attention(g_, fused.leader)) {
      write_out_fused(fused.leader, *attention);
      continue;
    }
    Kernel k = work(fused.leader);
    k.bytes = inner_bytes(fused.leader);
    double stored = 0;
    std::set<ValueId> read;
    for (NodeId id : fused.members) {
      const Node& n = g_.node(id);
      k.bytes += kept_for_padding(id);
      if (id != fused.leader) {
        const OpCost cost = op_cost(g_, id);
        k.macs += cost.macs;
        k.flops += cost.flops;
        if (!is_view(n) && !is_strided_view(g_, n)) k.ops.push_back(kernel_op(n));
      }
      for (ValueId v : n.operands) {
        if (!v || f.group[v.node] == at) continue;
        if (f.inlined[v.node]) v = g_.node(v).operands[0];
        if (!read.insert(v).second) continue;
        const double width = f.full[v.node]                        ? element_bytes(g_.type(v), false)
                             : f.narrow.count(v) && !f.wide.count(v) ? element_bytes(g_.type(v), true)
                                                                   : read_width(v, n);
        const double bytes = std::min(g_.type(v).is_tensor() ? elements(v) * width : 0.0, read_bound(id));
        k.bytes += bytes;
        if (is_stored(v)) stored += bytes;
      }
      for (std::uint32_t r = 0; r < n.results.size(); ++r) {
        const ValueId v{id, r};
        if (!g_.type(v).is_tensor() || f.inlined[id]) continue;
        if (f.wide.count(v)) k.bytes += f.full[id] ? elements(v) * element_bytes(g_.type(v), false) : bytes_of(v);
        if (f.narrow.count(v) && !(f.wide.count(v) && half_[id])) k.bytes += elements(v) * element_bytes(g_.type(v), true);
      }
    }
    k.handed_bytes = k.bytes - stored;
    const auto index = static_cast<std::uint32_t>(out_.kernels.size());
    for (NodeId id : fused.members) made_[id] = {first, index};
    if (first != index) out_.edges.emplace_back(first, index);
    out_.kernels.push_back(std::move(k));
    out_.host_ops += repeat_;
  }
}

}  // namespace perfc
