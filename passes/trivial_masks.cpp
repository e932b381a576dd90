#include <algorithm>
#include <limits>

#include "ir/ops/attention_operands.h"
#include "passes/affine_positions.h"
#include "passes/passes.h"

namespace perfc::passes {
namespace {

/// Least and greatest element.
struct Span {
  std::int64_t least = 0, greatest = 0;
};

/// What is known of positions and of comparisons of positions, whatever the data is.
class Positions {
 public:
  explicit Positions(const Graph& g)
      : spans_(g.size()), filled_(g.size()), holds_(g.size(), false), truths_(g.size(), false),
        adds_nothing_(g.size(), false) {
    for (NodeId id = 0; id < g.size(); ++id) {
      const Node& n = g.node(id);
      if (n.results.size() != 1 || !n.results[0].type.is_tensor()) continue;
      if (n.kind == NodeKind::Constant) spans_[id] = of_constant(n.results[0].data.get());
      // A comparison that an exporter evaluated.
      if (n.kind == NodeKind::Constant && n.results[0].type.dtype() == DType::Bool)
        holds_[id] = spans_[id] && spans_[id]->least == 1;
      if (n.kind == NodeKind::Constant && n.results[0].type.rank() == 0) filled_[id] = number(n.results[0].data.get());
      if (n.kind == NodeKind::Call && n.regions.empty() && !n.operands.empty() && n.operands[0]) call(id, n);
    }
  }

  /// A comparison that is true throughout, or views of it.
  bool holds(ValueId v) const { return v && holds_[v.node]; }
  /// Ones throughout because a program filled it so.
  bool ones(ValueId v) const { return v && filled_[v.node] == 1.0; }
  /// Zeros where a comparison is true that is true throughout: a mask that is added to scores.
  bool adds_nothing(ValueId v) const { return v && adds_nothing_[v.node]; }
  /// Of a mask of positions: a position, a distance, a comparison.
  bool known(NodeId id) const { return spans_[id] || holds_[id] || adds_nothing_[id] || truths_[id]; }

 private:
  static std::optional<Span> of_constant(const Data* data) {
    const auto* ints = data && data->fully_known() ? data->ints() : nullptr;
    if (!ints || ints->empty()) return std::nullopt;
    const auto [least, greatest] = std::minmax_element(
        ints->begin(), ints->end(), [](const SymInt& a, const SymInt& b) { return a.value() < b.value(); });
    return Span{least->value(), greatest->value()};
  }
  /// What all elements are.
  static std::optional<double> number(const Data* data) {
    if (const auto* floats = data ? data->floats() : nullptr)
      return floats->size() == 1 ? std::optional(floats->front()) : std::nullopt;
    const auto span = of_constant(data);
    return span && span->least == span->greatest ? std::optional(static_cast<double>(span->least)) : std::nullopt;
  }

  void call(NodeId id, const Node& n) {
    const Launch launch = def(n.op).runs.launch;
    const bool looks = !def(n.op).dims_only &&
                       (def(n.op).moves != Moves::No || launch == Launch::View || launch == Launch::StridedView);
    if (looks) {
      if (!is_float(n.results[0].type.dtype())) spans_[id] = spans_[n.operands[0].node];
      const bool mask = n.results[0].type.dtype() == DType::Bool;
      holds_[id] = mask && holds_[n.operands[0].node];
      truths_[id] = mask && truths_[n.operands[0].node];
      adds_nothing_[id] = adds_nothing_[n.operands[0].node];
      // A conversion makes another number of most, but not of these.
      if (const auto& x = filled_[n.operands[0].node]; x == 0.0 || x == 1.0) filled_[id] = x;
      return;
    }
    const bool nearest = n.is(op("image.resize2d")) && n.attrs.string_or("mode", "") == "nearest";
    if (nearest || def(n.op).picks) filled_[id] = filled_[n.operands[0].node];
    if (n.is(op("arange"))) spans_[id] = of_arange(n);
    if (n.is(op("full"))) filled_[id] = filled_by(n);
    truths_[id] = n.is(op("full")) && n.results[0].type.dtype() == DType::Bool && filled_[id] == 1.0;
    if (n.is(op("abs"))) spans_[id] = of_distance(spans_[n.operands[0].node]);
    if (n.is(op("where")) && n.operands.size() == 3 && n.operands[1])
      adds_nothing_[id] = holds(n.operands[0]) && filled_[n.operands[1].node] == 0.0;
    if (n.operands.size() != 2 || !n.operands[1]) return;
    if (n.is(op("logical_and"))) {
      const auto fine = [&](ValueId v) { return holds(v) || ones(v); };
      holds_[id] = fine(n.operands[0]) && fine(n.operands[1]) && (holds(n.operands[0]) || holds(n.operands[1]));
    }
    const auto &a = spans_[n.operands[0].node], &b = spans_[n.operands[1].node];
    if (!a || !b) return;
    if (n.is(op("add"))) spans_[id] = Span{a->least + b->least, a->greatest + b->greatest};
    if (n.is(op("subtract"))) spans_[id] = Span{a->least - b->greatest, a->greatest - b->least};
    holds_[id] = (n.is(op("less_equal")) && a->greatest <= b->least) || (n.is(op("less")) && a->greatest < b->least) ||
                 (n.is(op("greater_equal")) && a->least >= b->greatest) ||
                 (n.is(op("greater")) && a->least > b->greatest);
  }

