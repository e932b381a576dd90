#include "features/kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <set>

#include "features/data_layout.h"
#include "features/framework.h"
#include "features/fusion.h"
#include "ir/control_flow.h"
#include "ir/layout.h"

namespace perfc {
namespace {

ConvolutionGroup convolution_group(const Graph& g, const Node& n, double window, bool channels_last) {
  ConvolutionGroup out{kUngrouped, kUngrouped, window, channels_last, false};
  const Type& w = g.type(n.operands[1]);
  const auto axes = kernel_axes(g, n);
  if (!w.is_static() || w.rank() < 3 || !axes) return out;
  const auto groups = static_cast<double>(n.attrs.int_or("groups", 1));
  const auto extent = [&](std::size_t axis) { return static_cast<double>(w.shape()[axis].value()); };
  const bool transposed = is_transposed_convolution(n.op);
  out.outputs = transposed ? extent(axes->channel) : extent(axes->outer) / groups;
  out.inputs = transposed ? extent(axes->outer) / groups : extent(axes->channel);
  return out;
}

/// FlashAttention takes no mask; the memory-efficient kernel that does reaches half its
/// rate (timm's beit runs at several resolutions, against vit's, on RTX 4090 and 5090).
constexpr double kMaskedAttention = 2;
bool is_masked_attention(const Node& n) { return n.is(op("nn.sdpa")) && n.operands.size() > 3 && n.operands[3]; }

/// Copies between channels first and last write what lies far apart: their share of the memory's
/// rate (timm's group norms, channels last, on RTX 3090 and 4090).
constexpr double kReordering = 2;

/// How well tensor cores load rows as long as the last axis, see Kernel::aligned.
double row_alignment(const Type& t) {
  if (!t.is_static() || t.rank() == 0) return 0;
  const std::int64_t row = t.shape().back().value();
  return row % 8 == 0 ? 1 : row % 2 == 0 ? 0.5 : 0;
}

class Planner {
 public:
  Planner(const ExecConfig& config, Diagnostics& diags) : config_(config), diags_(diags) {}

  /// Appends the kernels of `graph`; those of bodies are reported under `owner`.
  Status run(const Graph& graph, double repeat, const NodeId* owner) {
    if (!check_static(graph)) return Failure{};
    weight_ = graph.weight_only();
    const std::vector<bool> half = halves(graph, repeat, owner);
    made_.assign(graph.size(), {});
    layout_ = data_layout(graph, config_, weight_);
    if (config_.mode == ExecMode::Compiled) {
      fuse(graph, half, repeat, owner);
    } else {
      eager(graph, half, repeat, owner);
    }
    connect(graph);
    return bodies(graph, repeat, owner);
  }

  KernelPlan out;

 private:
  Status check_static(const Graph& graph) {
    bool good = true;
    for (const Node& n : graph.nodes()) {
      for (const ResultInfo& r : n.results) {
        if (r.type.is_static() || !good) continue;
        (void)diags_.error(n.loc, n.name,
                     fmt::format("{} has the open type {}; bind it with --dim NAME=VALUE, --shape INPUT=… or --batch",
                                 n.kind == NodeKind::Call ? def(n.op).name : "value", to_string(r.type)));
        good = false;
      }
    }
    return good ? ok() : Status(Failure{});
  }

  double element_bytes(const Type& t, bool is_half) const {
    if (!is_float(t.dtype()) || t.dtype() == DType::Float64) return bits(t.dtype()) / 8.0;
    const double own = bits(t.dtype()) / 8.0;
    return is_half ? std::min(own, 2.0) : own;
  }
  double bytes_of(const Graph& g, ValueId v, const std::vector<bool>& half) const {
    const Type& t = g.type(v);
    return t.is_static() && t.is_tensor() ? static_cast<double>(*t.elements()) * element_bytes(t, half[v.node]) : 0.0;
  }

  /// What AMP casts to 16 bits.
  bool takes_half(const Node& n) const {
    return uses_matrix_unit(def(n.op).category) || (config_.norms == Norms::Half && is_float32_norm(n));
  }

  /// Bytes per element of an operand as a call reads it: under AMP, behind a cast.
  double read_width(const Graph& g, ValueId v, const Node& user, const std::vector<bool>& half) const {
    const Type& t = g.type(v);
    if (config_.precision == Precision::Amp && is_float(t.dtype())) {
      if (takes_half(user)) return element_bytes(t, true);
      if (config_.mode == ExecMode::Eager && wants_full(user) && !widens_itself(user)) return element_bytes(t, false);
    }
    return element_bytes(t, half[v.node]);
  }
  double bytes_read(const Graph& g, ValueId v, const Node& user, const std::vector<bool>& half) const {
    const Type& t = g.type(v);
    return t.is_static() && t.is_tensor() ? static_cast<double>(*t.elements()) * read_width(g, v, user, half) : 0.0;
  }

