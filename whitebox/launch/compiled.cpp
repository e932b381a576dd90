#include "whitebox/launch/compiled.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "ir/ops/attention_operands.h"
#include "whitebox/constants/compiled.h"
#include "whitebox/constants/kernels.h"
#include "whitebox/launch/attention_parts.h"
#include "whitebox/launch/batch_norm.h"
#include "whitebox/launch/compiled_values.h"
#include "whitebox/launch/framework.h"
#include "whitebox/launch/generated_clocks.h"
#include "whitebox/launch/geometry.h"
#include "whitebox/launch/joined_images.h"
#include "whitebox/launch/split_reduction.h"
#include "whitebox/launch/suppression_parts.h"

namespace perfc {
namespace {

std::optional<JoinedImages> joined_images(const PlannedGraph& of) {
  if (!def(of.config.runtime).joins_images) return std::nullopt;
  return JoinedImages(of.g, of.weight);
}

class CompiledPlanner {
 public:
  CompiledPlanner(const PlannedGraph& graph, const KernelMaker& maker, PlanWriter& out)
      : of_(graph), maker_(maker), out_(out), images_(joined_images(graph)),
        values_(graph, images_ ? images_->alone() : std::vector<bool>()), attention_(graph, maker, out),
        suppression_(graph, maker, out), uses_(graph.g.use_counts()), cast_(graph.g.size(), false) {}

  void run() {
    if (images_) bring_in_inputs();
    for (std::uint32_t at = 0; at < values_.groups().size(); ++at) {
      cast_biases(at);
      if (!values_.is_free(at)) group(at);
    }
    restore_results();
  }

 private:
  void group(std::uint32_t at) {
    const FusedGroup& fused = values_.groups()[at];
    const std::uint32_t first = out_.next();
    if (def(of_.node(fused.leader).op).suppression && suppression_.launch(fused.leader, HostCall::Kernel)) return;
    if (images_ && images_->joins(fused.leader)) {
      join_images(fused.leader);
      return;
    }
    if (generates() && is_long_concatenation(of_.node(fused.leader))) {
      join_parts(fused.leader);
      return;
    }
    copy_operand(fused.leader);
    copy_matrices(fused.leader);
    bring_in_input(fused.leader);
    const Replaced replaced = replaced_attention(fused.leader);
    const bool fused_anyway =
        (def(of_.config.runtime).fuses_attention && in_half(fused.leader)) || replaced != Replaced::No;
    const auto attention = written_out_attention(of_.g, fused.leader, {.half = in_half(fused.leader)});
    if (attention && !fused_anyway) {
      attention_.compiled(fused.leader, *attention);
      return;
    }
    if (attention_.by_operator(fused.leader)) return;
    cast_weights(fused.leader);
    reorder_weights(fused.leader);
    quantise_data(fused.leader);
    const CompiledValues::Loads loads = values_.loads(at);
    Kernel k = compute(fused, loads);
    if (generates() && launch_in_parts(fused, first, k, loads)) return;
    if (def(of_.config.runtime).writes_norms_out) write_norms_out(fused, k, loads);
    if (std::ranges::any_of(fused.members, [&](NodeId id) { return adds_up_first(id); }) || reads_again(fused))
      launch(statistics_of(k, loads));
    const bool pads = generates() && pads_heads(of_.g, of_.node(fused.leader), in_half(fused.leader));
    if (pads || replaced == Replaced::InOrder) copy_heads(fused.leader, pads);
    std::uint32_t last = launch(std::move(k));
    if (pads) last = launch(maker_.copy_of(fused.leader, {fused.leader, 0}, 2));  // what the padding leaves of it
    out_.share(fused.members, first, last);
  }

  /// Fused attention's queries, keys and values in order and with their padding, a generated kernel each.
  void copy_heads(NodeId id, bool pads) {
    const Node& n = of_.node(id);
    for (std::size_t i = AttentionOperand::kQ; i <= AttentionOperand::kV; ++i) {
      const ValueId v = n.operands[i];
      const std::int64_t head = of_.g.type(v).shape().back().value();
      Kernel k = maker_.copy_of(id, v, of_.widths.read_width(v, n));
      const double grows = pads ? static_cast<double>(padded_head(head)) / static_cast<double>(head) : 1;
      for (double* bytes : {&k.traffic.bytes, &k.traffic.handed_bytes}) *bytes *= (1 + grows) / 2;
      launch(std::move(k));
    }
  }

