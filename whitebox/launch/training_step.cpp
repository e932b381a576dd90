#include "whitebox/launch/training_step.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "whitebox/constants/elements.h"
#include "whitebox/constants/training.h"
#include "whitebox/constants/units.h"
#include "whitebox/launch/batch_norm.h"
#include "whitebox/launch/data_layout.h"
#include "whitebox/launch/framework.h"
#include "whitebox/launch/geometry.h"
#include "whitebox/launch/plan_writer.h"
#include "whitebox/memory/autograd.h"

namespace perfc {
namespace {

class Backward {
 public:
  Backward(const Graph& g, const ExecConfig& config, KernelPlan& plan)
      : g_(g), config_(config), plan_(plan), needs_(needs_gradient(g)), uses_(g.size(), 0),
        width_(config.precision == Precision::Amp ? 2.0 : float_bytes(config.precision)),
        channels_last_(convolves_channels_last(g, config)) {
    for (NodeId id = 0; id < g.size(); ++id) {
      for (ValueId v : g.node(id).operands) {
        if (v && needs_[id]) ++uses_[v.node];
      }
    }
  }

  void run() {
    const std::size_t forward = plan_.kernels.size();
    for (std::size_t i = forward; i-- > 0;) {
      const Kernel k = plan_.kernels[i];  // a copy: the list grows
      if (needs_[k.node]) gradient_of(k);
    }
    for (NodeId id = static_cast<NodeId>(g_.size()); id-- > 0;) without_forward_kernel(id);
    optimizer();
    finish(forward);
  }

 private:
  /// What is known of kernels only when all of the step is there; `forward`: how many come before the backward pass.
  void finish(std::size_t forward) {
    for (std::size_t i = 0; i < plan_.kernels.size(); ++i) {
      Kernel& k = plan_.kernels[i];
      const bool norm = k.ops.front() == op("nn.batch_norm");
      k.traffic.handed_bytes = 0;  // what the forward pass makes is kept until the other reads it
      if (i < forward) k.pass = Pass::Forward;
      if (norm && !compiled()) be_batch_norm(k);
      if (norm && i < forward && g_.node(k.node).is(k.ops.front())) k.traffic.bytes *= constants::kBatchStatisticsBytes;
    }
  }

  void be_batch_norm(Kernel& k) const {
    const Node& n = g_.node(k.node);
    if (n.operands.size() < 2) return;
    if (k.pass == Pass::Backward) k.pass = Pass::DataGradient;
    be_of_batch(g_.type(n.operands[1]), channels_last_, k);
  }

  /// Channels last, cuDNN 8 has gradients of grouped convolutions for groups of 4, 8, 16 and 32 channels
  /// and multiples of 32 groups; others run on the vector units: timm's regnet, nfnet, repvgg and resnest.
  bool falls_back(const Kernel& k) const {
    const double channels = k.extents.channels_per_group;
    if (!channels_last_ || channels <= 1 || channels == kUngrouped) return false;
    return std::fmod(k.extents.products, constants::kGradientGroups) != 0 || !has_own_kernel(channels) ||
           channels > constants::kGradientChannels;
  }

  /// Autograd's engine and multi-tensor optimizers call from C++, without Python.
  static HostCall backward_call(OpId o) {
    const HostCall forward = host_call(o);
    return forward == HostCall::Kernel ? HostCall::Inner : forward;
  }

  void launch(Kernel k) {
    plan_.host_calls.add(compiled() ? compiled_call(k) : backward_call(k.ops.front()), k.repeat);
    launch_uncounted(std::move(k));
  }
  /// A kernel whose call is counted otherwise.
  void launch_uncounted(Kernel k) {
    if (k.pass == Pass::Inference) k.pass = Pass::Backward;
    plan_.add(std::move(k));
  }
  /// A kernel that streams memory.
  Kernel streams(NodeId node, OpId what, double bytes, double flops, double repeat = 1) const {
    Kernel k;
    k.node = node;
    k.traffic.bytes = bytes;
    k.work.flops = flops;
    k.repeat = repeat;
    k.half = width_ < 4;
    k.extents = {.m = flops, .n = 1, .k = 1};
    k.ops = {what};
    return k;
  }
  void stream(NodeId node, OpId what, double bytes, double flops) { launch(streams(node, what, bytes, flops)); }

  bool needed(const Node& n, std::size_t i) const {
    return i < n.operands.size() && n.operands[i] && needs_[n.operands[i].node];
  }

