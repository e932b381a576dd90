#include "whitebox/memory/memory.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>

#include "ir/layout.h"
#include "whitebox/constants.h"
#include "whitebox/launch/data_layout.h"
#include "whitebox/launch/eight_bits.h"
#include "whitebox/launch/framework.h"
#include "whitebox/launch/kernels.h"
#include "whitebox/memory/autograd.h"
#include "whitebox/memory/caching_allocator.h"

namespace perfc {
namespace {

using Block = CachingAllocator::Block;

double tensor_bytes(const Type& t, double float_width) {
  if (t.kind() == TypeKind::Sequence || t.kind() == TypeKind::Optional) return tensor_bytes(t.element(), float_width);
  if (!t.is_static() || !t.is_tensor()) return 0;
  const double own = bits(t.dtype()) / 8.0;
  return static_cast<double>(*t.elements()) * (t.dtype() == DType::Float32 ? std::min(own, float_width) : own);
}

/// A shape, an axis, a scalar: it stays on the host.
bool on_host(const Node& n) {
  const Type& t = n.results[0].type;
  return t.is_tensor() && t.is_static() &&
         (t.rank() == 0 || (!is_float(t.dtype()) && t.rank() == 1 && *t.elements() <= 16));
}

/// The node whose memory each node's results live in.
std::vector<NodeId> owners(const Graph& g, const ExecConfig& config) {
  const DataLayout layout = data_layout(g, config, g.weight_only());
  std::vector<NodeId> owner(g.size());
  for (NodeId id = 0; id < g.size(); ++id) {
    const Node& n = g.node(id);
    owner[id] = id;
    if (n.kind != NodeKind::Call || n.operands.empty() || !n.operands[0] || !n.regions.empty()) continue;
    const bool view = is_strided_view(g, n) || (is_view(n) && !layout.copied[id]);
    if (view || n.is(op("nn.bias_add")) || writes_in_place(n) || part_written_in_place(n))
      owner[id] = owner[n.operands[0].node];
  }
  return owner;
}

/// One graph's life on a GPU.
class Run {
 public:
  Run(const Graph& g, const ExecConfig& config)
      : g_(g), config_(config), width_(config.precision == Precision::Amp ? 2.0 : float_bytes(config.precision)),
        weight_width_(float_bytes(config.precision)), keeps_(config.task != Task::Infer), owner_(owners(g, config)),
        needs_(keeps_ ? needs_gradient(g) : std::vector<bool>(g.size(), false)), last_use_(g.size(), 0),
        first_keeper_(g.size(), kNobody), blocks_(g.size()), extra_(g.size()), kept_(g.size()),
        eight_(eight_bits(g, config.precision)) {
    for (NodeId id = 0; id < g.size(); ++id) {
      last_use_[owner_[id]] = std::max(last_use_[owner_[id]], id);
      for (ValueId v : g.node(id).operands) {
        if (v) last_use_[owner_[v.node]] = std::max(last_use_[owner_[v.node]], id);
      }
    }
    for (ValueId v : g.results()) last_use_[owner_[v.node]] = static_cast<NodeId>(g.size());
    if (keeps_) find_keepers();
  }

  MemoryNeeds simulate() {
    load();
    for (int step = 0; step < kSteps; ++step) {
      std::vector<Block> before = std::move(results_);  // the caller holds the last results while the next are made
      results_.clear();
      forward();
      if (config_.task == Task::Train) {
        backward();
        update(step == 0);
      }
      for (Block b : before) heap_.free(b);
      finish();
    }
    out_.reserved = heap_.reserved();
    out_.allocated = heap_.peak_allocated();
    return out_;
  }

 private:
  static constexpr int kSteps = 2;
  static constexpr NodeId kNobody = 0xffffffffu;
  enum class Pass { Forward, WeightGradient, DataGradient };

  double bytes(ValueId v) const { return tensor_bytes(g_.type(v), width_); }

  void find_keepers() {
    for (NodeId id = 0; id < g_.size(); ++id) {
      kept_[id] = kept_for_backward(g_, id, needs_, width_);
      const Node& n = g_.node(id);
      const auto keep = [&](NodeId node) {
        if (first_keeper_[owner_[node]] == kNobody) first_keeper_[owner_[node]] = id;
      };
      for (std::size_t i = 0; i < n.operands.size() && i < 64; ++i) {
        if (n.operands[i] && (kept_[id].operands >> i & 1)) keep(n.operands[i].node);
      }
      if (kept_[id].result) keep(id);
    }
  }