  /// Which nodes' results are kept in 16 bits. Under AMP this also adds the
  /// cast kernels, in eager mode.
  std::vector<bool> halves(const Graph& g, double repeat, const NodeId* owner) {
    std::vector<bool> half(g.size(), false);
    const bool all = config_.precision == Precision::Fp16 || config_.precision == Precision::Bf16;
    if (all) half.assign(g.size(), true);
    if (config_.precision != Precision::Amp) return half;
    std::vector<bool> cast_done(2 * g.size(), false);  // a value is cast once to each side
    for (NodeId id = 0; id < g.size(); ++id) {
      const Node& n = g.node(id);
      if (n.kind != NodeKind::Call) continue;
      const bool low = takes_half(n);
      const bool high = !low && wants_full(n);
      bool any_full = n.operands.empty();
      for (ValueId v : n.operands) {
        if (!v || !is_float(g.type(v).dtype())) continue;
        const bool constant = g.node(v).kind == NodeKind::Constant;
        if ((low && !half[v.node]) || (high && half[v.node] && !widens_itself(n))) add_cast(g, v, low, cast_done, id, repeat, owner);
        const bool scalar = constant && g.type(v).ranked() && g.type(v).rank() == 0;  // one of shape (1) promotes
        if (!half[v.node] && !scalar && !(&v != n.operands.data() && parameters_follow_data(n))) any_full = true;
      }
      half[id] = low || (!high && !any_full);
    }
    return half;
  }

  void add_cast(const Graph& g, ValueId v, bool to_half, std::vector<bool>& done, NodeId user, double repeat, const NodeId* owner) {
    const std::size_t key = 2 * v.node + (to_half ? 1 : 0);
    if (done[key] || config_.mode == ExecMode::Compiled) return;  // compilers fuse casts into their neighbours
    done[key] = true;
    const double n = static_cast<double>(g.type(v).elements().value_or(0));
    Kernel k;
    k.node = owner ? *owner : user;
    k.flops = n;
    k.bytes = 6 * n;
    k.repeat = repeat;
    // However a weight is stored, its elements lie in one row.
    k.extents = weight_[v.node] ? Extents{.m = n, .n = 1, .k = 1} : elementwise_extents(g.type(v), n);
    k.ops.push_back(op("cast"));
    casts_.push_back({static_cast<std::uint32_t>(out.kernels.size()), v.node, user});
    out.kernels.push_back(k);
    out.host_ops += repeat;
  }

  /// Adds a kernel that computes (part of) a node.
  void add(NodeId id, Kernel k) {
    const auto index = static_cast<std::uint32_t>(out.kernels.size());
    Made& made = made_[id];
    if (made.first == kNone) {
      made.first = index;
    } else {
      out.edges.emplace_back(made.last, index);
    }
    made.last = index;
    out.kernels.push_back(std::move(k));
  }

  /// Edges between the kernels of one graph, after all of them are there.
  void connect(const Graph& g) {
    // The node whose kernel wrote what a node hands on: itself, or behind views.
    std::vector<NodeId> source(g.size());
    for (NodeId id = 0; id < g.size(); ++id) {
      const Node& n = g.node(id);
      source[id] = id;
      if (n.kind == NodeKind::Call && made_[id].first == kNone && !n.operands.empty() && n.operands[0]) source[id] = source[n.operands[0].node];
    }
    std::set<std::pair<NodeId, NodeId>> cast;  // (operand, user) that go through a cast
    for (const Cast& c : casts_) {
      cast.insert({c.from, c.to});
      if (made_[source[c.from]].first != kNone) out.edges.emplace_back(made_[source[c.from]].last, c.kernel);
      if (made_[c.to].first != kNone) out.edges.emplace_back(c.kernel, made_[c.to].first);
    }
    casts_.clear();
    for (NodeId id = 0; id < g.size(); ++id) {
      if (g.node(id).kind != NodeKind::Call || made_[id].first == kNone) continue;
      for (ValueId v : g.node(id).operands) {
        if (!v || cast.count({v.node, id})) continue;
        const Made& from = made_[source[v.node]];
        if (from.first != kNone && from.last != made_[id].first && !same_group(source[v.node], id)) out.edges.emplace_back(from.last, made_[id].first);
      }
    }
  }
  bool same_group(NodeId a, NodeId b) const { return made_[a].first == made_[b].first; }

