#include "whitebox/launch/eager.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "ir/eager_marks.h"
#include "ir/ops/attention_operands.h"
#include "whitebox/constants/elements.h"
#include "whitebox/constants/kernels.h"
#include "whitebox/constants/layouts.h"
#include "whitebox/constants/linear_attention.h"
#include "whitebox/constants/training.h"
#include "whitebox/launch/attention_parts.h"
#include "whitebox/launch/batch_norm.h"
#include "whitebox/launch/element_clocks.h"
#include "whitebox/launch/framework.h"
#include "whitebox/launch/geometry.h"
#include "whitebox/launch/norm_statistics.h"
#include "whitebox/launch/suppression_parts.h"
#include "whitebox/launch/value_strides.h"

namespace perfc {
namespace {

class EagerPlanner {
 public:
  EagerPlanner(const PlannedGraph& graph, const KernelMaker& maker, PlanWriter& out)
      : of_(graph), maker_(maker), out_(out), attention_(graph, maker, out), suppression_(graph, maker, out) {}

  void run() {
    const std::vector<std::pair<NodeId, Widths::Cast>> casts = casts_by_call();
    auto next = casts.begin();
    for (NodeId id = 0; id < of_.g.size(); ++id) {
      for (; next != casts.end() && next->first == id; ++next) cast(next->second);
      const Node& n = of_.node(id);
      if (n.kind == NodeKind::Call && n.regions.empty()) call(id, n);
    }
  }

 private:
  /// In the order of the calls that want them: a layer's wants its bias, too, and C++ casts the last argument first.
  std::vector<std::pair<NodeId, Widths::Cast>> casts_by_call() const {
    std::vector<std::pair<NodeId, Widths::Cast>> out;
    for (const Widths::Cast& c : of_.widths.casts()) {
      const Node& user = of_.node(c.user);
      const bool bias = user.is(op("nn.bias_add")) && c.value == user.operands[1];
      out.emplace_back(bias ? biased_product(of_.g, user).node : c.user, c);
    }
    std::ranges::reverse(out);
    std::ranges::stable_sort(out, {}, &std::pair<NodeId, Widths::Cast>::first);
    return out;
  }

  void cast(const Widths::Cast& c) {
    Kernel cast = maker_.cast_of(c.user, c.value);
    const bool widens = of_.widths.read_width(c.value, of_.node(c.user)) == 4;
    if (widens) limit(constants::kWideningClocks * of_.elements(c.value), cast);
    const double parts = parameters_in(c);
    cast.extents.m /= parts;
    for (double* amount : {&cast.work.flops, &cast.traffic.bytes, &cast.traffic.handed_bytes}) *amount /= parts;
    for (double i = 0; i < parts; ++i) {
      out_.add_cast(c.value.node, c.user, cast);
      out_.count_call(HostCall::Inner);
    }
  }

  /// Of a recurrent layer each direction has weights of its own, and two biases
  /// (aten/src/ATen/cudnn/AutocastRNN.cpp casts them one by one).
  double parameters_in(const Widths::Cast& c) const {
    constexpr std::size_t kBias = 3;  // behind data, weights of the data and of the state
    const Node& user = of_.node(c.user);
    const Type& t = of_.g.type(c.value);
    if (def(user.op).category != Category::Recurrent || !t.is_static() || t.rank() == 0) return 1;
    const auto at = static_cast<std::size_t>(std::ranges::find(user.operands, c.value) - user.operands.begin());
    const auto directions = static_cast<double>(t.shape()[0].value());
    return at == 0 || at > kBias ? 1 : at == kBias ? 2 * directions : directions;
  }

