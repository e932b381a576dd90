#include <algorithm>

#include "whitebox/launch/kernel_planner.h"

namespace perfc {
namespace {

/// Copies between channels first and last write what lies far apart: their share of the memory's
/// rate (timm's group norms, channels last, on RTX 3090 and 4090).
constexpr double kReordering = 2;

}  // namespace

double KernelPlanner::eager_bytes(NodeId id) const {
  const Node& n = g_.node(id);
  const OpCost cost = op_cost(g_, id);
  double declared = 0, actual = 0;
  for (ValueId v : n.operands) {
    if (!v) continue;
    declared += g_.type(v).bytes();
    actual += bytes_read(v, n);
  }
  for (std::uint32_t r = 0; r < n.results.size(); ++r) {
    declared += n.results[r].type.bytes();
    actual += bytes_of({id, r});
  }
  const double width = declared > 0 ? actual / declared : 1.0;
  return (cost.bytes_read + cost.bytes_written) * width;
}

bool KernelPlanner::is_free(NodeId id) const {
  const Node& n = g_.node(id);
  return n.kind == NodeKind::Call && made_[id].first == kNone && only_looks(g_, n);
}

void KernelPlanner::eager() {
  std::set<ValueId> viewed;
  for (NodeId id = 0; id < g_.size(); ++id) {
    const Node& n = g_.node(id);
    if (n.kind != NodeKind::Call || !n.regions.empty()) continue;
    if (is_epilogue(g_, n)) continue;
    if (is_strided_view(g_, n)) continue;
    if (is_view(n)) {
      if (layout_.copied[id]) {
        Kernel k = work(id);
        k.traffic.bytes = k.traffic.handed_bytes = 2 * bytes_of({id, 0});
        out_.host_ops += repeat_;
        add(id, std::move(k));
      }
      continue;
    }
    // Exporters write one chain of views in many ways; what a kernel reads through views counts as one call.
    for (ValueId v : n.operands) {
      if (v && is_free(v.node) && !weight_[v.node] && viewed.insert(v).second) out_.host_ops += repeat_;
    }
    if (const auto attention = written_out_attention(g_, id)) {
      write_out(id, *attention);
      continue;
    }
    if (copies_data(g_, id, layout_, weight_)) {
      Kernel copy = copy_of(id, n.operands[0], read_width(n.operands[0], n));
      if (layout_.channels_last[id] != layout_.channels_last[n.operands[0].node]) copy.limits.slowdown = kReordering;
      add(id, std::move(copy));
      out_.host_ops += repeat_;
    }
    for (const std::string_view part : def(n.op).before) {
      if (part.empty()) continue;
      Kernel k = copy_of(id, n.operands[0], read_width(n.operands[0], n));
      k.ops = {*find_op(part)};
      add(id, std::move(k));
      out_.host_ops += repeat_;
    }
    out_.host_ops += repeat_;
    Kernel k = work(id);
    k.traffic.bytes = eager_bytes(id) + inner_bytes(id) + pooled_index_bytes(n);
    k.traffic.handed_bytes = std::max(k.traffic.bytes - stored_bytes(id), 0.0);
    add(id, std::move(k));
  }
}

}  // namespace perfc