  static Extents elementwise_extents(const Type& t, double elements) {
    Extents e;
    e.n = t.is_static() && t.rank() > 0 ? static_cast<double>(t.shape().back().value()) : 1;
    e.m = e.n > 0 ? elements / e.n : 0;
    e.k = 1;
    return e;
  }

  /// Extents of a call with `macs` multiply–accumulates.
  Extents extents_of(const Graph& g, NodeId id, double macs) const {
    const Node& n = g.node(id);
    Extents e;
    if (n.results.empty() || !n.results[0].type.is_static() || !n.results[0].type.is_tensor()) return e;
    const Type& result = n.results[0].type;
    const auto elements = static_cast<double>(*result.elements());
    e = elementwise_extents(result, elements);
    const Category c = def(n.op).category;
    if (c == Category::Convolution && n.operands.size() > 1) {
      const auto axes = kernel_axes(g, n);
      const Type& w = g.type(n.operands[1]);
      if (!axes || !w.is_static() || elements <= 0) return e;
      const auto groups = static_cast<double>(n.attrs.int_or("groups", 1));
      for (std::size_t axis : axes->spatial) e.window *= static_cast<double>(w.shape()[axis].value());
      for (std::int64_t s : n.attrs.ints_or_empty("strides")) e.stride *= static_cast<double>(s);
      const bool transposed = is_transposed_convolution(n.op);
      const auto outer = static_cast<double>(w.shape()[axes->outer].value()), inner = static_cast<double>(w.shape()[axes->channel].value());
      e.products = groups;
      e.n = transposed ? inner : outer / groups;
      e.m = e.n > 0 ? elements / (groups * e.n) : 0;
      e.k = macs / elements;
    } else if (uses_matrix_unit(c) && elements > 0) {
      e.k = macs / elements;
      if (!n.is(op("nn.dense")) && result.rank() > 2) {
        e.m = static_cast<double>(result.shape()[result.rank() - 2].value());
        e.products = e.m * e.n > 0 ? elements / (e.m * e.n) : 1;
      }
    } else if (!n.operands.empty() && n.operands[0] && elements > 0) {
      e.k = static_cast<double>(g.type(n.operands[0]).elements().value_or(0)) / elements;
    }
    return e;
  }

  /// Kind, work and alignment of a call, without its bytes.
  Kernel work(const Graph& g, NodeId id, bool half, double repeat, const NodeId* owner) const {
    const Node& n = g.node(id);
    const OpCost cost = op_cost(g, id);
    const Category c = def(n.op).category;
    Kernel k;
    k.node = owner ? *owner : id;
    k.macs = cost.macs;
    k.flops = cost.flops;
    k.repeat = repeat;
    k.half = half;
    k.wide_index = wide_index(g, n);
    if (k.wide_index) k.slowdown = index_slowdown(n, config_.mode);
    k.extents = extents_of(g, id, cost.macs);
    k.ops.push_back(kernel_op(n));
    if (c == Category::Convolution && n.operands.size() > 1) {
      const Type& w = g.type(n.operands[1]);
      const auto axes = kernel_axes(g, n);
      k.aligned = w.is_static() && axes &&
                  w.shape()[is_transposed_convolution(n.op) ? axes->channel : axes->outer].value() % 8 == 0;
      k.channels_first_conv = !layout_.channels_last[id];
      k.kind = KernelKind::Convolution;
      if (n.attrs.int_or("groups", 1) > 1) {
        ConvolutionGroup group = convolution_group(g, n, k.extents.window, layout_.channels_last[id]);
        group.wide_index = k.wide_index && config_.mode == ExecMode::Eager;
        k.channels_per_group = std::min(group.inputs, group.outputs);
        if (on_matrix_units(group)) {
          k.group_share = group_share(group);
        } else {
          k.kind = KernelKind::Depthwise;
          k.share_limit = vector_limit(group);
        }
      }
    } else if (uses_matrix_unit(c)) {
      k.kind = KernelKind::Matmul;
      if (is_masked_attention(n)) k.slowdown *= kMaskedAttention;
      k.aligned = row_alignment(g.type(n.operands[0]));
      if (!n.results.empty()) k.aligned = std::min(k.aligned, row_alignment(n.results[0].type));
      if (c == Category::Recurrent) {
        k.state_weights = static_cast<double>(g.type(n.operands[2]).elements().value_or(0)) * element_bytes(g.type(n.operands[2]), half);
        k.steps = static_cast<double>(g.type(n.operands[0]).shape()[n.attrs.int_or("layout", 0) == 1 ? 1 : 0].value());
      }
    } else if (c == Category::Gather || c == Category::Scatter || c == Category::Sort) {
      k.kind = KernelKind::Gather;
    } else if (config_.mode == ExecMode::Eager) {
      k.serial_steps = serial_steps(g, id, layout_.channels_last[id]);
    }
    return k;
  }