  void call(NodeId id, const Node& n) {
    if (n.attrs.has(kInside) || of_.elements({id, 0}) == 0) return;
    if (is_strided_view(of_.g, n) && !n.attrs.has(kLaunched)) return;
    if (is_epilogue(of_.g, n) && !adds_alone(n)) {
      note_bias(n);
      return;
    }
    if (is_view(n)) {
      if (of_.layout.copied[id]) copy_view(id);
      return;
    }
    count_views(n);
    if (is_masked_attention(n)) prepare_mask(id, n);
    if (const auto attention = parts_of_attention(id, n)) {
      attention_.eager(id, *attention);
      return;
    }
    if (attention_.by_operator(id)) return;
    if (def(of_.config.runtime).autocast && pads_heads(of_.g, n, in_half(id))) pad_heads(id, n);
    if (def(n.op).suppression && suppression_.launch(id, HostCall::Inner)) return;
    if (copies_data(of_.g, id, of_.layout, of_.weight)) copy_operand(id, n);
    copy_for_product(id, n);
    if (n.is(op("nn.pad")) && pad_by_parts(id, n)) return;
    if (n.is(op("concatenate")) && concatenate_by_parts(id, n)) return;
    if (n.is(op("nn.instance_norm"))) repeat_parameters(id, n);
    if (n.is(op("nn.cross_entropy")) && cross_entropy_by_parts(id, n)) return;
    if (const auto statistics = norm_statistics(of_, id)) add_up(id, n, *statistics);
    if (n.attrs.has(kOnCopy))
      launch(id, HostCall::Inner, copy_of(id, n.operands.back(), of_.widths.read_width(n.operands.back(), n)));
    for (const OpId part : def(n.op).before) {
      if (part) run_before(id, n, part);
    }
    compute(id, n);
    if (multiplies_from_left(n))
      launch(id, HostCall::Inner, maker_.copy_of(id, {id, 0}, of_.widths.read_width(n.operands[0], n)));
  }

  /// Constants are filled in, then the data is copied between them; what only crops is a copy
  /// (aten/src/ATen/native/PadNd.cpp, constant_pad_nd). Of a circular pad the middle is copied, then each side, the
  /// last dim first (_pad_circular_symint). Reflections and replications are one kernel.
  bool pad_by_parts(NodeId id, const Node& n) {
    const std::string_view mode = n.attrs.string_or("mode", "constant");
    const Type& from = of_.g.type(n.operands[0]);
    const Data* data = of_.g.data(n.operands[1]);
    const bool known = from.is_static() && data && data->ints() && data->fully_known() && n.operands.size() < 4 &&
                       data->size() == 2 * from.rank();
    if (!known || (mode != "constant" && mode != "wrap")) return false;
    const auto pad = [&](std::size_t axis, bool behind) {
      return static_cast<double>((*data->ints())[axis + (behind ? from.rank() : 0)].value());
    };
    const double width = of_.widths.read_width(n.operands[0], n), written = of_.elements({id, 0});
    double kept = 1;
    bool grows = false;
    for (std::size_t a = 0; a < from.rank(); ++a) {
      kept *= static_cast<double>(from.shape()[a].value()) + std::min(pad(a, false), 0.0) + std::min(pad(a, true), 0.0);
      grows = grows || pad(a, false) > 0 || pad(a, true) > 0;
    }
    if (mode == "constant" && grows) launch(id, HostCall::Inner, moved(id, {op("full"), written, written * width}));
    launch(id, host_call(n.op), moved(id, {mode == "constant" ? op("nn.pad") : op("copy"), kept, 2 * kept * width}));
    for (std::size_t a = from.rank(); mode == "wrap" && a-- > 0;) {
      const double row = written / static_cast<double>(n.results[0].type.shape()[a].value());
      for (const bool behind : {false, true}) {
        const double side = row * pad(a, behind);
        if (side > 0) launch(id, HostCall::Inner, moved(id, {op("copy"), side, 2 * side * width}));
      }
    }
    return true;
  }

  /// Queries, keys and values, each filled with zeros, then copied into.
  void pad_heads(NodeId id, const Node& n) {
    for (std::size_t i = AttentionOperand::kQ; i <= AttentionOperand::kV; ++i) {
      const double own = static_cast<double>(of_.g.type(n.operands[i]).shape().back().value()),
                   wide = static_cast<double>(padded_head(static_cast<std::int64_t>(own))),
                   kept = of_.elements(n.operands[i]), written = kept / own * wide,
                   width = of_.widths.read_width(n.operands[i], n);
      launch(id, HostCall::Inner, moved(id, {op("full"), written, written * width}));
      launch(id, HostCall::Inner, moved(id, {op("nn.pad"), kept, 2 * kept * width}));
    }
  }

  /// Tensors of more than four dims are copied one by one (aten/src/ATen/native/cuda/Shape.cu, cat_out_cuda and
  /// CAT_ARRAY_MAX_INPUT_DIMS).
  bool concatenate_by_parts(NodeId id, const Node& n) {
    constexpr std::size_t kMostDims = 4;
    const Type& result = of_.g.type({id, 0});
    if (!def(of_.config.runtime).autocast || !result.ranked() || result.rank() <= kMostDims) return false;
    OpId what = n.op;  // the first says whose the copies behind it are
    for (const ValueId v : n.operands) {
      const double elements = v ? of_.elements(v) : 0;
      if (elements == 0) continue;
      Kernel copy = moved(id, {std::exchange(what, op("copy")), elements, 2 * of_.widths.bytes_read(v, n)});
      limit(indexed_clocks(of_.widths.is_half(id)) * elements, copy);
      launch(id, HostCall::Inner, std::move(copy));
    }
    return true;
  }