  /// A reduction of few results (split_reduction.h): a kernel adds up parts, a second one their sums. What else the
  /// group computes from its data for others has a kernel of its own before them, and one behind them what it computes
  /// of each element again. So has a norm of groups or instances that lie channels last: its moments' loops do not run
  /// over memory as what it writes lies.
  bool launch_in_parts(const FusedGroup& fused, std::uint32_t first, const Kernel& whole,
                       const CompiledValues::Loads& loads) {
    const Node& n = of_.node(fused.leader);
    const SplitReduction split = split_reduction(of_, fused.leader);
    const bool norm = def(n.op).category == Category::Normalization, splits = split.parts > 1;
    if (!splits && !(norm && !is_row_norm(n) && split.results > 0 && of_.layout.channels_last[n.operands[0].node]))
      return false;
    const CompiledValues::Loads sums{.bytes = constants::kPartBytes * split.parts * split.results *
                                              (norm ? constants::kMoments : 1)};
    std::vector<NodeId> before, behind;
    double kept = 0;
    for (const NodeId id : fused.members) {
      if (id == fused.leader || is_any_view(of_.g, of_.node(id))) continue;
      (id < fused.leader ? before : behind).push_back(id);
      if (id < fused.leader) kept += values_.written(id);
    }
    const auto kernel = [&](const CompiledValues::Loads& read, double written, std::vector<NodeId> members) {
      Kernel k = whole;
      k.traffic.bytes = read.bytes + written;
      k.traffic.handed_bytes = k.traffic.bytes - read.stored;
      be_generated({std::move(members), fused.leader}, k);
      return k;
    };
    const double twice = norm ? maker_.inner_bytes(fused.leader) : 0;
    const double results = std::max(whole.traffic.bytes - loads.bytes - kept - twice, 0.0);
    const auto data = kept > 0 ? CompiledValues::Loads{.bytes = of_.widths.bytes_read(n.operands[0], n)} : loads;
    if (splits && kept > 0) launch(kernel(loads, kept, std::exchange(before, {})));
    before.push_back(fused.leader);
    launch(splits ? kernel(data, sums.bytes, before) : kernel(loads, kept + sums.bytes, before));
    const bool again = norm || std::ranges::any_of(behind, [&](NodeId id) {
                         return of_.elements({id, 0}) > split.results;
                       });
    if (splits && again) launch(kernel(sums, 0, {}));
    out_.share(fused.members, first, launch(kernel(again ? data : sums, results, behind)));
    return true;
  }

  /// Whether a norm's kernel waits for one that reads the same data: rows that others read transposed, and batch norms
  /// of programs that were exported in training mode.
  bool adds_up_first(NodeId id) const {
    return values_.realization().two_kernels[id] || (generates() && adds_up_columns(of_.node(id)));
  }

  /// Batch norms of programs that were exported in training mode; one of a single image, such as standardises weights,
  /// adds up rows.
  bool adds_up_columns(const Node& n) const {
    if (!has_batch_statistics(n)) return false;
    const Type& data = of_.g.type(n.operands[0]);
    return !data.is_static() || data.rank() == 0 || !data.shape()[0].is(1) ||
           of_.layout.channels_last[n.operands[0].node];
  }

  /// Whether TorchInductor's kernel reads its data once more, to give each element what it has added up: rows that
  /// neither registers nor the L2 cache hold, and columns (torch/_inductor/codegen/triton.py,
  /// should_use_persistent_reduction: else a loop adds up and another one writes).
  bool reads_again(const FusedGroup& fused) const {
    const Node& leader = of_.node(fused.leader);
    if (!generates() || !is_reduction(of_.g, leader) || !is_long(fused.leader)) return false;
    if (def(leader.op).category != Category::Reduction) return true;
    std::set<NodeId> behind{fused.leader};
    for (const NodeId id : fused.members) {
      const Node& n = of_.node(id);
      if (std::ranges::none_of(n.operands, [&](ValueId v) { return v && behind.contains(v.node); })) continue;
      if (of_.elements({id, 0}) >= of_.elements(leader.operands[0])) return true;
      behind.insert(id);
    }
    return false;
  }