  /// Bytes of a call in eager mode: what its cost rule says, in the widths that
  /// the values have under this precision.
  double eager_bytes(const Graph& g, NodeId id, const std::vector<bool>& half) const {
    const Node& n = g.node(id);
    const OpCost cost = op_cost(g, id);
    double declared = 0, actual = 0;
    for (ValueId v : n.operands) {
      if (!v) continue;
      declared += g.type(v).bytes();
      actual += bytes_read(g, v, n, half);
    }
    for (std::uint32_t r = 0; r < n.results.size(); ++r) {
      declared += n.results[r].type.bytes();
      actual += bytes_of(g, {id, r}, half);
    }
    const double width = declared > 0 ? actual / declared : 1.0;
    return (cost.bytes_read + cost.bytes_written) * width;
  }

  /// What a call moves between its operands and results: a group norm's second look at its
  /// data, whose groups no cache holds; a recurrence's gates, in 32 bits, which the product with
  /// its input writes, that with its state adds to and the cell reads (cuDNN).
  double inner_bytes(const Graph& g, NodeId id, const std::vector<bool>& half) const {
    const Node& n = g.node(id);
    if (n.is(op("nn.group_norm"))) return bytes_read(g, n.operands[0], n, half);
    if (def(n.op).category != Category::Recurrent) return 0;
    constexpr double kGatePasses = 4, kGateBytes = 4;
    const Type &states = n.results[0].type, &weights = g.type(n.operands[2]);  // (directions, gates · hidden, hidden)
    if (!states.is_static() || !weights.is_static() || weights.rank() != 3 || weights.elements() == 0) return 0;
    const std::int64_t rows = weights.shape()[1].value(), columns = weights.shape()[2].value();
    const double gates = static_cast<double>(std::max(rows, columns)) / static_cast<double>(std::min(rows, columns));
    return static_cast<double>(*states.elements()) * gates * kGatePasses * kGateBytes;
  }

  /// A dense copy of an operand.
  Kernel copy_of(const Graph& g, NodeId id, ValueId v, double element_bytes, double repeat, const NodeId* owner) const {
    Kernel k;
    k.node = owner ? *owner : id;
    k.repeat = repeat;
    const auto elements = static_cast<double>(g.type(v).elements().value_or(0));
    k.bytes = 2 * elements * element_bytes;
    k.extents = elementwise_extents(g.type(v), elements);
    k.ops.push_back(op("copy"));
    return k;
  }

  void eager(const Graph& g, const std::vector<bool>& half, double repeat, const NodeId* owner) {
    std::set<ValueId> viewed;
    for (NodeId id = 0; id < g.size(); ++id) {
      const Node& n = g.node(id);
      if (n.kind != NodeKind::Call || !n.regions.empty()) continue;
      if (is_epilogue(g, n)) continue;
      if (is_strided_view(g, n)) continue;
      if (is_view(n)) {
        if (layout_.copied[id]) {
          Kernel k = work(g, id, half[id], repeat, owner);
          k.bytes = 2 * bytes_of(g, {id, 0}, half);
          out.host_ops += repeat;
          add(id, std::move(k));
        }
        continue;
      }
      // Exporters write one chain of views in many ways; what a kernel reads through views counts as one call.
      for (ValueId v : n.operands) {
        if (v && is_free(g, v.node) && !weight_[v.node] && viewed.insert(v).second) out.host_ops += repeat;
      }
      if (const auto attention = written_out_attention(g, id)) {
        write_out(g, id, *attention, half, repeat, owner);
        continue;
      }
      if (copies_data(g, id, layout_, weight_)) {
        Kernel copy = copy_of(g, id, n.operands[0], read_width(g, n.operands[0], n, half), repeat, owner);
        if (layout_.channels_last[id] != layout_.channels_last[n.operands[0].node]) copy.slowdown = kReordering;
        add(id, std::move(copy));
        out.host_ops += repeat;
      }
      out.host_ops += repeat;
      Kernel k = work(g, id, half[id], repeat, owner);
      k.bytes = eager_bytes(g, id, half) + inner_bytes(g, id, half);
      add(id, std::move(k));
    }
  }

  /// A view that needed no copy.
  bool is_free(const Graph& g, NodeId id) const {
    const Node& n = g.node(id);
    return n.kind == NodeKind::Call && made_[id].first == kNone && (is_view(n) || is_strided_view(g, n));
  }