  static std::optional<double> filled_by(const Node& n) {
    const Attr* attr = n.attrs.find("value");
    const auto* value = attr ? std::get_if<Literal>(attr) : nullptr;
    return value ? number(value->data.get()) : std::nullopt;
  }

  static std::optional<Span> of_distance(const std::optional<Span>& s) {
    if (!s) return s;
    const std::int64_t most = std::max(std::abs(s->least), std::abs(s->greatest));
    return Span{s->least <= 0 && s->greatest >= 0 ? 0 : std::min(std::abs(s->least), std::abs(s->greatest)), most};
  }

  std::optional<Span> of_arange(const Node& n) const {
    const Type& t = n.results[0].type;
    if (!t.is_static() || is_float(t.dtype()) || n.operands.size() != 3 || *t.elements() == 0) return std::nullopt;
    const auto &start = spans_[n.operands[0].node], &step = spans_[n.operands[2].node];
    if (!start || !step || step->least != 1) return std::nullopt;
    return Span{start->least, start->least + *t.elements() - 1};
  }

  std::vector<std::optional<Span>> spans_;
  std::vector<std::optional<double>> filled_;  ///< by node: what all elements are, because a program filled it so
  std::vector<bool> holds_;
  std::vector<bool> truths_;  ///< a mask that a program filled so, or views of it
  std::vector<bool> adds_nothing_;
};

constexpr std::size_t kMask = AttentionOperand::kMask, kAdded = 1;

/// What the model does about a mask when it runs.
enum class Skips : std::uint8_t { No, Mask, AddedMask, CausalMask };

class Masks {
 public:
  explicit Masks(const Graph& g) : g_(g), spans_(g), affine_(g), scores_(scores_of(g)), read_(read(g)) {}

  Skips skips(NodeId id) const {
    const Node& n = g_.node(id);
    if (scores_[id]) return spans_.adds_nothing(n.operands[kAdded]) ? Skips::AddedMask : Skips::No;
    const bool masked = n.kind == NodeKind::Call && n.is(op("nn.sdpa")) && n.operands.size() == kMask + 1;
    if (!masked || n.attrs.int_or("explicit", 0) != 0) return Skips::No;
    if (spans_.holds(n.operands[kMask])) return Skips::Mask;
    return is_causal(n.operands[kMask]) ? Skips::CausalMask : Skips::No;
  }
  /// The mask that such a node is without.
  ValueId mask_of(NodeId id, Skips skips) const {
    return g_.node(id).operands[skips == Skips::AddedMask ? kAdded : kMask];
  }
  bool makes_positions(NodeId id) const { return spans_.known(id) || affine_.known(id); }
  /// What says of each token that it is no padding, where the program filled it with ones.
  ValueId padding(const Node& n) const {
    return n.kind == NodeKind::Call && n.is(op("gather_nd")) && spans_.ones(n.operands[0]) ? n.operands[0] : ValueId{};
  }

 private:
  /// By node: sums of scores and a mask, of which a softmax is taken next.
  static std::vector<bool> scores_of(const Graph& g) {
    std::vector<bool> out(g.size(), false), softmax(g.size(), false);
    for (NodeId id = static_cast<NodeId>(g.size()); id-- > 0;) {
      const Node& n = g.node(id);
      if (n.kind != NodeKind::Call || !n.regions.empty() || n.operands.empty() || !n.operands[0]) continue;
      const bool converts = def(n.op).moves == Moves::Converts;
      if (n.is(op("nn.softmax")) || (converts && softmax[id])) softmax[n.operands[0].node] = true;
      out[id] = n.is(op("add")) && softmax[id] && n.operands.size() == kAdded + 1 &&
                g.type(n.operands[0]) == n.results[0].type;
    }
    return out;
  }

