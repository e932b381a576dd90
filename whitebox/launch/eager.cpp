#include "whitebox/launch/eager.h"

#include <algorithm>
#include <set>

#include "whitebox/constants.h"
#include "whitebox/launch/attention_parts.h"
#include "whitebox/launch/framework.h"

namespace perfc {
namespace {

class EagerPlanner {
 public:
  EagerPlanner(const PlannedGraph& graph, const KernelMaker& maker, PlanWriter& out)
      : of_(graph), maker_(maker), out_(out), attention_(graph, maker, out) {}

  void run() {
    for (const Widths::Cast& c : of_.widths.casts()) {
      out_.add_cast(c.value.node, c.user, maker_.cast_of(c.user, c.value));
      out_.count_call();
    }
    for (NodeId id = 0; id < of_.g.size(); ++id) {
      const Node& n = of_.node(id);
      if (n.kind == NodeKind::Call && n.regions.empty()) call(id, n);
    }
  }

 private:
  void call(NodeId id, const Node& n) {
    if (is_epilogue(of_.g, n) || is_strided_view(of_.g, n)) return;
    if (is_view(n)) {
      if (of_.layout.copied[id]) copy_view(id);
      return;
    }
    count_views(n);
    if (const auto attention = written_out_attention(of_.g, id)) {
      attention_.eager(id, *attention);
      return;
    }
    if (copies_data(of_.g, id, of_.layout, of_.weight)) copy_operand(id, n);
    for (const OpId part : def(n.op).before) {
      if (part) run_before(id, n, part);
    }
    compute(id, n);
  }

  void launch(NodeId id, Kernel k) {
    out_.count_call();
    out_.add(id, std::move(k));
  }

  void copy_view(NodeId id) {
    Kernel k = maker_.of(id, op_cost(of_.g, id));
    k.traffic.bytes = k.traffic.handed_bytes = 2 * of_.widths.bytes_of({id, 0});
    launch(id, std::move(k));
  }

  /// Exporters write one chain of views in many ways; what a kernel reads through views counts as one call.
  void count_views(const Node& n) {
    for (ValueId v : n.operands) {
      if (v && is_free(v.node) && !of_.weight[v.node] && viewed_.insert(v).second) out_.count_call();
    }
  }

  /// A view that needed no copy.
  bool is_free(NodeId id) const {
    const Node& n = of_.node(id);
    return n.kind == NodeKind::Call && !out_.has_kernel(id) && is_any_view(of_.g, n);
  }

  Kernel copy_of_data(NodeId id, const Node& n) const {
    return maker_.copy_of(id, n.operands[0], of_.widths.read_width(n.operands[0], n));
  }

  void copy_operand(NodeId id, const Node& n) {
    Kernel copy = copy_of_data(id, n);
    const bool reorders = of_.layout.channels_last[id] != of_.layout.channels_last[n.operands[0].node];
    if (reorders) copy.limits.slowdown = constants::kReordering;
    launch(id, std::move(copy));
  }

  void run_before(NodeId id, const Node& n, OpId part) {
    Kernel k = copy_of_data(id, n);
    k.ops = {part};
    launch(id, std::move(k));
  }

  void compute(NodeId id, const Node& n) {
    const OpCost cost = op_cost(of_.g, id);
    Kernel k = maker_.of(id, cost);
    k.traffic.bytes = bytes_of_call(n, id, cost) + maker_.inner_bytes(id) + pooled_index_bytes(n);
    k.traffic.handed_bytes = std::max(k.traffic.bytes - maker_.stored_bytes(id), 0.0);
    launch(id, std::move(k));
  }

  /// What a call's cost rule says, in the widths that the values have under this precision.
  double bytes_of_call(const Node& n, NodeId id, const OpCost& cost) const {
    double declared = 0, actual = 0;
    for (ValueId v : n.operands) {
      if (!v) continue;
      declared += of_.g.type(v).bytes();
      actual += of_.widths.bytes_read(v, n);
    }
    for (std::uint32_t r = 0; r < n.results.size(); ++r) {
      declared += n.results[r].type.bytes();
      actual += of_.widths.bytes_of({id, r});
    }
    const double width = declared > 0 ? actual / declared : 1.0;
    return (cost.bytes_read + cost.bytes_written) * width;
  }

  const PlannedGraph& of_;
  const KernelMaker& maker_;
  PlanWriter& out_;
  AttentionParts attention_;
  std::set<ValueId> viewed_;  ///< views that were counted
};

}  // namespace

void plan_eager(const PlannedGraph& graph, const KernelMaker& maker, PlanWriter& out) {
  EagerPlanner(graph, maker, out).run();
}

}  // namespace perfc