  /// Weights, once; under AMP their half copies live as long as a step.
  void load() {
    for (NodeId id = 0; id < g_.size(); ++id) {
      const Node& n = g_.node(id);
      if (n.kind != NodeKind::Constant || on_host(n)) continue;
      const double size = tensor_bytes(n.results[0].type, eight_.weight[id] ? 1 : weight_width_);
      out_.weights += size;
      heap_.allocate(size);
    }
    for (const Graph* body : with_bodies(g_)) {
      if (body == &g_) continue;
      const double size = weight_bytes(*body, weight_width_);
      out_.weights += size;
      if (size > 0) heap_.allocate(size);
    }
  }

  void release(NodeId storage) {
    for (Block b : blocks_[storage]) heap_.free(b);
    blocks_[storage].clear();
  }

  /// Taken and given back while a node runs.
  void pass_by(double size) {
    if (size > 0) heap_.free(heap_.allocate(size));
  }

  void forward() {
    std::vector<std::vector<NodeId>> dies(g_.size() + 1);
    for (NodeId id = 0; id < g_.size(); ++id) {
      if (owner_[id] == id && g_.node(id).kind != NodeKind::Constant && first_keeper_[id] == kNobody)
        dies[last_use_[id]].push_back(id);
    }
    for (NodeId id = 0; id < g_.size(); ++id) {
      const Node& n = g_.node(id);
      if (n.kind == NodeKind::Constant) {
        if (config_.precision == Precision::Amp && is_float(n.results[0].type.dtype()) &&
            n.results[0].type.is_static() && n.results[0].type.rank() > 1) {
          copies_.push_back(heap_.allocate(tensor_bytes(n.results[0].type, 2)));
        }
        continue;
      }
      std::vector<Block> scores = attend(id);
      if (owner_[id] == id) {
        for (const ResultInfo& r : n.results) {
          if (const double size = tensor_bytes(r.type, width_); size > 0) blocks_[id].push_back(heap_.allocate(size));
        }
      }
      if (n.kind == NodeKind::Call) compute(id);
      for (Block b : scores) heap_.free(b);
      for (NodeId dead : dies[id]) release(dead);
    }
  }

  /// Written-out attention: dense copies of its operands, then the scores twice, before
  /// and after the softmax; what is still there when the result is made.
  std::vector<Block> attend(NodeId id) {
    const auto attention =
        config_.mode == ExecMode::Eager ? written_out_attention(g_, id, {.half = width_ == 2}) : std::nullopt;
    if (!attention) return {};
    const auto& operands = g_.node(id).operands;
    std::vector<Block> copies;
    for (int i = 0; i < 2; ++i) copies.push_back(heap_.allocate(bytes(operands[i])));
    const double size = attention->scores * width_;
    const Block before = heap_.allocate(size);
    for (Block b : copies) heap_.free(b);
    return {before, heap_.allocate(size), heap_.allocate(bytes(operands[2]))};
  }

  void compute(NodeId id) {
    const Node& n = g_.node(id);
    const Category c = def(n.op).category;
    if (c == Category::MatMul && !product_workspace_) product_workspace_ = heap_.allocate(constants::kProductWorkspace);
    if (c == Category::Convolution) search(id, Pass::Forward);
    if (c == Category::Convolution) pass_by(winograd_workspace(id, constants::kForwardTiles));
    for (std::size_t i = 0; i < n.operands.size(); ++i) pass_by(dense_copy(id, i));
    double inside = 0;
    for (const GraphRef& body : n.regions)
      inside = std::max(inside, Run(*body, {.precision = config_.precision, .mode = config_.mode}).activations());
    pass_by(inside);
    if (config_.mode == ExecMode::Eager && kept_[id].extra_bytes == 0) pass_by(pooled_index_bytes(n));
    if (config_.mode == ExecMode::Eager && def(n.op).before[0]) pass_by(bytes({id, 0}));
    if (kept_[id].extra_bytes > 0) extra_[id] = heap_.allocate(kept_[id].extra_bytes);
  }

  /// Of a body: what it needs beside its weights.
  double activations() {
    forward();
    return heap_.peak_allocated();
  }

  /// Of a product's operand, broadcast.
  double dense_copy(NodeId id, std::size_t operand) const { return broadcast_copy(g_, g_.node(id), operand) * width_; }