  /// transformers' create_causal_mask where no packed sequences and no window hide more (masking_utils.py,
  /// _ignore_causal_mask_sdpa): and-ed with what looks for these, or made of positions as sdpa_mask makes it, which a
  /// mask of somebody's own is not.
  bool is_causal(ValueId mask) const {
    const Type& t = g_.type(mask);
    const auto sees = affine_.sees(mask);
    const bool theirs =
        sees == AffinePositions::Sees::PastAndAll || (sees == AffinePositions::Sees::Past && is_of_sdpa_mask(mask));
    return theirs && t.is_static() && t.rank() >= 2 && t.shape().back() == t.shape()[t.rank() - 2] &&
           !t.shape().back().is(1);
  }

  /// sdpa_mask numbers samples and heads before queries and keys, whether or not a mask of theirs reads that.
  bool is_of_sdpa_mask(ValueId mask) const {
    NodeId id = mask.node;  // of the comparison, of which the mask is a view
    while (g_.node(id).kind == NodeKind::Call && g_.type(g_.node(id).operands[0]).dtype() == DType::Bool)
      id = g_.node(id).operands[0].node;
    std::size_t unread = 0;
    while (id-- > 0 && (g_.node(id).kind == NodeKind::Constant || makes_positions(id))) {
      const Node& n = g_.node(id);
      unread += n.kind == NodeKind::Call && n.is(op("arange")) && is_launched_unread(n) && !read_[id];
    }
    return unread >= 2;
  }

  static std::vector<bool> read(const Graph& g) {
    std::vector<bool> out(g.size(), false);
    for (const Node& n : g.nodes()) {
      for (ValueId v : n.operands) {
        if (v) out[v.node] = true;
      }
    }
    return out;
  }