  /// A norm of instances is a batch-norm of one sample with all instances' channels, and so are its parameters
  /// (aten/src/ATen/native/Normalization.cpp, instance_norm).
  void repeat_parameters(NodeId id, const Node& n) {
    for (std::size_t i = 1; i < std::min<std::size_t>(n.operands.size(), 3); ++i) {
      if (n.operands[i] && !of_.g.data(n.operands[i]))
        launch(id, HostCall::Inner, maker_.copy_of(id, n.operands[i], of_.widths.read_width(n.operands[i], n)));
    }
  }

  /// A softmax, of whose rows another kernel picks what the labels say, all in one thread block where it adds them up
  /// and a label has one position (aten/src/ATen/native/LossNLL.cpp, cross_entropy_loss_symint; cuda/NLLLoss.cu,
  /// nll_loss_threads).
  bool cross_entropy_by_parts(NodeId id, const Node& n) {
    constexpr double kFewest = 32, kMost = 1024, kRowsOfThread = 16;
    constexpr double kLabelAndSector = 8 + 32;  // byte: an int64, and what memory gives of a row for one element of it
    if (!def(of_.config.runtime).autocast || of_.config.task == Task::Train) return false;
    run_before(id, n, op("nn.log_softmax"));
    const Type& labels = of_.g.type(n.operands[1]);
    if (!labels.is_static()) return false;
    const double rows = of_.elements(n.operands[1]);
    const double threads = std::clamp(std::exp2(std::round(std::log2(rows / kRowsOfThread))), kFewest, kMost);
    Kernel k = moved(id, {n.op, of_.elements({id, 0}), rows * kLabelAndSector});
    if (labels.rank() == 1 && of_.elements({id, 0}) == 1) k.limits.serial_steps = 2 * std::ceil(rows / threads);
    launch(id, host_call(n.op), std::move(k));
    return true;
  }

  /// The statistics of a norm, by a kernel of their own.
  void add_up(NodeId id, const Node& n, const NormStatistics& statistics) {
    const double width = of_.widths.read_width(n.operands[0], n);
    Kernel k = moved(id, {op("mean"), statistics.rows, of_.widths.bytes_read(n.operands[0], n)});
    limit_statistics(statistics, width, k);
    out_.add(id, std::move(k));
  }

  /// A weight times a stack of matrices is their product with its transpose, transposed and copied
  /// (aten/src/ATen/native/LinearAlgebra.cpp, _matmul_impl).
  bool multiplies_from_left(const Node& n) const {
    return n.is(op("nn.batch_matmul")) && of_.weight[n.operands[0].node] && of_.g.type(n.operands[0]).rank() == 2 &&
           of_.g.type(n.operands[1]).rank() > 2;
  }

  std::optional<WrittenOutAttention> parts_of_attention(NodeId id, const Node& n) const {
    if (def(n.op).category != Category::Attention) return std::nullopt;
    return written_out_attention(of_.g, id,
                                 {fused_attention_reads(of_.g, id, of_.layout.strides, of_.layout.cast), in_half(id)});
  }

  bool in_half(NodeId id) const { return of_.widths.is_half(id) || bits(of_.node(id).results[0].type.dtype()) == 16; }

  /// The bias of a dense layer whose data is no matrix as it lies: torch.nn.functional.linear then multiplies first
  /// (aten/src/ATen/native/Linear.cpp).
  bool adds_alone(const Node& n) const {
    const NodeId product = biased_product(of_.g, n).node;
    return of_.g.type(of_.g.node(product).operands[0]).rank() > 2 && !reads_in_order(of_.g, product, 0, of_.layout);
  }

  /// Its product's call adds it, which not every library's product does.
  void note_bias(const Node& n) {
    const ValueId product = biased_product(of_.g, n);
    if (def(of_.config.runtime).autocast && out_.has_kernel(product.node))
      out_.last_of(product.node).traffic.biased_bytes = of_.widths.bytes_of(product);
  }