  /// What both ways of running written-out attention are made of.
  struct AttentionParts {
    static constexpr std::size_t kQ = 0, kK = 1, kV = 2, kMask = 3;   ///< operands
    const WrittenOutAttention& of;
    Kernel whole;                   ///< as if it were one kernel
    bool half = false;              ///< scores of 16 bits
    double width = 4;               ///< bytes per element of the products
    double elements[3] = {};        ///< of q, k, v
    double written = 0;             ///< elements of the result
    Extents scores, qk, av;
  };
  AttentionParts attention_parts(const Graph& g, NodeId id, const WrittenOutAttention& a, const std::vector<bool>& half, double repeat, const NodeId* owner) const {
    using P = AttentionParts;
    const Node& n = g.node(id);
    P p{.of = a, .whole = work(g, id, half[id], repeat, owner), .half = half[id] && !a.reference};
    p.width = p.half ? 2.0 : std::min(4.0, bits(n.results[0].type.dtype()) / 8.0);
    for (const std::size_t i : {P::kQ, P::kK, P::kV}) p.elements[i] = static_cast<double>(g.type(n.operands[i]).elements().value_or(0));
    p.written = static_cast<double>(n.results[0].type.elements().value_or(0));
    const Type& values = g.type(n.operands[P::kV]);
    const double keys = static_cast<double>(values.shape()[values.rank() - 2].value());
    const double head = a.scores > 0 ? a.qk_macs / a.scores : 0, value = a.scores > 0 ? a.av_macs / a.scores : 0;
    const double queries = p.whole.extents.m, products = p.whole.extents.products;
    p.scores = {.m = keys > 0 ? a.scores / keys : 0, .n = keys, .k = 1};
    p.qk = {.m = queries, .n = keys, .k = head, .products = products};
    p.av = {.m = queries, .n = value, .k = keys, .products = products};
    return p;
  }
  void add_part(NodeId id, const AttentionParts& p, KernelKind kind, std::initializer_list<OpId> ops, const Extents& extents, double macs, double flops, double moved) {
    Kernel k = p.whole;
    k.kind = kind;
    k.ops.assign(ops.begin(), ops.end());
    k.half = p.half;
    k.slowdown = 1;
    k.extents = extents;
    k.macs = macs;
    k.flops = flops;
    k.bytes = moved;
    out.host_ops += k.repeat;
    add(id, std::move(k));
  }
  void add_qk(NodeId id, const AttentionParts& p) {
    add_part(id, p, KernelKind::Matmul, {op("nn.batch_matmul")}, p.qk, p.of.qk_macs, 0, (p.elements[p.kQ] + p.elements[p.kK] + p.of.scores) * p.width);
  }
  void add_av(NodeId id, const AttentionParts& p) {
    add_part(id, p, KernelKind::Matmul, {op("nn.batch_matmul")}, p.av, p.of.av_macs, 0, (p.of.scores + p.elements[p.kV] + p.written) * p.width);
  }
  /// Whether a batched product copies this operand first.
  bool copies_operand(const Graph& g, ValueId v) const { return layout_.strided[v.node] && batched_product_copies(g.type(v)); }

  /// scale · q, q · kᵀ, or scale · scores, + mask, softmax, (cast), · v.
  void write_out(const Graph& g, NodeId id, const WrittenOutAttention& a, const std::vector<bool>& half, double repeat, const NodeId* owner) {
    using P = AttentionParts;
    const Node& n = g.node(id);
    const P p = attention_parts(g, id, a, half, repeat, owner);
    const double width = p.width;
    const bool widened = config_.precision == Precision::Amp && !a.reference;
    const double softmax_width = widened ? 4.0 : width;
    const auto on_scores = [&](OpId what, double flops, double moved) { add_part(id, p, KernelKind::Vector, {what}, p.scores, 0, flops, moved); };
    const auto elementwise = [&](OpId what, std::size_t i, double bytes_per_element) {
      add_part(id, p, KernelKind::Vector, {what}, elementwise_extents(g.type(n.operands[i]), p.elements[i]), 0, p.elements[i], p.elements[i] * bytes_per_element);
    };
    const bool casts = a.reference && half[id];
    if (casts) {
      for (const std::size_t i : {P::kQ, P::kK, P::kV}) elementwise(op("cast"), i, 2 + width);
    }
    if (a.reference) {  // √scale on both; the products want their operands dense
      for (const std::size_t i : {P::kQ, P::kK}) elementwise(op("multiply"), i, 2 * width);
      for (const std::size_t i : {P::kQ, P::kK, P::kV}) elementwise(op("copy"), i, 2 * width);
    } else {
      if (n.attrs.has("scale") && !a.scales_scores) elementwise(op("multiply"), P::kQ, 2 * width);
      for (const std::size_t i : {P::kQ, P::kK, P::kV}) {
        if (!copies_operand(g, n.operands[i])) continue;
        elementwise(op("copy"), i, 2 * width);
        out.host_ops -= repeat;  // part of the product's call
      }
    }
    add_qk(id, p);
    if (a.scales_scores) on_scores(op("multiply"), a.scores, 2 * a.scores * width);
    if (is_masked_attention(n)) on_scores(op("add"), a.scores, 2 * a.scores * width + bytes_of(g, n.operands[P::kMask], half));
    on_scores(op("nn.softmax"), 5 * a.scores, a.scores * (width + softmax_width));
    if (a.reference) {  // _safe_softmax: rows that are −∞ throughout become 0
      on_scores(op("equal"), a.scores, a.scores * (width + 1));
      on_scores(op("max"), a.scores, a.scores);
      on_scores(op("where"), a.scores, 2 * a.scores * width);
    }
    if (widened) on_scores(op("cast"), a.scores, a.scores * (softmax_width + width));
    add_av(id, p);
    if (casts) {
      add_part(id, p, KernelKind::Vector, {op("cast")}, elementwise_extents(n.results[0].type, p.written), 0, p.written, p.written * (width + 2));
    }
  }

