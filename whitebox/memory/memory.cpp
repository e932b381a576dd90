#include "whitebox/memory/memory.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>

#include "whitebox/constants/memory.h"
#include "whitebox/launch/data_layout.h"
#include "whitebox/launch/eight_bits.h"
#include "whitebox/launch/framework.h"
#include "whitebox/launch/inside_values.h"
#include "whitebox/launch/kernels.h"
#include "whitebox/launch/value_strides.h"
#include "whitebox/launch/widths.h"
#include "whitebox/memory/autograd.h"
#include "whitebox/memory/caching_allocator.h"
#include "whitebox/memory/memory_course.h"
#include "whitebox/memory/module_calls.h"

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
std::vector<NodeId> owners(const Graph& g, const DataLayout& layout) {
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
  Run(const Graph& g, const ExecConfig& config, ConvolutionWorkspace convolutions)
      : g_(g), config_(config), convolutions_(convolutions), weight_(g.weight_only()), widths_(g, config),
        layout_(data_layout(g, config, weight_, widths_.cast_operands())), weight_width_(float_bytes(config.precision)),
        keeps_(config.task != Task::Infer), owner_(owners(g, layout_)),
        needs_(keeps_ ? needs_gradient(g) : std::vector<bool>(g.size(), false)), in_kernel_(g.size(), true),
        last_use_(g.size(), 0), first_keeper_(g.size(), kNobody), blocks_(g.size()), extra_(g.size()), kept_(g.size()),
        kept_copies_(g.size(), 0), eight_(eight_bits(g, config)) {
    for (NodeId id = 0; id < g.size(); ++id) {
      last_use_[owner_[id]] = std::max(last_use_[owner_[id]], id);
      for (ValueId v : g.node(id).operands) {
        if (v) last_use_[owner_[v.node]] = std::max(last_use_[owner_[v.node]], id);
      }
    }
    if (config.mode == ExecMode::Eager && def(config.runtime).autocast) {
      const std::vector<NodeId> held = held_by_modules(g, weight_);
      for (NodeId id = 0; id < g.size(); ++id) last_use_[owner_[id]] = std::max(last_use_[owner_[id]], held[id]);
    }
    for (ValueId v : g.results()) last_use_[owner_[v.node]] = static_cast<NodeId>(g.size());
    keep_what_kernels_read();
    if (keeps_) find_keepers();
    find_half_weights();
  }

  /// The same that has not run, with other workspaces.
  Run with(ConvolutionWorkspace convolutions) const {
    Run other = *this;
    other.convolutions_ = convolutions;
    return other;
  }

  /// `log`: where to write down what it does, or null.
  MemoryNeeds simulate(MemoryLog* log = nullptr) {
    log_ = log;
    if (log) heap_.log_to(&log->allocations);
    load();
    bring_in_inputs();
    for (int step = 0; step < kSteps; ++step) {
      if (log) log->begin_run();
      std::vector<Block> before = std::move(results_);  // the caller holds the last results while the next are made
      results_.clear();
      forward();
      if (config_.task == Task::Train) {
        backward();
        update(step == 0);
        ended(kNobody, MemoryPhase::Update);
      }
      for (Block b : before) heap_.free(b);
      finish();
    }
    out_.convolves = calls(Category::Convolution);
    out_.multiplies = calls(Category::MatMul);
    out_.reserved = heap_.reserved();
    out_.allocated = heap_.peak_allocated();
    return out_;
  }

 private:
  static constexpr int kSteps = 2;
  static constexpr NodeId kNobody = 0xffffffffu;
  enum class Pass { Forward, WeightGradient, DataGradient };

  /// Bytes of a float32 value of this node: 2 where it is kept in 16 bits.
  double width(NodeId id) const { return widths_.is_half(id) ? 2 : 4; }
  double bytes(ValueId v) const { return tensor_bytes(g_.type(v), width(v.node)); }
  /// Of an operand as a call reads it, behind autocast's cast.
  double read_bytes(NodeId user, std::size_t operand) const {
    const ValueId v = g_.node(user).operands[operand];
    return tensor_bytes(g_.type(v), widths_.read_width(v, g_.node(user)));
  }

  /// Whether autocast casts an operand for this call: anew each time, but for parameters, whose 16-bit copies it keeps
  /// unless in `torch.inference_mode` (aten/src/ATen/autocast_mode.cpp, cached_cast; pytorch/pytorch #158232).
  bool is_cast(NodeId user, std::size_t operand) const {
    const ValueId v = g_.node(user).operands[operand];
    return config_.precision == Precision::Amp && config_.mode == ExecMode::Eager && v &&
           !(keeps_ && weight_[v.node]) && read_bytes(user, operand) != bytes(v);
  }

  /// Whether a call reads a dense copy of an operand that does not lie as its kernel wants it.
  bool is_copied(NodeId user, std::size_t operand) const {
    const Node& n = g_.node(user);
    if (config_.mode != ExecMode::Eager || !n.operands[operand] || broadcast_copy(g_, n, operand) > 0) return false;
    if (operand == 0 && copies_data(g_, user, layout_, weight_)) return true;
    const auto product = operand < 2 ? product_operands(g_, user, layout_.strides, layout_.cast) : std::nullopt;
    return product && product->copies[operand];
  }

  /// Whether an operator of this category is called, in bodies too.
  bool calls(Category category) const {
    return std::ranges::any_of(with_bodies(g_), [&](const Graph* g) {
      return std::ranges::any_of(
          g->nodes(), [&](const Node& n) { return n.kind == NodeKind::Call && def(n.op).category == category; });
    });
  }

  /// Values that stay in a kernel have no memory; what they were made of is read when it runs.
  void keep_what_kernels_read() {
    const std::vector<bool> inside = stays_in_kernel(g_);
    for (NodeId id = static_cast<NodeId>(g_.size()); id-- > 0;) {
      if (!inside[id]) {
        in_kernel_[owner_[id]] = false;
        continue;
      }
      for (const ValueId v : g_.node(id).operands) {
        if (v) last_use_[owner_[v.node]] = std::max(last_use_[owner_[v.node]], last_use_[owner_[id]]);
      }
    }
  }

  void find_keepers() {
    for (NodeId id = 0; id < g_.size(); ++id) {
      kept_[id] = kept_for_backward(g_, id, needs_, width(id));
      const Node& n = g_.node(id);
      const auto keep = [&](NodeId node) {
        if (first_keeper_[owner_[node]] == kNobody) first_keeper_[owner_[node]] = id;
      };
      for (std::size_t i = 0; i < n.operands.size() && i < 64; ++i) {
        if (!n.operands[i] || !(kept_[id].operands >> i & 1)) continue;
        // A product keeps what it multiplied; other kernels copy within, and keep what they were given.
        const bool own = is_cast(id, i) || (def(n.op).category == Category::MatMul && is_copied(id, i));
        if (own) kept_copies_[id] |= std::uint64_t{1} << i;
        else keep(n.operands[i].node);
      }
      if (kept_[id].result) keep(id);
    }
  }

  void find_half_weights() {
    half_weights_.assign(g_.size(), false);
    if (config_.precision != Precision::Amp || !keeps_) return;
    for (const Node& n : g_.nodes()) {
      for (ValueId v : n.operands) {
        if (v && g_.node(v).kind == NodeKind::Constant && g_.type(v).is_tensor() && is_float(g_.type(v).dtype()))
          half_weights_[v.node] = half_weights_[v.node] || widths_.read_width(v, n) < width(v.node);
      }
    }
  }

  /// Weights, once; under AMP the 16-bit copies of those that products read live as long as a step.
  void load() {
    for (NodeId id = 0; id < g_.size(); ++id) {
      const Node& n = g_.node(id);
      if (n.kind != NodeKind::Constant || on_host(n)) continue;
      const double size = tensor_bytes(n.results[0].type, eight_.weight[id] ? eight_.weight[id] / 8.0 : weight_width_);
      out_.weights += size;
      began(id);
      heap_.allocate(size);
    }
    began(kNobody);
    for (const Graph* body : with_bodies(g_)) {
      if (body == &g_) continue;
      const double size = weight_bytes(*body, weight_width_);
      out_.weights += size;
      if (size > 0) heap_.allocate(size);
    }
  }

  /// The caller's, run after run.
  void bring_in_inputs() {
    for (NodeId id = 0; id < g_.size(); ++id) {
      if (g_.node(id).kind != NodeKind::Var) continue;
      began(id);
      allocate_results(id);
    }
  }

  void allocate_results(NodeId id) {
    for (const ResultInfo& r : g_.node(id).results) {
      if (const double size = tensor_bytes(r.type, width(id)); size > 0) blocks_[id].push_back(heap_.allocate(size));
    }
  }

  /// Whether a run makes this node's memory.
  bool makes(NodeId id) const { return owner_[id] == id && g_.node(id).kind == NodeKind::Call && !in_kernel_[id]; }

  void release(NodeId storage) {
    for (Block b : blocks_[storage]) heap_.free(b);
    blocks_[storage].clear();
  }

  void release_extra(NodeId id) {
    for (Block b : extra_[id]) heap_.free(b);
    extra_[id].clear();
  }

  /// From here on memory is taken for this node.
  void began(NodeId id) {
    if (log_) log_->allocations.owner = id;
  }
  void ended(NodeId id, MemoryPhase phase) {
    if (log_) log_->moments.push_back({id, phase, log_->allocations.entries.size()});
  }

  /// Taken and given back while a node runs.
  void pass_by(double size) {
    if (size > 0) heap_.free(heap_.allocate(size));
  }

  void forward() {
    std::vector<std::vector<NodeId>> dies(g_.size() + 1);
    for (NodeId id = 0; id < g_.size(); ++id) {
      if (makes(id) && first_keeper_[id] == kNobody) dies[last_use_[id]].push_back(id);
    }
    for (NodeId id = 0; id < g_.size(); ++id) {
      const Node& n = g_.node(id);
      began(id);
      if (n.kind == NodeKind::Constant && half_weights_[id])
        copies_.push_back(heap_.allocate(tensor_bytes(n.results[0].type, 2)));
      if (n.kind != NodeKind::Call) continue;
      const std::vector<Block> copies = copy_operands(id), scores = attend(id);
      if (makes(id)) allocate_results(id);
      compute(id);
      for (Block b : scores) heap_.free(b);
      for (Block b : copies) heap_.free(b);
      for (NodeId dead : dies[id]) release(dead);
      ended(id, MemoryPhase::Forward);
    }
  }

  /// Casts and dense copies of a call's operands: what is there until it returns. What its backward pass needs of them
  /// stays beyond.
  std::vector<Block> copy_operands(NodeId id) {
    const Node& n = g_.node(id);
    std::vector<Block> passing;
    if (n.kind != NodeKind::Call || is_any_view(g_, n)) return passing;
    for (std::size_t i = 0; i < n.operands.size() && i < 64; ++i) {
      if (!n.operands[i]) continue;
      for (const bool made : {is_cast(id, i), is_copied(id, i)}) {
        if (made) passing.push_back(heap_.allocate(read_bytes(id, i)));
      }
      if (passing.empty() || !(kept_copies_[id] >> i & 1)) continue;
      extra_[id].push_back(passing.back());
      passing.pop_back();
    }
    return passing;
  }

  /// Written-out attention: dense copies of its operands, then the scores twice, before
  /// and after the softmax; what is still there when the result is made.
  std::vector<Block> attend(NodeId id) {
    const auto attention =
        config_.mode == ExecMode::Eager ? written_out_attention(g_, id, {.half = width(id) == 2}) : std::nullopt;
    if (!attention) return {};
    const std::array<Block, 2> copies{heap_.allocate(read_bytes(id, 0)), heap_.allocate(read_bytes(id, 1))};
    const double size = attention->scores * width(id);
    const Block before = heap_.allocate(size);
    for (Block b : copies) heap_.free(b);
    return {before, heap_.allocate(size), heap_.allocate(read_bytes(id, 2))};
  }

  void compute(NodeId id) {
    const Node& n = g_.node(id);
    const Category c = def(n.op).category;
    if (c == Category::MatMul && !product_workspace_) product_workspace_ = heap_.allocate(constants::kProductWorkspace);
    if (c == Category::Convolution) search(id, Pass::Forward);
    if (c == Category::Convolution) work(id, convolution_workspace);
    for (std::size_t i = 0; i < n.operands.size(); ++i) pass_by(dense_copy(id, i));
    double inside = 0;
    for (const GraphRef& body : n.regions)
      inside = std::max(
          inside, Run(*body, {.precision = config_.precision, .mode = config_.mode}, convolutions_).activations());
    pass_by(inside);
    if (config_.mode == ExecMode::Eager && kept_[id].extra_bytes == 0) pass_by(unasked_bytes(n));
    if (config_.mode == ExecMode::Eager && def(n.op).before[0]) pass_by(bytes({id, 0}));
    if (kept_[id].extra_bytes > 0) extra_[id].push_back(heap_.allocate(kept_[id].extra_bytes));
  }

  /// Of a body: what it needs beside its weights.
  double activations() {
    bring_in_inputs();
    forward();
    return heap_.peak_allocated();
  }

  /// Of a product's operand, broadcast.
  double dense_copy(NodeId id, std::size_t operand) const {
    return broadcast_copy(g_, g_.node(id), operand) * width(id);
  }

  using WorkspaceOf = double(const Graph&, NodeId, ConvolutionWorkspace, bool, const ConvolutionBytes&);
  /// Takes a convolution's workspace, or that of its gradients, while it runs.
  void work(NodeId id, WorkspaceOf* of) {
    const Node& n = g_.node(id);
    if (n.operands.size() < 2 || !n.operands[0] || !n.operands[1]) return;
    const ConvolutionBytes bytes{read_bytes(id, 0), read_bytes(id, 1), this->bytes({id, 0}), width(id)};
    const double size = of(g_, id, convolutions_, layout_.channels_last[id], bytes);
    out_.workspace = std::max(out_.workspace, size);
    pass_by(size);
  }

  /// Notes a search, once for each shape and pass.
  void search(NodeId id, Pass pass) {
    if (!config_.cudnn_benchmark || width(id) != 4) return;
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
      began(id);
      if (gradient[id] != kNobody) {
        if (def(n.op).category == Category::Convolution) {
          search(id, Pass::WeightGradient);
          if (n.operands[0] && needs_[n.operands[0].node]) search(id, Pass::DataGradient);
          work(id, gradient_workspace);
        }
        if (kept_[id].extra_bytes > 0 &&
            written_out_attention(g_, id, {.half = width(id) == 2})) {  // of the scores, before and after the softmax
          const Block scores = heap_.allocate(kept_[id].extra_bytes);
          pass_by(kept_[id].extra_bytes);
          heap_.free(scores);
        }
        for (std::size_t i = 0; i < n.operands.size(); ++i) {
          const ValueId v = n.operands[i];
          if (!v || !needs_[v.node]) continue;
          const bool shares = passes_gradient(g_, id, i) && width(v.node) == width(id) && !is_cast(id, i);
          if (g_.node(v).kind == NodeKind::Constant) {
            add_weight_gradient(v.node);
            continue;
          }
          // Of what the call read: summed, or cast, to what the operand is.
          const double read = is_cast(id, i) ? read_bytes(id, i) : dense_copy(id, i);
          const std::optional<Block> before = read > 0 ? std::optional(heap_.allocate(read)) : std::nullopt;
          std::uint32_t mine = shares ? gradient[id] : new_gradient(bytes(v));
          if (before) heap_.free(*before);
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
      release_extra(id);
      forget(id);
      ended(id, MemoryPhase::Backward);
    }
    for (std::uint32_t rest : gradient) {
      if (rest != kNobody) drop(rest);
    }
  }

  /// Frees what no earlier node keeps.
  void forget(NodeId id) {
    const auto unless_kept = [&](NodeId node) {
      const NodeId storage = owner_[node];
      if (makes(storage) && first_keeper_[storage] == id && last_use_[storage] < g_.size()) release(storage);
    };
    for (ValueId v : g_.node(id).operands) {
      if (v) unless_kept(v.node);
    }
    unless_kept(id);
  }

  void add_weight_gradient(NodeId weight) {
    weight_gradients_.resize(g_.size());
    if (half_weights_[weight]) pass_by(tensor_bytes(g_.node(weight).results[0].type, 2));
    if (weight_gradients_[weight]) return;
    const double size = tensor_bytes(g_.node(weight).results[0].type, weight_width_);
    weight_gradients_[weight] = heap_.allocate(size);
    out_.gradients = std::max(out_.gradients, held_gradients_ += size);
  }

  /// The optimizer's step: state on the first, temporaries on each.
  void update(bool first) {
    const OptimizerMemory m = optimizer_memory(config_.optimizer);
    std::vector<Block> passing;
    began(kNobody);
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
      release_extra(id);
      if (!makes(id)) continue;
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
  ConvolutionWorkspace convolutions_;
  std::vector<bool> weight_;  ///< computed from weights alone
  Widths widths_;
  DataLayout layout_;
  double weight_width_;  ///< bytes that a float32 weight takes
  bool keeps_;
  std::vector<NodeId> owner_;
  std::vector<bool> needs_;
  std::vector<bool> in_kernel_;       ///< of a storage: nothing of it leaves a kernel
  std::vector<NodeId> last_use_;      ///< of a storage, in the forward pass
  std::vector<NodeId> first_keeper_;  ///< of a storage: its last user in the backward pass
  std::vector<std::vector<Block>> blocks_;
  std::vector<std::vector<Block>> extra_;  ///< what a call keeps for its backward pass beside values
  std::vector<Kept> kept_;
  std::vector<std::uint64_t> kept_copies_;  ///< bit i: of the i-th operand, the copy that the call made
  std::vector<bool> half_weights_;          ///< constants of which autocast keeps a copy in 16 bits
  EightBits eight_;
  std::set<std::pair<Pass, std::array<std::int64_t, 9>>> searched_;
  std::vector<Block> copies_, results_;
  std::vector<Gradient> gradients_;
  std::vector<std::optional<Block>> weight_gradients_;
  double held_gradients_ = 0;
  std::optional<Block> product_workspace_;
  CachingAllocator heap_;
  MemoryLog* log_ = nullptr;
  MemoryNeeds out_;
};

}  // namespace

double weight_bytes(const Graph& graph, double float_width) {
  double total = 0;
  for (const Graph* g : with_bodies(graph)) {
    const EightBits eight = eight_bits(*g, {});
    for (NodeId id = 0; id < g->size(); ++id) {
      const double width = eight.weight[id] ? eight.weight[id] / 8.0 : float_width;
      if (g->node(id).kind == NodeKind::Constant) total += tensor_bytes(g->node(id).results[0].type, width);
    }
  }
  return total;
}

MemoryNeeds memory_needs(const Graph& g, const ExecConfig& config, ConvolutionWorkspace convolutions) {
  return Run(g, config, convolutions).simulate();
}

std::pair<MemoryNeeds, MemoryNeeds> memory_needs_of_both(const Graph& g, const ExecConfig& config,
                                                         ConvolutionWorkspace first, ConvolutionWorkspace second) {
  const Run run(g, config, first);
  const MemoryNeeds needs = run.with(first).simulate();
  return {needs, needs.convolves ? run.with(second).simulate() : needs};
}

MemoryNeeds memory_needs(const Graph& g, const ExecConfig& config, ConvolutionWorkspace convolutions, MemoryLog& log) {
  return Run(g, config, convolutions).simulate(&log);
}

}  // namespace perfc