  void gradient_of(const Kernel& k) {
    const Node& n = g_.node(k.node);
    const Category c = def(k.ops.front()).category;
    if (k.work.macs > 0 && uses_matrix_unit(k.ops.front())) {
      products(k, n, c);
      return;
    }
    if (k.ops.front() == op("cast") && !n.is(k.ops.front())) {
      const bool of_input = !needed(n, 0) && k.work.flops == elements(g_.type(n.operands[0]));
      if (!of_input) launch(cast_back(k));
      return;
    }
    if (!n.is(k.ops.front())) {  // part of a composite: a body's, or of written-out attention
      launch(c == Category::Normalization ? without_steps(k) : streamed(k));
      return;
    }
    const bool is_maximum = n.is(op("nn.max_pool2d"));  // of others, compilers write the gradient out
    if (const double reads = pooled_reads(g_, n); reads > 0 && (is_maximum || !compiled())) {
      launch(pooling_backward(is_maximum ? streamed(k) : without_steps(k), reads));
      return;
    }
    if (compiled() && c != Category::Normalization && k.ops.size() > 1 && keeps_values(k)) {
      launch(streamed(k));
      broadcast_sum(k, n);
      return;
    }
    switch (c) {
      case Category::Normalization:
        if (n.is(op("nn.layer_norm")) && !compiled()) {
          layer_norm_backward(k, n);
          break;
        }
        launch(norm_backward(k));
        if (n.is(op("nn.batch_norm")) && !compiled()) count_batch(k.node);
        break;
      case Category::Elementwise:
        elementwise(k, n);
        break;
      case Category::Activation:
      case Category::Softmax:
        launch(streamed(k));
        break;
      default:
        launch(without_steps(k));
        break;
    }
  }

  /// One kernel for its data, one for its parameters, whose blocks walk over all rows unless these are many
  /// (aten/src/ATen/native/cuda/layer_norm_kernel.cu, LaunchGammaBetaBackwardCUDAKernel).
  void layer_norm_backward(const Kernel& k, const Node& n) {
    Kernel data = streamed(k);
    data.limits.slowdown *= constants::kLayerNormBackward;
    launch(std::move(data));
    if (!needed(n, 1)) return;
    const double rows = k.extents.m, all = rows * k.extents.n;
    Kernel parameters = streams(k.node, k.ops.front(), 2 * all * (k.half ? 2 : 4), all, k.repeat);
    parameters.half = k.half;
    if (rows <= constants::kManyRows) parameters.limits.tail_clocks = constants::kParameterRowClocks * rows;
    launch_uncounted(std::move(parameters));  // of the same call
  }

  /// A cast that autocast put before a call, the other way: what widens is not loaded in vectors.
  static Kernel cast_back(Kernel k) {
    const bool narrowed = k.limits.byte_clocks == 0;
    k.limits.byte_clocks = narrowed ? constants::kWideningClocks * k.work.flops / k.traffic.bytes : 0;
    return k;
  }

  /// `num_batches_tracked += 1` (torch/nn/modules/batchnorm.py).
  void count_batch(NodeId norm) {
    Kernel k = streams(norm, op("add"), 2 * constants::kIndexBytes, 1);
    k.half = false;
    plan_.host_calls.add(HostCall::Kernel, 1);  // from Python
    launch_uncounted(std::move(k));
  }

  bool compiled() const { return config_.mode == ExecMode::Compiled; }

  /// Whether the gradient of what a kernel fuses reads more than its result's: what an activation or a product got.
  static bool keeps_values(const Kernel& k) {
    return std::ranges::any_of(k.ops, [](OpId o) {
      const OpDef& d = def(o);
      const bool computed = d.gradient == Gradient::PerOperand || d.gradient == Gradient::Computed;
      return d.category == Category::Activation || d.category == Category::Softmax ||
             (d.category == Category::Elementwise && computed);
    });
  }

  static Kernel without_steps(Kernel k) {
    k.limits.serial_steps = 0;
    return k;
  }

  /// A gradient that reads the result's and what was kept; casts and copies keep nothing.
  static Kernel streamed(Kernel k) {
    const Moves moves = def(k.ops.front()).moves;
    if (moves != Moves::Copies && moves != Moves::Converts) k.traffic.bytes *= constants::kBackwardBytes;
    return without_steps(std::move(k));
  }