  /// Of a planar convolution in one group, its window if it is square; else 0.
  std::int64_t window(NodeId id) const {
    const Node& n = g_.node(id);
    if (n.operands.size() < 2 || !n.operands[0] || !n.operands[1] || n.attrs.int_or("groups", 1) > 1) return 0;
    const Type& weight = g_.type(n.operands[1]);
    const auto axes = kernel_axes(g_, n);
    if (!axes || !weight.is_static() || axes->spatial.size() != 2) return 0;
    const std::int64_t height = weight.shape()[axes->spatial[0]].value();
    return height == weight.shape()[axes->spatial[1]].value() ? height : 0;
  }

  double workspace(double size) {
    out_.workspace = std::max(out_.workspace, size);
    return size;
  }

  /// Winograd's algorithm in three kernels holds its operand and result as
  /// transformed tiles (Lavin and Gray, CVPR 2016), `tiles` times what they were. What strided
  /// 3×3 convolutions take is about as much; other windows run without.
  double winograd_workspace(NodeId id, double tiles) {
    if (window(id) != constants::kWinogradWindow) return 0;
    return workspace(tiles * (bytes(g_.node(id).operands[0]) + bytes({id, 0})));
  }

  /// Of a convolution's gradients. Those of larger windows multiply the lowered operand: every window a row
  /// (Chellapilla, Puri and Simard 2006).
  double gradient_workspace(NodeId id) {
    if (window(id) <= constants::kWinogradWindow) return winograd_workspace(id, constants::kGradientTiles);
    const Node& n = g_.node(id);
    const bool transposed = is_transposed_convolution(n.op);
    const Type &weight = g_.type(n.operands[1]), &windows = transposed ? g_.type(n.operands[0]) : n.results[0].type;
    if (!windows.is_static() || *weight.elements() == 0) return 0;
    const auto axes = kernel_axes(g_, n);
    const auto channels = static_cast<double>(weight.shape()[transposed ? axes->channel : axes->outer].value());
    return workspace(static_cast<double>(*windows.elements()) / channels * static_cast<double>(*weight.elements()) /
                     channels * width_);
  }

  /// Notes a search, once for each shape and pass.
  void search(NodeId id, Pass pass) {
    if (!config_.cudnn_benchmark || width_ != 4) return;
    auto found = search_of(g_, id);
    if (!found || !searched_.insert({pass, found->shape}).second) return;
    found->allocated = heap_.allocated();
    out_.searches.push_back(*found);
  }

  /// Gradients may share memory: a block and how many nodes' gradients lie in it.
  struct Gradient {
    Block block = 0;
    std::uint32_t holders = 0;
  };
  std::uint32_t new_gradient(double size) {
    gradients_.push_back({heap_.allocate(size), 1});
    return static_cast<std::uint32_t>(gradients_.size() - 1);
  }
  void drop(std::uint32_t gradient) {
    if (--gradients_[gradient].holders == 0) heap_.free(gradients_[gradient].block);
  }

  void backward() {
    gradients_.clear();
    std::vector<std::uint32_t> gradient(g_.size(), kNobody);
    for (ValueId v : g_.results()) {
      if (needs_[v.node] && gradient[v.node] == kNobody) gradient[v.node] = new_gradient(bytes(v));
    }
    for (NodeId id = static_cast<NodeId>(g_.size()); id-- > 0;) {
      const Node& n = g_.node(id);
      if (n.kind != NodeKind::Call || !needs_[id]) continue;
      if (gradient[id] != kNobody) {
        if (def(n.op).category == Category::Convolution) {
          search(id, Pass::WeightGradient);
          if (n.operands[0] && needs_[n.operands[0].node]) search(id, Pass::DataGradient);
          pass_by(gradient_workspace(id));
        }
        if (kept_[id].extra_bytes > 0 &&
            written_out_attention(g_, id, {.half = width_ == 2})) {  // of the scores, before and after the softmax
          const Block scores = heap_.allocate(kept_[id].extra_bytes);
          pass_by(kept_[id].extra_bytes);
          heap_.free(scores);
        }
        for (std::size_t i = 0; i < n.operands.size(); ++i) {
          const ValueId v = n.operands[i];
          if (!v || !needs_[v.node]) continue;
          const bool shares = passes_gradient(g_, id, i);
          if (g_.node(v).kind == NodeKind::Constant) {
            add_weight_gradient(v.node);
            continue;
          }
          const std::optional<Block> broadcast =
              dense_copy(id, i) > 0 ? std::optional(heap_.allocate(dense_copy(id, i))) : std::nullopt;
          std::uint32_t mine = shares ? gradient[id] : new_gradient(bytes(v));
          if (broadcast) heap_.free(*broadcast);
          if (shares) ++gradients_[mine].holders;
          std::uint32_t& sum = gradient[v.node];
          if (sum != kNobody) {
            if (gradients_[sum].holders > 1) {  // somebody else reads it: the sum is a new tensor
              const std::uint32_t fresh = new_gradient(bytes(v));
              drop(sum);
              sum = fresh;
            }
            drop(mine);
          } else {
            sum = mine;
          }
        }
        drop(gradient[id]);
        gradient[id] = kNobody;
      }
      if (extra_[id]) heap_.free(*extra_[id]);
      extra_[id].reset();
      forget(id);
    }
    for (std::uint32_t rest : gradient) {
      if (rest != kNobody) drop(rest);
    }
  }

