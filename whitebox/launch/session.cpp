#include "whitebox/launch/session.h"

#include <algorithm>

#include "ir/eager_marks.h"
#include "whitebox/launch/attention_parts.h"
#include "whitebox/launch/blocked_layout.h"
#include "whitebox/launch/element_clocks.h"
#include "whitebox/launch/framework.h"
#include "whitebox/launch/suppression_parts.h"

namespace perfc {
namespace {

class SessionPlanner {
 public:
  SessionPlanner(const PlannedGraph& graph, const KernelMaker& maker, PlanWriter& out)
      : of_(graph), maker_(maker), out_(out), on_cpu_(def(graph.config.runtime).mlas), attention_(graph, maker, out),
        suppression_(graph, maker, out), layout_(on_cpu_ ? blocked_layout(graph) : dense_layout(graph)),
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
      const bool runs = !of_.weight[id] || (!on_cpu_ && def(n.op).session.unfolded);
      if (n.kind == NodeKind::Call && n.regions.empty() && runs) call(id, n);
    }
  }

 private:
  void call(NodeId id, const Node& n) {
    if (n.attrs.has(kInside) || of_.elements({id, 0}) == 0 || def(n.op).category == Category::Sequence) return;
    if (on_cpu_) reorder(id, n);
    else if (is_view(n)) return;  // another name for the same memory
    if ((is_epilogue(of_.g, n) && (on_cpu_ || joins_reader(id))) || joins_norm(id, n)) return;
    if (!on_cpu_ && attention_.by_operator(id)) return;
    if (!on_cpu_ && def(n.op).suppression && suppression_.launch(id, HostCall::Kernel)) return;
    if (is_written_out(n)) {
      write_out_gelu(id);
      return;
    }
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
    if (!is_sum_of_norm(id, n)) return false;
    skips_.push_back(id);
    return true;
  }

  bool is_sum_of_norm(NodeId id, const Node& n) const {
    if (!n.is(op("add")) || readers_[id] != 1 || n.results[0].type.rank() != 3) return false;
    for (const ValueId v : n.operands)
      if (of_.weight[v.node] || of_.g.type(v).shape() != n.results[0].type.shape()) return false;
    return of_.node(reader_[id]).is(op("nn.layer_norm"));
  }

  /// The CUDA provider adds a bias by a kernel of its own (core/providers/cuda/math/gemm.cc writes it first, for the
  /// product to add to it), but for what a GELU (bias_gelu_fusion.cc) or the sum before a norm adds.
  bool joins_reader(NodeId bias) const {
    if (readers_[bias] != 1) return false;
    const Node& reader = of_.node(reader_[bias]);
    return (def(reader.op).session.takes_bias && !is_written_out(reader)) || is_sum_of_norm(reader_[bias], reader);
  }

  /// In a file of 16 bits no fusion takes the parts of a GELU for one: its constants are not those within 1e-5
  /// (gelu_fusion.cc; IsInitializerWithExpectedValue of optimizer/utils.cc).
  bool is_written_out(const Node& n) const {
    return !on_cpu_ && n.is(op("nn.gelu")) && bits(n.results[0].type.dtype()) == 16 && !n.attrs.has(kOneOperator);
  }

  /// x · ½ · (1 + erf(x / √2)): a kernel for each of the five.
  void write_out_gelu(NodeId id) {
    const double bytes = of_.widths.bytes_of({id, 0});
    const auto pass = [&](OpId what, double values) {
      Kernel k = maker_.of(id, op_cost(of_.g, id));
      k.ops = {what};
      k.work.flops = of_.elements({id, 0});
      k.traffic.bytes = k.traffic.handed_bytes = values * bytes;
      launch(id, std::move(k));
    };
    pass(op("divide"), 2);
    pass(op("erf"), 2);
    pass(op("add"), 2);
    pass(op("multiply"), 2);
    pass(op("multiply"), 3);
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
      k.traffic.bytes =
          on_cpu_ ? cost.bytes_read + cost.bytes_written : maker_.bytes_of(id, cost) + maker_.inner_bytes(id);
    }
    if (n.is(op("nn.layer_norm")) && std::ranges::find(skips_, n.operands[0].node) != skips_.end()) {
      k.ops = {op("nn.skip_layer_norm")};
      if (!on_cpu_) k.traffic.bytes += of_.widths.bytes_of(n.operands[0]);  // the other branch
    }
    k.traffic.handed_bytes = std::max(k.traffic.bytes - maker_.stored_bytes(id, cost), 0.0);
    if (!on_cpu_ && k.traffic.bytes > 0 && (is_strided_view(of_.g, n) || broadcasts(n)))
      k.limits.byte_clocks = indexed_clocks(of_.widths.is_half(id)) * of_.elements({id, 0}) / k.traffic.bytes;
    launch(id, std::move(k));
  }

  /// Whether the CUDA provider's kernel divides each element's place by the extents, as PyTorch's do: where numbers and
  /// values along channels are broadcast, it has others (core/providers/cuda: binary_elementwise_ops.cc,
  /// cu_inc/binary_elementwise_impl.cuh; tensor/transpose_impl.cu, slice_impl.cu).
  bool broadcasts(const Node& n) const {
    const Type& result = n.results[0].type;
    if (!is_elementwise(n) || !result.is_static()) return false;
    return std::ranges::any_of(n.operands, [&](ValueId v) {
      if (!v || !of_.g.type(v).is_static() || of_.g.type(v).shape() == result.shape()) return false;
      const Shape& shape = of_.g.type(v).shape();
      const auto several = std::ranges::count_if(shape, [](const Dim& d) { return d.value() > 1; });
      return several > 1 || (several == 1 && shape.back().value() > 1);
    });
  }

  void launch(NodeId id, Kernel k) {
    out_.count_call(HostCall::Kernel);
    out_.add(id, std::move(k));
  }

  static BlockedLayout dense_layout(const PlannedGraph& of) {
    return {std::vector<bool>(of.g.size()), std::vector<bool>(of.g.size())};
  }

  const PlannedGraph& of_;
  const KernelMaker& maker_;
  PlanWriter& out_;
  const bool on_cpu_;
  AttentionParts attention_;
  SuppressionParts suppression_;
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
