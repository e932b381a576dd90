#include "whitebox/launch/training_step.h"

#include <algorithm>
#include <cmath>

#include "whitebox/memory/autograd.h"
#include "whitebox/launch/data_layout.h"
#include "whitebox/launch/framework.h"

namespace perfc {
namespace {


class Backward {
 public:
  Backward(const Graph& g, const ExecConfig& config, KernelPlan& plan)
      : g_(g), config_(config), plan_(plan), needs_(needs_gradient(g)), uses_(g.size(), 0),
        width_(config.precision == Precision::Amp ? 2.0 : float_bytes(config.precision)) {
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
    slow_down(forward);
  }

 private:
  /// What the roofline of inference kernels leaves over in a training step, by kind of the
  /// operator: studies/fit_training.py fits it on timm's runs (RTX 3090, AMP, PyTorch 1.12).
  struct Slowdown {
    double forward, convolution, depthwise, product, attention, batch_norm, normalization, other, optimizer;
  };
  static constexpr Slowdown kChannelsFirst{1.70, 0.71, 1.41, 0.61, 1.00, 1.27, 0.86, 1.35, 1.27};
  static constexpr Slowdown kChannelsLast{1.57, 0.51, 1.01, 0.83, 1.00, 1.34, 1.21, 1.04, 1.29};

  void slow_down(std::size_t forward) {
    const Slowdown& s = config_.layout == Layout::Nhwc ? kChannelsLast : kChannelsFirst;
    for (std::size_t i = 0; i < plan_.kernels.size(); ++i) {
      Kernel& k = plan_.kernels[i];
      const Node& n = g_.node(k.node);
      k.traffic.handed_bytes = 0;  // what the forward pass makes is kept until the other reads it
      if (k.ops.front() == op("nn.batch_norm") && config_.layout == Layout::Nchw && n.operands.size() > 1) k.limits.blocks = elements(g_.type(n.operands[1]));
      if (i < forward) {
        k.limits.slowdown = s.forward;
        // Statistics of the batch: one more pass over it.
        if (n.is(op("nn.batch_norm")) && k.ops.front() == n.op) k.traffic.bytes *= 3.0 / 2.0;
      } else if (n.kind == NodeKind::Constant) {
        k.limits.slowdown = s.optimizer;
      } else {
        const Category c = def(k.ops.front()).category;
        k.limits.slowdown = k.kind == KernelKind::Depthwise         ? s.depthwise
                     : c == Category::Convolution            ? s.convolution
                     : c == Category::MatMul                 ? s.product
                     : c == Category::Attention              ? s.attention
                     : k.ops.front() == op("nn.batch_norm")  ? s.batch_norm
                     : c == Category::Normalization          ? s.normalization
                                                             : s.other;
      }
    }
  }

  /// Channels last, cuDNN 8 has gradients of grouped convolutions for groups of 4, 8, 16 and 32 channels
  /// and multiples of 32 groups; others run on the vector units: timm's regnet, nfnet, repvgg and resnest.
  bool falls_back(const Kernel& k) const {
    if (config_.layout != Layout::Nhwc || k.extents.channels_per_group <= 1 || k.extents.channels_per_group == kUngrouped) return false;
    return std::fmod(k.extents.products, 32) != 0 || !has_own_kernel(k.extents.channels_per_group) || k.extents.channels_per_group > 32;
  }

  void launch(Kernel k, double calls = 1) {
    plan_.host_ops += calls * k.repeat;
    plan_.kernels.push_back(std::move(k));
  }
  /// A kernel that streams memory.
  void stream(NodeId node, OpId what, double bytes, double flops, double repeat = 1) {
    Kernel k;
    k.node = node;
    k.traffic.bytes = bytes;
    k.work.flops = flops;
    k.repeat = repeat;
    k.half = width_ < 4;
    k.extents = {.m = flops, .n = 1, .k = 1};
    k.ops = {what};
    launch(std::move(k));
  }

  bool needed(const Node& n, std::size_t i) const { return i < n.operands.size() && n.operands[i] && needs_[n.operands[i].node]; }