  const Graph& g_;
  Positions spans_;
  AffinePositions affine_;
  std::vector<bool> scores_, read_;
};

/// Keys or values of (batch, groups, length, channels) that were repeated for the heads of a group.
ValueId shared_by_heads(const Graph& g, ValueId v) {
  const auto step = [&](ValueId x, OpId what) {
    const Node& n = g.node(x);
    return n.kind == NodeKind::Call && n.is(what) ? n.operands[0] : ValueId{};
  };
  const ValueId wide = step(v, op("reshape")), one = wide ? step(wide, op("broadcast_to")) : wide,
                shared = one ? step(one, op("expand_dims")) : one;
  if (!shared || !g.type(v).is_static() || !g.type(wide).is_static() || !g.type(shared).is_static()) return {};
  const Shape &heads = g.type(v).shape(), &all = g.type(wide).shape(), &from = g.type(shared).shape();
  const bool repeats = heads.size() == 4 && all.size() == 5 && from.size() == 4 && g.type(one).shape()[2].is(1) &&
                       all[0] == from[0] && all[1] == from[1] && all[3] == from[2] && all[4] == from[3] &&
                       heads[0] == from[0] && heads[2] == from[2] && heads[3] == from[3];
  return repeats ? shared : ValueId{};
}

/// transformers' use_gqa_in_sdpa (integrations/sdpa_attention.py): of heads up to so many channels.
constexpr std::int64_t kMostChannels = 256;

/// Attention without its mask; repeated heads are grouped ones then.
CallSpec unmasked(const Graph& g, const Node& n, Skips skips) {
  CallSpec call{.op = n.op,
                .operands = {n.operands[0], n.operands[1], n.operands[2]},
                .attrs = n.attrs,
                .results = 1,
                .name = n.name,
                .loc = n.loc};
  if (skips == Skips::CausalMask) call.attrs.set("is_causal", std::int64_t{1});
  const ValueId keys = shared_by_heads(g, n.operands[1]), values = shared_by_heads(g, n.operands[2]);
  if (!keys || !values) return call;
  const Dim &of_keys = g.type(keys).shape()[3], &of_values = g.type(values).shape()[3];
  if (of_keys != of_values || of_keys.value() > kMostChannels) return call;
  call.op = op("nn.attention");
  call.operands = {n.operands[0], keys, values};
  return call;
}

/// By node.
struct Makers {
  std::vector<bool> makes;     ///< masks
  std::vector<bool> searches;  ///< its result numbers packed sequences
  std::vector<ValueId> reads;  ///< what it reads of the padding
};

/// What made the masks: their operands, and the positions that a program makes right before (of the batch, of heads,
/// of queries), read or not. The search for packed sequences (find_packed_sequence_indices) the model makes, too.
Makers makers_of(const Graph& g, const Masks& masks) {
  Makers out{std::vector<bool>(g.size(), false), std::vector<bool>(g.size(), false), std::vector<ValueId>(g.size())};
  std::vector<bool>& makes = out.makes;
  bool before = false;  // all nodes from here to one that makes a mask are positions
  for (NodeId id = static_cast<NodeId>(g.size()); id-- > 0;) {
    const Node& n = g.node(id);
    if (const Skips skips = masks.skips(id); skips != Skips::No) makes[masks.mask_of(id, skips).node] = true;
    if (n.kind == NodeKind::Call && n.is(op("cumsum"))) {
      out.searches[id] = makes[id];
      makes[id] = before = false;
      continue;
    }
    before = makes[id] || (before && (n.kind == NodeKind::Constant || masks.makes_positions(id)));
    if (!before) continue;
    makes[id] = true;
    out.reads[id] = masks.padding(n);
    for (ValueId v : n.operands) {
      if (v && v != out.reads[id]) makes[v.node] = true;
    }
  }
  return out;
}

/// Whether all elements are true, by which the host waits.
Result<ValueId> ask(GraphBuilder& b, ValueId truths, const Node& source) {
  Attrs attrs;
  attrs.set("keepdims", std::int64_t{1});
  attrs.set(std::string(kLaunched), std::int64_t{1});
  return b.value({.op = op("all"),
                  .operands = {truths},
                  .attrs = std::move(attrs),
                  .results = 1,
                  .name = source.name,
                  .loc = source.loc});
}

/// What the model asks of the search (masking_utils.py, find_packed_sequence_indices): is the last token of every row
/// of the first sequence?
Status ask_of_last(GraphBuilder& b, ValueId numbers, const Node& search) {
  const auto number = [&](std::int64_t x) { return b.constant(int64_vector({x})); };
  const ValueId last = number(-1), end = number(std::numeric_limits<std::int64_t>::max()), axis = number(1);
  const auto tokens = b.value({.op = op("strided_slice"),
                               .operands = {numbers, last, end, axis},
                               .results = 1,
                               .name = search.name,
                               .loc = search.loc});
  if (!tokens) return Failure{};
  Attrs attrs;
  attrs.set(std::string(kLaunched), std::int64_t{1});
  const auto first = b.value({.op = op("equal"),
                              .operands = {*tokens, b.constant(int64_scalar(0))},
                              .attrs = std::move(attrs),
                              .results = 1,
                              .name = search.name,
                              .loc = search.loc});
  if (!first) return Failure{};
  return ask(b, *first, search) ? Status{} : Status(Failure{});
}

/// What is still computed without them.
std::vector<bool> needed_without(const Graph& g, const Masks& masks, const Makers& makers) {
  std::vector<bool> live(g.size(), false);
  for (ValueId v : g.results()) live[v.node] = true;
  for (ValueId v : g.params()) live[v.node] = true;
  for (NodeId id = static_cast<NodeId>(g.size()); id-- > 0;) {
    const Node& n = g.node(id);
    if (is_launched_unread(n) && !makers.makes[id]) live[id] = true;
    if (!live[id]) {
      if (makers.reads[id]) live[makers.reads[id].node] = true;
      continue;
    }
    const Skips skips = masks.skips(id);
    if (skips == Skips::AddedMask) {
      live[n.operands[0].node] = true;
      continue;
    }
    if (skips != Skips::No) {
      for (ValueId v : unmasked(g, n, skips).operands) live[v.node] = true;
      continue;
    }
    for (ValueId v : n.operands) {
      if (v) live[v.node] = true;
    }
  }
  return live;
}

}  // namespace

Result<Graph> drop_trivial_masks(Graph graph, const PassOptions&, Diagnostics& diags) {
  const auto is = [&](OpId what) {
    return std::ranges::any_of(graph.nodes(), [&](const Node& n) { return n.kind == NodeKind::Call && n.is(what); });
  };
  if (!is(op("nn.sdpa")) && !is(op("nn.softmax"))) return graph;
  const Masks masks(graph);
  bool skips_none = true;
  for (NodeId id = 0; id < graph.size(); ++id) skips_none = skips_none && masks.skips(id) == Skips::No;
  if (skips_none) return graph;
  const Makers makers = makers_of(graph, masks);
  const auto live = needed_without(graph, masks, makers);
  Rewriter rewriter(graph, diags);
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node& n = graph.node(id);
    if (!live[id]) {
      if (makers.reads[id] && !ask(rewriter.builder(), rewriter[makers.reads[id]], n)) return Failure{};
      continue;
    }
    const Skips skips = masks.skips(id);
    if (skips == Skips::No) {
      if (!rewriter.copy(id)) return Failure{};
      if (makers.searches[id] && !ask_of_last(rewriter.builder(), rewriter[{id, 0}], n)) return Failure{};
      continue;
    }
    if (skips == Skips::AddedMask) {
      rewriter.map({id, 0}, rewriter[n.operands[0]]);
      continue;
    }
    CallSpec call = unmasked(graph, n, skips);
    for (ValueId& v : call.operands) v = rewriter[v];
    auto made = rewriter.builder().value(std::move(call));
    if (!made) return Failure{};
    rewriter.map({id, 0}, *made);
  }
  return rewriter.finish();
}

}  // namespace perfc::passes