  /// A thread for each element of the data walks over the windows that hold it; a maximum's looks whether it is it.
  Kernel pooling_backward(Kernel k, double reads) const {
    const double clocks = channels_last_ ? constants::kPoolingGradientLast : constants::kPoolingGradientFirst;
    k.limits.byte_clocks = clocks * reads / k.traffic.bytes;
    return k;
  }

  static Kernel norm_backward(Kernel k) {
    k.traffic.bytes *= constants::kNormBackwardBytes;
    k.work.flops *= constants::kNormBackwardFlops;
    return without_steps(std::move(k));
  }

  void elementwise(const Kernel& k, const Node& n) {
    switch (def(k.ops.front()).gradient) {
      case Gradient::PerOperand:
        for (std::size_t i = 0; i < n.operands.size(); ++i) {
          if (needed(n, i)) launch(k);
        }
        broadcast_sum(k, n);
        return;
      case Gradient::Same:
      case Gradient::SameOfFirst:
        broadcast_sum(k, n);
        return;
      case Gradient::Computed:
      case Gradient::SameInSum:
      case Gradient::View:
        launch(streamed(k));
    }
  }

  /// An operand's gradient, summed over the axes along which it was broadcast. Where its elements lie side by side,
  /// blocks split a column if it is long, and the last one adds up what they leave
  /// (aten/src/ATen/native/cuda/Reduce.cuh, setReduceConfig, global_reduce).
  void sum(NodeId node, const Type& operand, const Type& result, double repeat = 1) {
    const double columns = elements(operand), all = elements(result), rows = columns > 0 ? all / columns : 0;
    Kernel k = streams(node, op("sum_axes"), (all + columns) * width_, all, repeat);
    k.limits.tail_clocks = constants::kSumClocks;
    const bool innermost = operand.rank() > 0 && operand.shape().back().value() > 1 && !is_bias_of_planes(node);
    const double blocks = std::ceil(columns / constants::kSumBlockColumns);
    const double split =
        std::min({constants::kSumBlocks / blocks, rows / constants::kLeastSummed, constants::kMostSumBlocks});
    if ((innermost || channels_last_) && split > 1)
      k.limits.tail_clocks += constants::kSumTailClocks + constants::kSumBlockClocks * split;
    launch(std::move(k));
  }

  /// Whose channels are the second axis of more than two.
  bool is_bias_of_planes(NodeId id) const {
    const Node& n = g_.node(id);
    return n.is(op("nn.bias_add")) && n.attrs.int_or("axis", 1) == 1 && n.results[0].type.rank() > 2;
  }

  /// The gradient of an operand that was broadcast is a sum.
  void broadcast_sum(const Kernel& k, const Node& n) {
    for (std::size_t i = 0; i < n.operands.size(); ++i) {
      if (!needed(n, i)) continue;
      const double own = elements(g_.type(n.operands[i])), all = elements(n.results[0].type);
      if (own < all) sum(k.node, g_.type(n.operands[i]), n.results[0].type, k.repeat);
    }
  }

  /// One product for each operand's gradient. With m × k by k × n forwards, the data's
  /// is m × n by n × k and the weight's k × m by m × n.
  void products(const Kernel& k, const Node& n, Category c) {
    const bool both = !n.is(k.ops.front()) || (c != Category::Convolution && c != Category::MatMul);
    if (both || needed(n, 0)) {
      Kernel data = k;
      data.pass = Pass::DataGradient;
      std::swap(data.extents.n, data.extents.k);
      if (k.extents.weights > 0) data.extents = data_gradient(k.extents, elements(g_.type(n.operands[0])));
      limit(data);
      launch(std::move(data));
    }
    if (both || needed(n, 1)) {
      Kernel weight = k;
      weight.pass = Pass::WeightGradient;
      weight.traffic.steps = 1;  // one product over all steps of a recurrence
      weight.extents.m = k.extents.k;
      weight.extents.k = k.extents.m;
      limit(weight);
      launch(std::move(weight));
    }
  }

  /// Of a convolution's data: a convolution of the result's gradient, whose windows meet the other channels.
  static Extents data_gradient(const Extents& forwards, double data) {
    Extents e = forwards;
    e.n = e.weights / (e.products * e.window * forwards.n);
    e.m = data / (e.products * e.n);
    e.k = forwards.m * forwards.n * forwards.k / (e.m * e.n);
    return e;
  }

  /// A convolution's gradient that has no kernel on the matrix units.
  void limit(Kernel& k) const {
    if (!falls_back(k)) return;
    k.kind = KernelKind::Depthwise;  // wider groups use more of what they load
    k.limits.vector_share = constants::kGroupGradient * std::sqrt(k.extents.channels_per_group);
  }