  void gradient_of(const Kernel& k) {
    const Node& n = g_.node(k.node);
    const Category c = def(k.ops.front()).category;
    if (k.work.macs > 0 && uses_matrix_unit(k.ops.front())) {
      products(k, n, c);
      return;
    }
    Kernel b = k;
    b.limits.serial_steps = 0;
    if (!n.is(k.ops.front())) {  // part of a composite: a body's, or of written-out attention
      if (c != Category::Normalization && k.ops.front() != op("cast")) b.traffic.bytes *= 3.0 / 2.0;
      launch(std::move(b));
      return;
    }
    switch (c) {
      case Category::Normalization:  // x and dy are read twice: for the sums, then for dx
        b.traffic.bytes *= 5.0 / 2.0;
        b.work.flops *= 2;
        break;
      case Category::Reduction:
      case Category::Pooling: break;
      case Category::Elementwise:
        if (k.ops.front() == op("add") || k.ops.front() == op("subtract") || k.ops.front() == op("nn.bias_add")) {
          broadcast_sum(k, n);
          return;
        }
        if (k.ops.front() == op("multiply") || k.ops.front() == op("divide")) {
          for (std::size_t i = 0; i < n.operands.size(); ++i) {
            if (needed(n, i)) launch(k);
          }
          broadcast_sum(k, n);
          return;
        }
        if (k.ops.front() != op("cast")) b.traffic.bytes *= 3.0 / 2.0;
        break;
      case Category::Activation:
      case Category::Softmax: b.traffic.bytes *= 3.0 / 2.0; break;
      default: break;
    }
    launch(std::move(b));
  }

  /// The gradient of an operand that was broadcast is a sum.
  void broadcast_sum(const Kernel& k, const Node& n) {
    for (std::size_t i = 0; i < n.operands.size(); ++i) {
      if (!needed(n, i)) continue;
      const double own = elements(g_.type(n.operands[i])), all = elements(n.results[0].type);
      if (own < all) stream(k.node, op("sum_axes"), (own + all) * width_, all, k.repeat);
    }
  }

  /// One product for each operand's gradient. With m × k by k × n forwards, the data's
  /// is m × n by n × k and the weight's k × m by m × n.
  void products(const Kernel& k, const Node& n, Category c) {
    const bool both = !n.is(k.ops.front()) || (c != Category::Convolution && c != Category::MatMul);
    if (both || needed(n, 0)) {
      Kernel data = k;
      std::swap(data.extents.n, data.extents.k);
      limit(data);
      launch(std::move(data));
    }
    if (both || needed(n, 1)) {
      Kernel weight = k;
      weight.traffic.steps = 1;  // one product over all steps of a recurrence
      weight.extents.m = k.extents.k;
      weight.extents.k = k.extents.m;
      limit(weight);
      launch(std::move(weight));
    }
  }

  /// A convolution's gradient that has no kernel on the matrix units.
  void limit(Kernel& k) const {
    constexpr double kOfOneChannel = 0.0095;  // of the vector units' peak; wider groups use more of what they load
    if (!falls_back(k)) return;
    k.kind = KernelKind::Depthwise;
    k.limits.vector_share = kOfOneChannel * std::sqrt(k.extents.channels_per_group);
  }

  /// Gradients of what launched nothing forwards: sums over several users, slices and
  /// splits (which write the whole), biases in a product's epilogue.
  void without_forward_kernel(NodeId id) {
    const Node& n = g_.node(id);
    if (n.kind != NodeKind::Call || !needs_[id] || n.results.empty()) return;
    const double all = elements(n.results[0].type);
    for (std::uint32_t i = 1; i < uses_[id] && !is_split(id); ++i) stream(id, op("add"), 3 * all * width_, all);
    if (is_epilogue(g_, n) && needed(n, 1)) stream(id, op("sum_axes"), all * width_, all);
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

  /// One multi-tensor pass per state, and the half copies' gradients cast to float32.
  void optimizer() {
    const double per_element = config_.optimizer == Optimizer::Sgd ? 3 : config_.optimizer == Optimizer::Momentum ? 7 : 11;
    const double calls = config_.optimizer == Optimizer::Sgd ? 1 : config_.optimizer == Optimizer::Momentum ? 3 : 6;
    const double weight_width = float_bytes(config_.precision);
    for (NodeId id = 0; id < g_.size(); ++id) {
      const Node& n = g_.node(id);
      if (n.kind != NodeKind::Constant || !needs_[id] || uses_[id] == 0) continue;
      const double all = elements(n.results[0].type);
      if (config_.precision == Precision::Amp && n.results[0].type.rank() > 1) stream(id, op("cast"), 6 * all, all);
      stream(id, op("add"), per_element * weight_width * all / calls, all, calls);
    }
  }

  const Graph& g_;
  const ExecConfig& config_;
  KernelPlan& plan_;
  std::vector<bool> needs_;
  std::vector<std::uint32_t> uses_;       ///< by calls that need a gradient
  std::vector<std::vector<NodeId>> users_;
  double width_;
};

}  // namespace

void add_training_step(const Graph& g, const ExecConfig& config, KernelPlan& plan) { Backward(g, config, plan).run(); }

}  // namespace perfc