  bool is_long(NodeId reduction) const {
    const Node& n = of_.node(reduction);
    const Type &data = of_.g.type(n.operands[0]), &result = n.results[0].type;
    if (!data.is_static() || !result.is_static() || data.rank() == 0 || data.elements() == 0) return false;
    const double elements = of_.elements(n.operands[0]);
    if (def(n.op).category == Category::Reduction) {
      const bool columns =
          result.rank() > 0 && data.shape().back().value() > 1 && result.shape().back() == data.shape().back();
      return columns || elements / of_.elements({reduction, 0}) > constants::kCachedRow;
    }
    if (n.is(op("nn.instance_norm")) && data.rank() > 2)
      return elements / static_cast<double>(data.shape()[0].value() * data.shape()[1].value()) > constants::kCachedRow;
    return extents_of_rows(n, elementwise_extents(data, elements)).n > constants::kCachedRow;
  }

  /// A copy per part that is not yet where it belongs; none: the concatenation is no kernel. These copies find nothing
  /// in the L2 cache: in two profiles they take what their bytes take of memory (docs/whitebox.md).
  void join_images(NodeId id) {
    const Node& n = of_.node(id);
    for (std::size_t part = 0; part < n.operands.size(); ++part) {
      const ValueId v = n.operands[part];
      if (images_->written_in_place(id, part)) continue;
      Kernel copy = maker_.copy_of(id, v, of_.widths.read_width(v, n));
      copy.traffic.handed_bytes = 0;
      out_.count_call(HostCall::Kernel);
      out_.add(id, std::move(copy));
    }
  }

  /// Parts that others read, too, come together in one kernel, roughly: a kernel writes a part into all concatenations
  /// that are ready for it. Of the others each has a copy, but for those that a generated kernel writes in place.
  /// [torch/_inductor/ir.py, ConcatKernel]
  void join_parts(NodeId id) {
    const Node& n = of_.node(id);
    const std::uint32_t first = out_.next();
    double shared = 0;
    for (const ValueId v : n.operands) {
      if (!v) continue;
      const Node& part = of_.node(v.node);
      const double width = of_.widths.read_width(v, n);
      if (uses_[v.node] > 1) {
        shared += 2 * of_.elements(v) * width;
      } else if (part.kind != NodeKind::Call || !fuses(part) || is_any_view(of_.g, part)) {
        launch(maker_.copy_of(id, v, width));
      }
    }
    Kernel k = maker_.copy_of(id, {id, 0}, 0);
    k.ops = {n.op};
    k.traffic.bytes = k.traffic.handed_bytes = shared;
    if (shared > 0) launch(std::move(k));
    if (out_.next() > first) out_.share({id}, first, out_.next() - 1);
  }

  /// Mean, differences and the mean of their squares, before what is left of a row norm's kernel.
  void write_norms_out(const FusedGroup& fused, const Kernel& norm, const CompiledValues::Loads& loads) {
    for (const NodeId id : fused.members) {
      if (!is_row_norm(of_.node(id))) continue;
      launch(statistics_of(norm, loads));
      const ValueId data = of_.node(id).operands[0];
      Kernel differences = maker_.copy_of(id, data, of_.widths.read_width(data, of_.node(id)));
      differences.half = norm.half;
      launch(std::move(differences));
      launch(statistics_of(norm, loads));
    }
  }

  /// An engine's inputs are float32, row by row: a kernel each casts them, or brings images into the order of channels
  /// that convolutions read.
  void bring_in_inputs() {
    for (NodeId id = 0; id < of_.g.size(); ++id) {
      for (const ValueId v : of_.node(id).operands) {
        if (!v || of_.node(v.node).kind != NodeKind::Var || cast_[v.node]) continue;
        const Type& t = of_.g.type(v);
        if (!t.is_tensor() || t.dtype() != DType::Float32) continue;
        const double full = of_.elements(v) * element_bytes(t, false);
        const bool narrow = of_.widths.bytes_of(v) < full;
        if (!narrow && def(of_.node(id).op).category != Category::Convolution) continue;
        cast_[v.node] = true;
        launch(narrow ? maker_.cast_of(id, v) : maker_.copy_of(id, v, element_bytes(t, false)));
      }
    }
  }