  /// A mask of bools becomes numbers: 0, −∞, where; what the fused kernel cannot read in steps of 8 is padded
  /// (aten/src/ATen/native/transformers/attention.cpp, convert_boolean_attn_mask and pad_bias).
  void prepare_mask(NodeId id, const Node& n) {
    if (n.attrs.int_or("explicit", 0) == 1) return;
    const ValueId mask = n.operands[AttentionOperand::kMask];
    const Type& type = of_.g.type(mask);
    if (!type.is_static() || type.rank() == 0) return;
    Strides strides = of_.layout.strides[mask.node];
    const double elements = of_.elements(mask);
    if (type.dtype() == DType::Bool) {
      for (int i = 0; i < 2; ++i) launch(id, HostCall::Inner, on_mask(id, {op("full"), 1, kMaskBytes}));
      launch(id, HostCall::Inner, on_mask(id, {op("where"), elements, elements * (1 + kMaskBytes)}));
      strides = elementwise_strides(type, strides);
    }
    if (parts_of_attention(id, n) || readable_in_steps(strides)) return;
    const auto last = static_cast<double>(type.shape().back().value());
    const double padded = elements / last * (std::floor(last / kMaskStep) + 1) * kMaskStep;
    launch(id, HostCall::Inner, on_mask(id, {op("nn.pad"), padded, (elements + padded) * kMaskBytes}));
  }

  static constexpr double kMaskBytes = 4, kMaskStep = 8;
  static bool readable_in_steps(const Strides& strides) {
    return strides.back() == 1 && std::all_of(strides.begin(), strides.end() - 1, [](std::int64_t s) {
             return s % static_cast<std::int64_t>(kMaskStep) == 0;
           });
  }
  struct Moved {
    OpId what;
    double written = 0;  ///< elements
    double bytes = 0;
  };
  /// A kernel that moves elements of a row.
  Kernel moved(NodeId id, const Moved& does) const {
    Kernel k = maker_.copy_of(id, {id, 0}, 0);
    k.ops = {does.what};
    k.half = of_.widths.is_half(id);
    k.extents = {.m = 1, .n = does.written, .k = 1};
    k.traffic.bytes = k.traffic.handed_bytes = does.bytes;
    return k;
  }
  Kernel on_mask(NodeId id, const Moved& does) const {
    Kernel k = moved(id, does);
    k.half = false;
    k.work.flops = does.written;
    return k;
  }

  /// torch.matmul and torch.einsum give their operands three dims, which not every one has a view of.
  void copy_for_product(NodeId id, const Node& n) {
    const auto product = product_operands(of_.g, id, of_.layout.strides, of_.layout.cast);
    if (!product) return;
    for (const std::size_t i : {std::size_t{product->swapped}, std::size_t{!product->swapped}}) {
      if (!product->copies[i]) continue;
      const ValueId v = n.operands[i];
      const double width = of_.widths.read_width(v, n),
                   written = std::max(broadcast_copy(of_.g, n, i), of_.elements(v));
      Kernel copy = copy_of(id, v, width);
      copy.traffic.bytes = copy.traffic.handed_bytes = (of_.elements(v) + written) * width;
      copy.extents.m *= of_.elements(v) > 0 ? written / of_.elements(v) : 1;
      launch(id, HostCall::Inner, std::move(copy));
    }
  }

  /// What PyTorch's own kernels need of the SMs; ONNX Runtime's are others.
  void limit(double clocks, Kernel& k) const {
    if (clocks <= 0 || k.traffic.bytes <= 0 || !def(of_.config.runtime).autocast) return;
    k.limits.byte_clocks = std::max(k.limits.byte_clocks, clocks / k.traffic.bytes);
  }
  void count_indices(ValueId copied, bool half, Kernel& k) const {
    limit(copy_clocks(of_, copied, half), k);
    k.placement.transposed = turns_rows(of_, copied);
  }
  Kernel copy_of(NodeId id, ValueId v, double width) const {
    Kernel k = maker_.copy_of(id, v, width);
    count_indices(v, width <= 2, k);
    return k;
  }

  void launch(NodeId id, HostCall call, Kernel k) {
    out_.count_call(call);
    out_.add(id, std::move(k));
  }

  void copy_view(NodeId id) {
    Kernel k = maker_.of(id, op_cost(of_.g, id));
    k.traffic.bytes = k.traffic.handed_bytes = 2 * of_.widths.bytes_of({id, 0});
    count_indices(of_.node(id).operands[0], of_.widths.is_half(id), k);
    launch(id, HostCall::Kernel, std::move(k));
  }