  /// Frees what no earlier node keeps.
  void forget(NodeId id) {
    const auto unless_kept = [&](NodeId node) {
      const NodeId storage = owner_[node];
      if (first_keeper_[storage] == id && last_use_[storage] < g_.size()) release(storage);
    };
    for (ValueId v : g_.node(id).operands) {
      if (v) unless_kept(v.node);
    }
    unless_kept(id);
  }

  void add_weight_gradient(NodeId weight) {
    weight_gradients_.resize(g_.size());
    if (weight_gradients_[weight]) return;
    const double size = tensor_bytes(g_.node(weight).results[0].type, weight_width_);
    weight_gradients_[weight] = heap_.allocate(size);
    out_.gradients = std::max(out_.gradients, held_gradients_ += size);
  }

  /// The optimizer's step: state on the first, temporaries on each.
  void update(bool first) {
    const OptimizerMemory m = optimizer_memory(config_.optimizer);
    std::vector<Block> passing;
    double state = 0, temporary = 0;
    for (NodeId id = 0; id < weight_gradients_.size(); ++id) {
      if (!weight_gradients_[id]) continue;
      const double size = tensor_bytes(g_.node(id).results[0].type, weight_width_);
      for (int i = 0; first && i < m.states; ++i) heap_.allocate(size);
      for (int i = 0; i < m.temporaries; ++i) passing.push_back(heap_.allocate(size));
      state += m.states * size;
      temporary += m.temporaries * size;
    }
    for (Block b : passing) heap_.free(b);
    out_.optimizer = state + temporary;
    for (auto& b : weight_gradients_) {  // zero_grad(set_to_none=True)
      if (b) heap_.free(*b);
      b.reset();
    }
    held_gradients_ = 0;
  }

  /// After a step: what is left of the forward pass goes, results excepted.
  void finish() {
    for (NodeId id = 0; id < g_.size(); ++id) {
      if (extra_[id]) heap_.free(*extra_[id]);
      extra_[id].reset();
      if (g_.node(id).kind == NodeKind::Constant) continue;
      if (last_use_[id] == g_.size()) {
        results_.insert(results_.end(), blocks_[id].begin(), blocks_[id].end());
        blocks_[id].clear();
      }
      release(id);
    }
    for (Block b : copies_) heap_.free(b);
    copies_.clear();
  }

  const Graph& g_;
  const ExecConfig& config_;
  double width_, weight_width_;  ///< bytes that a float32 activation, weight takes
  bool keeps_;
  std::vector<NodeId> owner_;
  std::vector<bool> needs_;
  std::vector<NodeId> last_use_;      ///< of a storage, in the forward pass
  std::vector<NodeId> first_keeper_;  ///< of a storage: its last user in the backward pass
  std::vector<std::vector<Block>> blocks_;
  std::vector<std::optional<Block>> extra_;
  std::vector<Kept> kept_;
  EightBits eight_;
  std::set<std::pair<Pass, std::array<std::int64_t, 9>>> searched_;
  std::vector<Block> copies_, results_;
  std::vector<Gradient> gradients_;
  std::vector<std::optional<Block>> weight_gradients_;
  double held_gradients_ = 0;
  std::optional<Block> product_workspace_;
  CachingAllocator heap_;
  MemoryNeeds out_;
};

}  // namespace

double weight_bytes(const Graph& graph, double float_width) {
  double total = 0;
  for (const Graph* g : with_bodies(graph)) {
    for (const Node& n : g->nodes()) {
      if (n.kind == NodeKind::Constant) total += tensor_bytes(n.results[0].type, float_width);
    }
  }
  return total;
}

MemoryNeeds memory_needs(const Graph& g, const ExecConfig& config) { return Run(g, config).simulate(); }

}  // namespace perfc