  /// TorchInductor's kernel that brings an input of the graph into the width in which a library computes, and into the
  /// order of channels in which it convolves.
  void bring_in_input(NodeId leader) {
    const Node& n = of_.node(leader);
    if (!generates() || !uses_matrix_unit(n.op) || of_.widths.is_eight(leader)) return;
    const ValueId v = n.operands[0];
    if (!v || of_.node(v.node).kind != NodeKind::Var || cast_[v.node] || !of_.g.type(v).is_static()) return;
    const bool convolves = def(n.op).category == Category::Convolution;
    const bool reorders = convolves && of_.config.layout == Layout::Nchw && of_.layout.channels_last[leader];
    const double read = of_.widths.read_width(v, n);
    const bool casts = of_.widths.bytes_of(v) != read * of_.elements(v);
    if (!reorders && !casts) return;
    cast_[v.node] = true;
    Kernel k = !casts ? maker_.copy_of(leader, v, read) : maker_.cast_of(leader, v);
    k.traffic.handed_bytes = 0;
    k.limits.generated = true;
    if (reorders) reorder(of_.elements(v), k);
    launch(std::move(k));
  }

  /// Makes a generated copy one between the orders of channels.
  static void reorder(double elements, Kernel& copy) {
    copy.limits.byte_clocks = constants::kGeneratedImages * elements / copy.traffic.bytes;
  }

  /// A result of the graph lies as in eager mode (torch/_inductor/graph.py, user_visible_output_strides): what a
  /// convolution wrote channels last is copied. Generated kernels write it so.
  void restore_results() {
    if (!generates() || of_.config.layout != Layout::Nchw) return;
    for (const ValueId v : of_.g.results()) {
      const Node& n = of_.node(v.node);
      if (n.kind != NodeKind::Call || !of_.layout.channels_last[v.node]) continue;
      const Node& writer = n.is(op("nn.bias_add")) ? of_.node(n.operands[0].node) : n;
      if (writer.kind != NodeKind::Call || def(writer.op).category != Category::Convolution || of_.elements(v) == 0)
        continue;
      Kernel k = maker_.copy_of(v.node, v, of_.widths.bytes_of(v) / of_.elements(v));
      k.limits.generated = true;
      reorder(of_.elements(v), k);
      launch(std::move(k));
    }
  }

  /// What TorchInductor makes of attention that is written out (torch/_inductor/fx_passes/fuse_attention.py).
  enum class Replaced { No, AsItLies, InOrder };

  /// By the fused operator: of four dims where the scores are scaled (patterns 1 to 4), of three where they are not
  /// (13). A product's operands whose batch and heads do not merge are copied first, and the patterns have no copies;
  /// but 28 has three where the scores are multiplied, and brings the fused operator's operands in order. Those with
  /// masks are many forms, of which what is known here tells none.
  Replaced replaced_attention(NodeId id) {
    const Node& n = of_.node(id);
    if (!generates() || !n.is(op("nn.sdpa")) || n.attrs.int_or("explicit", 0) != 1 || is_masked_attention(n))
      return Replaced::No;
    const bool today = of_.config.compiled_attention == CompiledAttention::Today;
    if (today && !in_half(id) && of_.config.precision != Precision::Tf32) return Replaced::No;
    const Type& q = of_.g.type(n.operands[0]);
    const std::string_view scaled = n.attrs.string_or("scaled", "");
    if (!q.ranked() || q.rank() != (scaled.empty() ? 3 : 4)) return Replaced::No;
    if (scaled.empty()) return Replaced::AsItLies;
    std::size_t merged = 0;
    for (std::size_t i = AttentionOperand::kQ; i <= AttentionOperand::kV; ++i) merged += merges_heads(n.operands[i]);
    if (merged == 3) return Replaced::AsItLies;
    return merged == 0 && today && scaled == "scores" ? Replaced::InOrder : Replaced::No;
  }