  /// The same by a compiler: what stands between the products is one kernel, and so are
  /// casts, scale and the copies that batched products need of permuted operands.
  void write_out_fused(const Graph& g, NodeId id, const WrittenOutAttention& a, const std::vector<bool>& half, double repeat, const NodeId* owner) {
    using P = AttentionParts;
    const Node& n = g.node(id);
    const P p = attention_parts(g, id, a, half, repeat, owner);
    for (const std::size_t i : {P::kQ, P::kK, P::kV}) {
      const ValueId v = n.operands[i];
      if (!a.reference && !copies_operand(g, v)) continue;
      add_part(id, p, KernelKind::Vector, {op("copy")}, elementwise_extents(g.type(v), p.elements[i]), 0, p.elements[i],
               p.elements[i] * (read_width(g, v, n, half) + p.width));
    }
    add_qk(id, p);
    const double between = 6 * a.scores, moved = 2 * a.scores * p.width;
    if (is_masked_attention(n)) {
      add_part(id, p, KernelKind::Vector, {op("nn.softmax"), op("multiply"), op("add")}, p.scores, 0, between, moved + bytes_of(g, n.operands[P::kMask], half));
    } else {
      add_part(id, p, KernelKind::Vector, {op("nn.softmax"), op("multiply")}, p.scores, 0, between, moved);
    }
    add_av(id, p);
  }

  /// Calls that share a kernel, by group, and what that means for each node.
  struct Fusion {
    std::vector<FusedGroup> groups;
    std::vector<std::uint32_t> group;   ///< of each node
    std::vector<bool> free;             ///< by group: only views, and biases that products add themselves
    std::set<ValueId> wide, narrow;     ///< values read outside their group: as they are; by matrix units, in 16 bits
    std::vector<bool> full;             ///< by node: kept in 32 bits
    std::vector<bool> inlined;          ///< by node: not kept; who reads it computes it again
  };

  Fusion fusion(const Graph& g) const {
    Fusion f{fused_groups(g), std::vector<std::uint32_t>(g.size(), kNone), {}, {}, {}, std::vector<bool>(g.size(), false), inlined(g)};
    for (std::uint32_t i = 0; i < f.groups.size(); ++i) {
      const auto& members = f.groups[i].members;
      for (NodeId id : members) f.group[id] = i;
      f.free.push_back(std::ranges::all_of(members, [&](NodeId id) {
        const Node& n = g.node(id);
        return !layout_.copied[id] && (is_view(n) || is_strided_view(g, n) || is_epilogue(g, n));
      }));
    }
    if (config_.precision == Precision::Amp) keep_full(g, f);
    f.wide.insert(g.results().begin(), g.results().end());
    for (NodeId id = g.size(); id-- > 0;) {
      const Node& n = g.node(id);
      if (n.kind != NodeKind::Call) continue;
      const bool passes_on = f.group[id] != kNone && f.free[f.group[id]];
      const bool low = config_.precision == Precision::Amp && uses_matrix_unit(def(n.op).category);
      const auto read = [&](const std::set<ValueId>& values) {
        const auto first = values.lower_bound({id, 0});
        return first != values.end() && first->node == id;
      };
      const bool read_wide = passes_on && read(f.wide), read_narrow = passes_on && read(f.narrow);
      for (ValueId v : n.operands) {
        if (!v) continue;
        if (passes_on) {
          if (read_wide) f.wide.insert(v);
          if (read_narrow) f.narrow.insert(v);
        } else if (f.group[v.node] == kNone || f.group[v.node] != f.group[id]) {
          (low ? f.narrow : f.wide).insert(v);
        }
      }
    }
    return f;
  }