  /// Gradients of what launched nothing forwards: sums over several users, slices and
  /// splits (which write the whole), biases in a product's epilogue.
  void without_forward_kernel(NodeId id) {
    const Node& n = g_.node(id);
    if (n.kind != NodeKind::Call || !needs_[id] || n.results.empty()) return;
    const double all = elements(n.results[0].type);
    // A compiler's next kernel adds them where it reads them.
    const double passes = compiled() ? 1 : 3;
    for (std::uint32_t i = 1; i < uses_[id] && !is_split(id); ++i) stream(id, op("add"), passes * all * width_, all);
    if (is_epilogue(g_, n) && needed(n, 1)) sum(id, g_.type(n.operands[1]), n.results[0].type);
    if (is_split(id)) stream(id, op("concatenate"), 2 * all * width_, all);
  }

  /// All users take their own part of it: their gradients are put side by side.
  bool is_split(NodeId id) {
    if (users_.empty()) {
      users_.resize(g_.size());
      for (NodeId u = 0; u < g_.size(); ++u) {
        for (ValueId v : g_.node(u).operands) {
          if (v) users_[v.node].push_back(u);
        }
      }
    }
    return !users_[id].empty() && std::ranges::all_of(users_[id], [&](NodeId u) {
      const Node& n = g_.node(u);
      return n.operands[0].node == id && (is_part(n) || is_select(g_, n));
    });
  }

  std::span<const constants::OptimizerPass> optimizer_passes() const {
    switch (config_.optimizer) {
      case Optimizer::Sgd:
        return constants::kSgdPasses;
      case Optimizer::Momentum:
        return constants::kMomentumPasses;
      case Optimizer::Adam:
        return constants::kAdamPasses;
    }
    return {};
  }

  /// Passes over all weights at once; compilers cast the gradients of 16-bit copies before.
  void optimizer() {
    std::vector<NodeId> weights;
    for (NodeId id = 0; id < g_.size(); ++id) {
      const Node& n = g_.node(id);
      if (n.kind != NodeKind::Constant || !needs_[id] || uses_[id] == 0) continue;
      const double all = elements(n.results[0].type);
      const bool cast = compiled() && config_.precision == Precision::Amp && n.results[0].type.rank() > 1;
      if (cast) stream(id, op("cast"), 6 * all, all);
      if (all > 0) weights.push_back(id);
    }
    plan_.host_calls.add(HostCall::Inner, static_cast<double>(weights.size()));  // Python's loops over the parameters
    for (const constants::OptimizerPass& pass : optimizer_passes()) multi_tensor(weights, pass);
  }

  /// torch.optim's multi-tensor kernels: a block takes a chunk of a tensor, a launch so many tensors and chunks
  /// (aten/src/ATen/native/cuda/MultiTensorApply.cuh).
  void multi_tensor(const std::vector<NodeId>& weights, const constants::OptimizerPass& pass) {
    double tensors = 0, chunks = 0, all = 0, largest = 0;
    const auto flush = [&](NodeId id) {
      const double width = float_bytes(config_.precision);
      Kernel k = streams(id, op("add"), pass.moved * width * all, all);
      k.half = width < 4;
      k.limits.blocks = all / largest;
      launch(std::move(k));
      chunks = all = largest = 0;
    };
    for (const NodeId id : weights) {
      ++tensors;
      for (double left = elements(g_.node(id).results[0].type); left > 0; left -= constants::kChunk) {
        const double chunk = std::min(left, constants::kChunk);
        ++chunks;
        all += chunk;
        largest = std::max(largest, chunk);
        const bool last = left <= constants::kChunk;
        if (chunks < constants::kMostChunks && !(last && tensors >= pass.tensors)) continue;
        flush(id);
        tensors = last ? 0 : 1;
      }
    }
    if (chunks > 0) flush(weights.back());
  }

  const Graph& g_;
  const ExecConfig& config_;
  KernelPlan& plan_;
  std::vector<bool> needs_;
  std::vector<std::uint32_t> uses_;  ///< by calls that need a gradient
  std::vector<std::vector<NodeId>> users_;
  double width_;
  bool channels_last_;  ///< its convolutions
};

}  // namespace

void add_training_step(const Graph& g, const ExecConfig& config, KernelPlan& plan) { Backward(g, config, plan).run(); }

}  // namespace perfc