  /// Whether (batch, heads, …) is a view of three dims, by the traced program's strides.
  bool merges_heads(ValueId v) {
    const Type& t = of_.g.type(v);
    return !t.is_static() || is_product_view(t, strides()[v.node], t);
  }

  /// By node, as in eager mode.
  const std::vector<Strides>& strides() {
    if (!strides_) strides_ = value_strides(of_.g, convolves_channels_last(of_.g, of_.config));
    return *strides_;
  }

  /// Whether kernels are TorchInductor's, whose inference was measured.
  bool generates() const { return !def(of_.config.runtime).own_layout && of_.config.task == Task::Infer; }

  bool in_half(NodeId id) const {
    return of_.widths.is_half(id) ||
           (!of_.node(id).results.empty() && bits(of_.node(id).results[0].type.dtype()) == 16);
  }

  std::uint32_t launch(Kernel k) {
    out_.count_call(compiled_call(k));
    return out_.add_alone(std::move(k));
  }

  void copy_operand(NodeId leader) {
    if (!compiled_copies_data(of_.g, leader, of_.layout, of_.weight) || values_.realization().in_order[leader]) return;
    const Node& n = of_.node(leader);
    launch(maker_.copy_of(leader, n.operands[0], of_.widths.read_width(n.operands[0], n)));
  }

  /// Operands of a batched product that no view makes three dims of: torch.matmul and einsum copy them in the program
  /// that is traced, a kernel each where none computes them.
  void copy_matrices(NodeId leader) {
    const Node& n = of_.node(leader);
    if (!generates() || !multiplies_matrices(n)) return;
    const auto product = product_operands(of_.g, leader, strides());
    if (!product) return;
    for (std::size_t i = 0; i < 2; ++i) {
      const ValueId v = n.operands[i];
      if (product->copies[i] && !of_.weight[v.node] && is_any_view(of_.g, of_.g.node(v)))
        launch(maker_.copy_of(leader, v, of_.widths.read_width(v, n)));
    }
  }

  /// Under int8 a product's data is quantised row by row, once for all products that read it.
  void quantise_data(NodeId id) {
    if (!of_.widths.is_eight(id)) return;
    const ValueId data = of_.node(id).operands[0];
    if (of_.widths.keeps_eight(data.node)) return;
    if (!cast_[data.node]) launch(maker_.cast_of(id, data));
    cast_[data.node] = true;
  }

  /// Under AMP a product's weights are cast to 16 bits in every run, one kernel each.
  void cast_weights(NodeId id) {
    const Node& product = of_.node(id);
    if (of_.config.precision != Precision::Amp || !uses_matrix_unit(product.op)) return;
    for (ValueId v : product.operands) {
      if (v && of_.widths.bits_of_second(id) > 0 && v == product.operands[1]) continue;
      if (v) cast_weight(id, v);
    }
  }

  /// Weights that a convolution wants channels last are the caller's, who keeps them channels first: they are copied in
  /// every run, unless they have been cast. Windows of one element and single channels lie both ways.
  /// [torch/_inductor/kernel/conv.py, convolution: require_channels_last]
  void reorder_weights(NodeId id) {
    const Node& n = of_.node(id);
    if (def(n.op).category != Category::Convolution || def(of_.config.runtime).own_layout ||
        !of_.layout.channels_last[id])
      return;
    if (of_.config.layout == Layout::Nhwc || n.operands.size() < 2 || !n.operands[1]) return;
    const ValueId weight = n.operands[1];
    const Type& t = of_.g.type(weight);
    if (of_.g.node(weight).kind == NodeKind::Call || cast_[weight.node] || !t.is_static() || t.rank() != 4) return;
    const double channels = static_cast<double>(t.shape()[1].value());
    if (channels == 1 || of_.elements(weight) == channels * static_cast<double>(t.shape()[0].value())) return;
    launch(maker_.copy_of(id, weight, of_.widths.read_width(weight, n)));
  }