  /// TorchInductor keeps what is read often in memory: a normalised convolution behind an
  /// activation that reads its operand twice (x · σ(x)) is kept before the activation, and so
  /// before the cast to 16 bits, where a kernel of another shape reads it.
  static bool keeps_operand(const Graph& g, NodeId activation) {
    const Node& x = g.node(activation);
    const bool twice = x.is(op("nn.silu")) || x.is(op("nn.hard_swish")) || x.is(op("nn.mish")) || x.is(op("nn.gelu"));
    return twice && g.node(x.operands[0]).is(op("nn.bias_add"));
  }
  /// … for a reduction, and later kernels.
  void keep_full(const Graph& g, Fusion& f) const {
    for (NodeId id = 0; id < g.size(); ++id) {
      const Node& n = g.node(id);
      if (n.kind != NodeKind::Call || !is_reduction(g, n) || !n.operands[0]) continue;
      const NodeId from = n.operands[0].node;
      if (f.group[from] != kNone && f.group[from] == f.group[id] && keeps_operand(g, from)) f.full[from] = true;
    }
  }
  /// … for a padded copy, whose kernel reads it again; bytes of both passes.
  double kept_for_padding(const Graph& g, NodeId id) const {
    const Node& n = g.node(id);
    if (config_.precision != Precision::Amp || !n.is(op("nn.pad")) || !keeps_operand(g, n.operands[0].node)) return 0;
    return 2 * static_cast<double>(g.type(n.operands[0]).elements().value_or(0)) * element_bytes(g.type(n.operands[0]), false);
  }

  /// TorchInductor computes anew in each reader what reads little memory and no product or
  /// convolution needs: a convolution's own bias. A batch-norm reads too much, and a bias may
  /// be a folded one, which cannot be where the weights are computed (weight standardisation).
  static std::vector<bool> inlined(const Graph& g) {
    std::vector<bool> out(g.size(), false);
    for (NodeId id = 0; id < g.size(); ++id) {
      const Node& n = g.node(id);
      if (!n.is(op("nn.bias_add"))) continue;
      const Node& from = g.node(n.operands[0]);
      out[id] = from.kind == NodeKind::Call && def(from.op).category == Category::Convolution && g.node(from.operands[1]).kind == NodeKind::Call;
    }
    for (ValueId v : g.results()) out[v.node] = false;
    for (const Node& n : g.nodes()) {
      const bool computes = n.kind == NodeKind::Call && fuses(n) && !is_view(n) && !is_strided_view(g, n);
      for (ValueId v : n.operands) {
        if (v && !computes) out[v.node] = false;
      }
    }
    return out;
  }

  /// One kernel per group of fused calls; bytes are what crosses the groups' borders,
  /// in 16 bits where only matrix units read it: casts are part of the kernel that writes.
  void fuse(const Graph& g, const std::vector<bool>& half, double repeat, const NodeId* owner) {
    const Fusion f = fusion(g);
    const auto elements = [&](ValueId v) { return static_cast<double>(g.type(v).elements().value_or(0)); };
    for (std::uint32_t at = 0; at < f.groups.size(); ++at) {
      const FusedGroup& fused = f.groups[at];
      if (f.free[at]) continue;
      const auto first = static_cast<std::uint32_t>(out.kernels.size());
      const Node& leading = g.node(fused.leader);
      if (compiled_copies_data(g, fused.leader, layout_, weight_)) {
        out.kernels.push_back(copy_of(g, fused.leader, leading.operands[0], read_width(g, leading.operands[0], leading, half), repeat, owner));
        out.host_ops += repeat;
      }
      if (const auto attention = written_out_attention(g, fused.leader)) {
        write_out_fused(g, fused.leader, *attention, half, repeat, owner);
        continue;
      }
      Kernel k = work(g, fused.leader, half[fused.leader], repeat, owner);
      k.bytes = inner_bytes(g, fused.leader, half);
      std::set<ValueId> read;
      for (NodeId id : fused.members) {
        const Node& n = g.node(id);
        k.bytes += kept_for_padding(g, id);
        if (id != fused.leader) {
          const OpCost cost = op_cost(g, id);
          k.macs += cost.macs;
          k.flops += cost.flops;
          if (!is_view(n) && !is_strided_view(g, n)) k.ops.push_back(kernel_op(n));
        }
        for (ValueId v : n.operands) {
          if (!v || f.group[v.node] == at) continue;
          if (f.inlined[v.node]) v = g.node(v).operands[0];
          if (!read.insert(v).second) continue;
          const double width = f.full[v.node]                        ? element_bytes(g.type(v), false)
                               : f.narrow.count(v) && !f.wide.count(v) ? element_bytes(g.type(v), true)
                                                                     : read_width(g, v, n, half);
          k.bytes += std::min(g.type(v).is_tensor() ? elements(v) * width : 0.0, read_bound(g, id, half));
        }
        for (std::uint32_t r = 0; r < n.results.size(); ++r) {
          const ValueId v{id, r};
          if (!g.type(v).is_tensor() || f.inlined[id]) continue;
          if (f.wide.count(v)) k.bytes += f.full[id] ? elements(v) * element_bytes(g.type(v), false) : bytes_of(g, v, half);
          if (f.narrow.count(v) && !(f.wide.count(v) && half[id])) k.bytes += elements(v) * element_bytes(g.type(v), true);
        }
      }
      const auto index = static_cast<std::uint32_t>(out.kernels.size());
      for (NodeId id : fused.members) made_[id] = {first, index};
      if (first != index) out.edges.emplace_back(first, index);
      out.kernels.push_back(std::move(k));
      out.host_ops += repeat;
    }
  }