  /// Exporters write one chain of views in many ways; what a kernel reads through views counts as one call.
  void count_views(const Node& n) {
    for (ValueId v : n.operands) {
      if (v && is_free(v.node) && !of_.weight[v.node] && viewed_.insert(v).second) out_.count_call(HostCall::View);
    }
  }

  /// A view that needed no copy.
  bool is_free(NodeId id) const {
    const Node& n = of_.node(id);
    return n.kind == NodeKind::Call && !out_.has_kernel(id) && is_any_view(of_.g, n);
  }

  Kernel copy_of_data(NodeId id, const Node& n) const {
    return copy_of(id, n.operands[0], of_.widths.read_width(n.operands[0], n));
  }

  void copy_operand(NodeId id, const Node& n) {
    Kernel copy = copy_of_data(id, n);
    const bool reorders = of_.layout.channels_last[id] != of_.layout.channels_last[n.operands[0].node];
    if (reorders) copy.limits.slowdown = constants::kReordering;
    launch(id, HostCall::Inner, std::move(copy));
  }

  void run_before(NodeId id, const Node& n, OpId part) {
    Kernel k = copy_of_data(id, n);
    k.ops = {part};
    launch(id, host_call(part), std::move(k));
  }

  void compute(NodeId id, const Node& n) {
    const OpCost cost = op_cost(of_.g, id);
    Kernel k = maker_.of(id, cost);
    k.traffic.bytes = maker_.bytes_of(id, cost) + maker_.inner_bytes(id) + unasked_bytes(n);
    k.traffic.handed_bytes = std::max(k.traffic.bytes - maker_.stored_bytes(id, cost), 0.0);
    limit(element_clocks(of_, id), k);
    if (of_.layout.stacked[id]) {
      const Type& data = of_.g.type(n.operands[0]);
      const double rows = static_cast<double>(data.shape()[data.rank() - 2].value());
      k.extents.products = k.extents.m / rows;
      k.extents.m = rows;
    }
    if (def(of_.config.runtime).autocast) {
      const double waits = reduction_us(of_, id) / constants::kSerialStepUs;
      k.limits.serial_steps = std::max(k.limits.serial_steps, waits);
    }
    if (has_batch_statistics(n) && of_.config.task != Task::Train && def(of_.config.runtime).autocast) {
      be_of_batch(of_.g.type(n.operands[1]), of_.layout.channels_last[id], k);
      k.traffic.bytes *= constants::kBatchStatisticsBytes;
    } else if (n.is(op("nn.batch_norm")) && has_own_batch_norm(of_.config)) {
      prepare_batch_norm(id, n);
    }
    if (k.state.kernels == StateKernels::Library) count_triton_calls(k.state);
    // A layer's call adds its bias (aten/src/ATen/native/Convolution.cpp, _convolution; Linear.cpp, linear).
    launch(id, n.is(op("nn.bias_add")) ? HostCall::Inner : host_call(n.op), std::move(k));
  }

  /// Its running variance in 32 bits, and one over its root (aten/src/ATen/native/cuda/Normalization.cu,
  /// batch_norm_elementwise, batch_norm_calc_invstd). No calls of the host's: with them a whole norm takes it no longer
  /// than cuDNN's (an H200's host: 16 models at batch 1 in float16 and in float32, studies/hopper).
  void prepare_batch_norm(NodeId id, const Node& n) {
    const double channels = of_.elements(n.operands[1]);
    out_.add(id, moved(id, {op("copy"), channels, 6 * channels}));
    out_.add(id, moved(id, {op("rsqrt"), channels, 6 * channels}));
  }

  /// Beside the call itself, what its library takes for each kernel that it launches from Python.
  void count_triton_calls(const StateSpan& s) {
    const double kernels = s.tokens > 1 ? constants::kLibraryKernels : 1;
    out_.count_call(HostCall::Composite, kernels * constants::kTritonCalls - 1);
  }

  const PlannedGraph& of_;
  const KernelMaker& maker_;
  PlanWriter& out_;
  AttentionParts attention_;
  SuppressionParts suppression_;
  std::set<ValueId> viewed_;  ///< views that were counted
};

}  // namespace

void plan_eager(const PlannedGraph& graph, const KernelMaker& maker, PlanWriter& out) {
  EagerPlanner(graph, maker, out).run();
}

}  // namespace perfc
