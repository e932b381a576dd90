#include "whitebox/launch/session.h"

#include <algorithm>

#include "ir/eager_marks.h"
#include "whitebox/launch/attention_parts.h"
#include "whitebox/launch/blocked_layout.h"
#include "whitebox/launch/framework.h"

namespace perfc {
namespace {

class SessionPlanner {
 public:
  SessionPlanner(const PlannedGraph& graph, const KernelMaker& maker, PlanWriter& out)
      : of_(graph), maker_(maker), out_(out), attention_(graph, maker, out), layout_(blocked_layout(graph)),
        readers_(graph.g.size()), reader_(graph.g.size()), other_(graph.g.size()) {}

  void run() {
    for (NodeId id = 0; id < of_.g.size(); ++id) {
      for (const ValueId v : of_.node(id).operands) {
        if (!v) continue;
        ++readers_[v.node];
        reader_[v.node] = id;
      }
    }
    for (const ValueId v : of_.g.results()) ++readers_[v.node];
    for (NodeId id = 0; id < of_.g.size(); ++id) {
      const Node& n = of_.node(id);
      if (n.kind == NodeKind::Call && n.regions.empty() && !of_.weight[id]) call(id, n);
    }
  }

 private:
  void call(NodeId id, const Node& n) {
    if (n.attrs.has(kInside) || of_.elements({id, 0}) == 0 || def(n.op).category == Category::Sequence) return;
    reorder(id, n);
    if (is_epilogue(of_.g, n) || joins_norm(id, n)) return;
    if (const auto attention = parts_of_attention(id, n)) {
      attention_.session(id, *attention);
      return;
    }
    compute(id, n);
  }

  /// Copies of operands that lie otherwise than the call reads them, once for all such readers.
  void reorder(NodeId id, const Node& n) {
    for (const ValueId v : n.operands) {
      if (!v || of_.weight[v.node] || !of_.g.type(v).is_static() || of_.g.type(v).rank() != 4) continue;
      const bool lies = layout_.gives(v.node), wants = layout_.takes[id];
      if (lies == wants || other_[v.node]) continue;
      other_[v.node] = true;
      launch(id, maker_.copy_of(id, v, of_.widths.read_width(v, n)));
    }
  }

  /// A sum of two values that a layer norm alone reads is part of its kernel (skip_layer_norm_fusion.cc).
  bool joins_norm(NodeId id, const Node& n) {
    if (!n.is(op("add")) || readers_[id] != 1 || n.results[0].type.rank() != 3) return false;
    for (const ValueId v : n.operands)
      if (of_.weight[v.node] || of_.g.type(v).shape() != n.results[0].type.shape()) return false;
    if (!of_.node(reader_[id]).is(op("nn.layer_norm"))) return false;
    skips_.push_back(id);
    return true;
  }

  std::optional<WrittenOutAttention> parts_of_attention(NodeId id, const Node& n) const {
    if (def(n.op).category != Category::Attention) return std::nullopt;
    auto parts = written_out_attention(of_.g, id, {.reads_in_steps = false});
    if (parts) parts->reference = parts->repeats_heads = false;
    return parts;
  }

  void compute(NodeId id, const Node& n) {
    const OpCost cost = op_cost(of_.g, id);
    Kernel k = maker_.of(id, cost);
    k.ops = {n.op};
    k.placement.blocked = layout_.gives(id);
    if (is_view(n)) {
      k.work = {};
    } else if (is_strided_view(of_.g, n)) {
      double written = 0;
      for (std::uint32_t r = 0; r < n.results.size(); ++r) written += of_.widths.bytes_of({id, r});
      k.traffic.bytes = 2 * written;
    } else {
      k.traffic.bytes = cost.bytes_read + cost.bytes_written;
    }
    if (n.is(op("nn.layer_norm")) && std::ranges::find(skips_, n.operands[0].node) != skips_.end())
      k.ops = {op("nn.skip_layer_norm")};
    k.traffic.handed_bytes = std::max(k.traffic.bytes - maker_.stored_bytes(id, cost), 0.0);
    launch(id, std::move(k));
  }

  void launch(NodeId id, Kernel k) {
    out_.count_call(HostCall::Kernel);
    out_.add(id, std::move(k));
  }

  const PlannedGraph& of_;
  const KernelMaker& maker_;
  PlanWriter& out_;
  AttentionParts attention_;
  const BlockedLayout layout_;
  std::vector<int> readers_;    ///< by node, how many read it …
  std::vector<NodeId> reader_;  ///< … and the last of them
  std::vector<bool> other_;     ///< by node: its result lies the other way, too
  std::vector<NodeId> skips_;   ///< sums that norms compute
};

}  // namespace

void plan_session(const PlannedGraph& graph, const KernelMaker& maker, PlanWriter& out) {
  SessionPlanner(graph, maker, out).run();
}

}  // namespace perfc