  /// Slices and gathers read no more than they write (and their indices).
  double read_bound(const Graph& g, NodeId id, const std::vector<bool>& half) const {
    const Node& n = g.node(id);
    if (!n.is(op("strided_slice")) && def(n.op).category != Category::Gather) return 1e300;
    return bytes_of(g, {id, 0}, half);
  }

  Status bodies(const Graph& g, double repeat, const NodeId* owner) {
    for (NodeId id = 0; id < g.size(); ++id) {
      const Node& n = g.node(id);
      if (n.regions.empty()) continue;
      const NodeId reported = owner ? *owner : id;
      const SymInt trips = trip_count(g, id);
      if (!trips.known() && !n.is(op("if"))) {
        out.warnings.push_back(fmt::format("'{}': {} runs an unknown number of times; counted once", n.name, def(n.op).name));
      }
      const double times = repeat * (trips.known() ? static_cast<double>(trips.value()) : 1.0);
      out.host_ops += repeat;
      if (!n.is(op("if"))) {
        for (const GraphRef& body : n.regions) {
          if (!run(*body, times, &reported)) return Failure{};
        }
        continue;
      }
      // Which branch runs is not known: the one with more work counts.
      KernelPlan best, before = std::move(out);
      double most = -1;
      for (const GraphRef& body : n.regions) {
        out = {};
        if (!run(*body, repeat, &reported)) return Failure{};
        double work = 0;
        for (const Kernel& k : out.kernels) work += k.repeat * (2 * k.macs + k.flops + k.bytes);
        if (work > most) {
          most = work;
          best = std::move(out);
        }
      }
      out = std::move(before);
      const auto offset = static_cast<std::uint32_t>(out.kernels.size());
      for (const auto& [from, to] : best.edges) out.edges.emplace_back(from + offset, to + offset);
      out.kernels.insert(out.kernels.end(), best.kernels.begin(), best.kernels.end());
      out.host_ops += best.host_ops;
      out.warnings.insert(out.warnings.end(), best.warnings.begin(), best.warnings.end());
      out.warnings.push_back(fmt::format("'{}': which branch runs is not known; the dearer one is counted", n.name));
    }
    return ok();
  }

  /// Kernels of each node of the graph at hand.
  struct Made {
    std::uint32_t first = kNone, last = kNone;
  };
  struct Cast {
    std::uint32_t kernel;
    NodeId from, to;
  };
  static constexpr std::uint32_t kNone = 0xffffffffu;

  const ExecConfig& config_;
  Diagnostics& diags_;
  std::vector<Made> made_;
  DataLayout layout_;
  std::vector<bool> weight_;      ///< by node: computed from weights alone
  std::vector<Cast> casts_;
};

}  // namespace

double float_bytes(Precision p) {
  return p == Precision::Fp16 || p == Precision::Bf16 ? 2.0 : p == Precision::Int8 ? 1.0 : 4.0;
}

Result<KernelPlan> plan_kernels(const Graph& graph, const ExecConfig& config, Diagnostics& diags) {
  Planner s(config, diags);
  if (!s.run(graph, 1.0, nullptr)) return Failure{};
  return std::move(s.out);
}

}  // namespace perfc