  /// So are dense layers' biases, which their product adds.
  void cast_biases(std::uint32_t at) {
    if (of_.config.precision != Precision::Amp || !generates()) return;
    for (const NodeId id : values_.groups()[at].members) {
      const Node& n = of_.node(id);
      if (n.is(op("nn.bias_add")) && of_.node(n.operands[0].node).is(op("nn.dense"))) cast_weight(id, n.operands[1]);
    }
  }

  void cast_weight(NodeId id, ValueId v) {
    if (of_.g.node(v).kind != NodeKind::Constant || cast_[v.node] || of_.g.type(v).dtype() != DType::Float32) return;
    cast_[v.node] = true;
    launch(maker_.cast_of(id, v));
  }

  Kernel compute(const FusedGroup& fused, const CompiledValues::Loads& loads) const {
    const OpCost cost = op_cost(of_.g, fused.leader);
    const UnreadBytes unread = maker_.unread_bytes(fused.leader, cost, true);
    Kernel k = maker_.of(fused.leader, cost);
    k.traffic.bytes = maker_.inner_bytes(fused.leader);
    for (NodeId id : fused.members) {
      if (id != fused.leader) add_work(id, k);
      k.traffic.bytes += values_.kept_for_padding(id) + values_.written(id);
    }
    k.traffic.bytes += loads.bytes - unread.all;
    k.traffic.handed_bytes = std::max(k.traffic.bytes - loads.stored + unread.stored, 0.0);
    if (generates()) be_generated(fused, k);
    return k;
  }

  void be_generated(const FusedGroup& fused, Kernel& k) const {
    if (k.kind == KernelKind::Matmul) k.traffic.padding_bytes = padding_bytes(k);
    if (k.kind != KernelKind::Vector || k.traffic.bytes <= 0) return;
    double clocks = constants::kGeneratedTime.byte * k.traffic.bytes;
    for (NodeId id : fused.members) clocks += generated_clocks(of_, id);
    k.limits.generated = true;
    k.limits.byte_clocks = clocks / k.traffic.bytes;
  }

  /// Copies of a product's operands with extents of whole 16 bytes. [torch/_inductor/fx_passes/pad_mm.py]
  static double padding_bytes(const Kernel& k) {
    if (k.placement.aligned >= 1 || k.quantised != Quantised::None || k.attention.batch > 0) return 0;
    const Extents& e = k.extents;
    const double width = k.half ? 2 : 4;
    const auto odd = [&](double extent) {
      return extent > 1 && std::fmod(extent * width, constants::kVectorLoad) != 0;
    };
    const double first = odd(e.m) || odd(e.k) ? e.m * e.k : 0, second = odd(e.k) || odd(e.n) ? e.k * e.n : 0;
    return 2 * width * e.products * (first + second);
  }

  void add_work(NodeId id, Kernel& k) const {
    const OpCost cost = op_cost(of_.g, id);
    k.work.macs += cost.macs;
    k.work.flops += cost.flops;
    if (!is_any_view(of_.g, of_.node(id))) k.ops.push_back(kernel_op(of_.node(id)));
  }

  /// A norm's first kernel, which only reads.
  static Kernel statistics_of(Kernel norm, const CompiledValues::Loads& loads) {
    norm.traffic.bytes = loads.bytes;
    norm.traffic.handed_bytes = loads.bytes - loads.stored;
    return norm;
  }

  const PlannedGraph& of_;
  const KernelMaker& maker_;
  PlanWriter& out_;
  const std::optional<JoinedImages> images_;  ///< where the runtime joins them
  const CompiledValues values_;
  AttentionParts attention_;
  SuppressionParts suppression_;
  const std::vector<std::uint32_t> uses_;        ///< by node
  std::optional<std::vector<Strides>> strides_;  ///< made when they are asked for
  std::vector<bool> cast_;  ///< by node: a weight or an input that has been cast, or data that was quantised
};

}  // namespace

void plan_compiled(const PlannedGraph& graph, const KernelMaker& maker, PlanWriter& out) {
  CompiledPlanner(graph, maker, out).run();
}

}  // namespace perfc
