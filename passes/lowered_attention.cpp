/// Attention in formats without calls of libraries: heads that share keys are rows of one product, or keys are repeated
/// for them; a single sample's dim is missing; transposes and reshapes stand between the products, the softmax and the
/// mask. jax.nn.dot_product_attention, flax and torch_xla write it so.
#include <algorithm>

#include "ir/tables.h"
#include "passes/decomposed.h"

namespace perfc::passes {
namespace {

bool contains(const AtomList& list, Atom a) { return std::ranges::find(list, a) != list.end(); }

class LoweredAttention {
 public:
  explicit LoweredAttention(const MatchGraph& g) : g_(g) {}

  bool run(NodeId& root, Recognised& out) {
    second_ = root;
    if (!is_plain_product(g_.graph.node(root)) || !climb(g_.graph.node(root).operands[0])) return false;
    if (!meet_first() || !descend() || !meet_second(root)) return false;
    if (!sources() || !roles()) return false;
    out.op = group_.empty() ? op("nn.sdpa") : op("nn.attention");
    const AtomLayout queries{batch_, joined(heads_, group_), rows_, atoms_.parts(head_)},
        keys{batch_, heads_, atoms_.parts(keys_), atoms_.parts(head_)},
        values{batch_, heads_, atoms_.parts(keys_), atoms_.parts(width_)};
    out.operands = {query_.value, key_.value, value_.value};
    out.arranged = {rearranged(atoms_, query_.layout, queries), rearranged(atoms_, key_.layout, keys),
                    rearranged(atoms_, value_.layout, values)};
    if (mask_ && !add_mask(out)) return false;
    if (!scale_known_ && g_.contents == Contents::Kept) return false;
    if (scale_known_) out.attrs.set("scale", scale_.value_or(1));  // else the operator's default
    const AtomLayout made{batch_, joined(heads_, group_), rows_, atoms_.parts(width_)};
    out.result = rearranged(atoms_, made, atoms_.parts(result_));
    if (root != second_) interior_.push_back(second_);
    out.named = second_;
    out.interior = std::move(interior_);
    return true;
  }

 private:
  /// A value and which atoms its dims are.
  struct Placed {
    ValueId value;
    AtomLayout layout;
  };

  static AtomList joined(AtomList a, const AtomList& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }

  static bool is_plain_product(const Node& n) {
    return n.is(op("nn.batch_matmul")) && n.operands.size() == 2 && n.attrs.size() == 0;
  }
  static bool is_view(const Node& n) {
    const Moves moves = def(n.op).moves;
    return moves == Moves::Reshapes || moves == Moves::Permutes;
  }
  bool owned(ValueId v) const {
    return v && v.result == 0 && g_.node(v).kind == NodeKind::Call && g_.uses[v.node] == 1 && !g_.weight[v.node] &&
           g_.type(v).is_static();
  }

  /// The layout of a view's result, or with `back` of its operand.
  std::optional<AtomLayout> through(const Node& view, const AtomLayout& layout, bool back) {
    if (def(view.op).moves == Moves::Reshapes) {
      const Type& type = back ? g_.type(view.operands[0]) : view.results[0].type;
      return type.is_static() ? atoms_.reshaped(layout, type.shape()) : std::nullopt;
    }
    const auto& perm = view.attrs.ints_or_empty("perm");
    if (!view.is(op("transpose")) || perm.size() != layout.size()) return std::nullopt;
    AtomLayout out(layout.size());
    for (std::size_t i = 0; i < perm.size(); ++i) {
      const auto from = static_cast<std::size_t>(perm[i]);
      (back ? out[from] : out[i]) = layout[back ? i : from];
    }
    return out;
  }

  /// From the second product's left operand up to the first product: what stands there, from below.
  bool climb(ValueId at) {
    constexpr int kMostCalls = 16;
    bool softmax = false;
    for (int steps = 0; steps < kMostCalls; ++steps) {
      if (!owned(at)) return false;
      const Node& n = g_.node(at);
      interior_.push_back(at.node);
      if (n.is(op("nn.batch_matmul"))) {
        first_ = at.node;
        return softmax && is_plain_product(n);
      }
      path_.push_back({at.node, 0});
      if (is_view(n) || keeps_elements(def(n.op).moves)) {
        at = n.operands[0];
      } else if (n.is(op("nn.softmax")) && !softmax) {
        softmax = true;
        at = n.operands[0];
      } else if (softmax && scales(n)) {
        at = n.operands[g_.is_scalar(n.operands[1]) ? 0 : 1];
      } else if (softmax && !mask_ && masks(n)) {
        at = n.operands[path_.back().operand];
      } else {
        return false;
      }
    }
    return false;
  }

  /// A scaling by a scalar, which is noted.
  bool scales(const Node& n) {
    const bool divides = n.is(op("divide"));
    if (!divides && !n.is(op("multiply"))) return false;
    const std::size_t factor = g_.is_scalar(n.operands[1]) ? 1 : !divides && g_.is_scalar(n.operands[0]) ? 0 : 2;
    if (factor == 2) return false;
    const double value = g_.scalar_or(n.operands[factor], 0);
    if (value == 0) scale_known_ = false;
    else scale_ = scale_.value_or(1) * (divides ? 1 / value : value);
    return true;
  }

  /// An addition of, or a selection by, another tensor: its operand that leads on goes into the path.
  bool masks(const Node& n) {
    const auto same = [&](std::size_t i) { return g_.type(n.operands[i]) == n.results[0].type; };
    if (n.is(op("add"))) {
      const std::size_t on = owned(n.operands[0]) && same(0) && !g_.is_weight(n.operands[0]) ? 0 : 1;
      if (!same(on)) return false;
      path_.back().operand = on;
      mask_ = n.operands[1 - on];
      return true;
    }
    if (!n.is(op("where"))) return false;
    const std::size_t fill = g_.is_scalar(n.operands[2]) ? 2 : g_.is_scalar(n.operands[1]) ? 1 : 0;
    if (fill == 0 || !same(3 - fill)) return false;
    path_.back().operand = 3 - fill;
    mask_ = n.operands[0];
    return true;
  }

  /// The first product: what its dims are.
  bool meet_first() {
    const Node& n = g_.graph.node(first_);
    const Type &q = g_.type(n.operands[0]), &k = g_.type(n.operands[1]);
    if (!q.is_static() || !k.is_static() || q.rank() != k.rank() || q.rank() < 3 || q.dtype() != k.dtype() ||
        g_.is_weight(n.operands[0]) || g_.is_weight(n.operands[1]))
      return false;
    const std::size_t stack = q.rank() - 2;
    for (std::size_t i = 0; i < stack; ++i) {
      if (q.shape()[i] != k.shape()[i]) return false;
      stack_.push_back(atoms_.add(q.shape()[i].value()));
    }
    if (std::ranges::any_of(q.shape(), [](const Dim& d) { return d.is(0); }) || k.shape().back().is(0)) return false;
    asked_ = atoms_.add(q.shape()[stack].value());
    keys_ = atoms_.add(k.shape().back().value());
    head_ = atoms_.add(k.shape()[stack].value());
    query_ = {n.operands[0], stack_};
    query_.layout.insert(query_.layout.end(), {asked_, head_});
    key_ = {n.operands[1], stack_};
    key_.layout.insert(key_.layout.end(), {head_, keys_});
    scores_ = stack_;
    scores_.insert(scores_.end(), {asked_, keys_});
    return true;
  }

  /// Down again to the second product.
  bool descend() {
    for (auto step = path_.rbegin(); step != path_.rend(); ++step) {
      const Node& n = g_.graph.node(step->node);
      if (is_view(n)) {
        auto next = through(n, scores_, false);
        if (!next) return false;
        scores_ = *std::move(next);
      } else if (n.is(op("nn.softmax"))) {
        const auto axis = normalized_axis(n.attrs.int_or("axis", -1), scores_.size());
        if (!axis || atoms_.parts(scores_[*axis]) != atoms_.parts(keys_)) return false;
      } else if (const bool added = n.is(op("add")); added || n.is(op("where"))) {
        masked_ = scores_;
      }
    }
    return true;
  }

  bool meet_second(NodeId& root) {
    const Node& n = g_.graph.node(root);
    const Type &p = g_.type(n.operands[0]), &v = g_.type(n.operands[1]);
    if (!p.is_static() || !v.is_static() || p.rank() != v.rank() || p.rank() != scores_.size()) return false;
    if (v.dtype() != g_.type(query_.value).dtype() || v.shape().back().is(0)) return false;
    if (atoms_.parts(scores_.back()) != atoms_.parts(keys_) ||
        !std::equal(p.shape().begin(), p.shape().end() - 2, v.shape().begin()))
      return false;
    width_ = atoms_.add(v.shape().back().value());
    value_ = {n.operands[1], AtomLayout(scores_.begin(), scores_.end() - 2)};
    value_.layout.insert(value_.layout.end(), {keys_, width_});
    result_ = AtomLayout(scores_.begin(), scores_.end() - 1);
    result_.push_back(width_);
    while (g_.uses[root] == 1 && g_.reader[root] && is_view(g_.graph.node(*g_.reader[root]))) {
      const Node& view = g_.graph.node(*g_.reader[root]);
      if (view.operands[0] != ValueId{root, 0} || !view.results[0].type.is_static()) break;
      auto next = through(view, result_, false);
      if (!next) break;
      result_ = *std::move(next);
      if (root != second_) interior_.push_back(root);
      root = *g_.reader[root];
    }
    return true;
  }

  /// Up to what the products' operands are views of. Keys and values may have been repeated on the way.
  bool source(Placed& at, bool repeats) {
    while (owned(at.value)) {
      const Node& n = g_.node(at.value);
      std::optional<AtomLayout> before;
      if (is_view(n)) {
        before = through(n, at.layout, true);
      } else if (repeats && n.is(op("broadcast_to")) && g_.type(n.operands[0]).is_static()) {
        before = unrepeated(at.layout, g_.type(n.operands[0]).shape(), g_.type(at.value).shape());
      } else if (const std::size_t on = g_.is_scalar(n.operands.back()) ? 0 : 1;
                 at.value != value_.value && scales(n)) {
        interior_.push_back(at.value.node);
        at.value = n.operands[on];
        continue;
      }
      if (!before) break;
      interior_.push_back(at.value.node);
      at = {n.operands[0], *std::move(before)};
    }
    return g_.type(at.value).is_static();
  }

  static std::optional<AtomLayout> unrepeated(const AtomLayout& layout, const Shape& from, const Shape& to) {
    if (from.size() > to.size() || to.size() != layout.size()) return std::nullopt;
    AtomLayout out;
    for (std::size_t i = 0; i < to.size(); ++i) {
      const std::size_t missing = to.size() - from.size();
      if (i < missing) continue;
      out.push_back(from[i - missing] == to[i] ? layout[i] : AtomList{});
    }
    return out;
  }

  bool sources() {
    if (!source(query_, false) || !source(key_, true) || !source(value_, true)) return false;
    for (Placed* p : {&query_, &key_, &value_}) p->layout = atoms_.parts(p->layout);
    return true;
  }

  /// Which atoms are samples, heads, heads of a group, and queries.
  bool roles() {
    const AtomList asked = atoms_.parts(asked_), of_keys = atoms_.flat(key_.layout),
                   of_values = atoms_.flat(value_.layout), stack = atoms_.flat(stack_);
    AtomList shared;
    for (const Atom a : stack) {
      if (contains(of_keys, a) != contains(of_values, a)) return false;
      (contains(of_keys, a) ? shared : group_).push_back(a);
    }
    for (const Atom a : asked) {
      if (contains(of_keys, a) || contains(of_values, a)) return false;
    }
    const AtomList order = atoms_.flat(query_.layout);
    const auto follows = [&](Atom a, Atom b) {
      const auto at = std::ranges::find(order, a);
      return at != order.end() && at + 1 != order.end() && at[1] == b;
    };
    rows_ = asked;
    if (group_.empty() && asked.size() == 2) {
      const std::size_t grouped = of_two(asked, shared, follows);
      group_ = {asked[grouped]};
      rows_ = {asked[1 - grouped]};
    } else if (group_.empty() && asked.size() == 1 && shared.size() > 1 && one_dim(shared.back(), asked[0])) {
      group_ = asked;  // a single query
      rows_.clear();
    }
    if (rows_.size() > 1 || group_.size() > 1) return false;
    batch_ = shared;
    const bool has_heads =
        !shared.empty() && (group_.empty() || shared.size() > 1 || follows(shared.back(), group_[0]));
    if (has_heads) {
      heads_ = {shared.back()};
      batch_.pop_back();
    }
    return true;
  }

  /// Which of two atoms of rows is the one of heads: a mask of positions does not have it; else it is the inner part
  /// of the heads in the queries' source, else the smaller one.
  template <class Follows>
  std::size_t of_two(const AtomList& asked, const AtomList& shared, const Follows& follows) const {
    if (mask_) {
      const AtomList masked = atoms_.flat(placed_mask());
      const bool first = contains(masked, asked[0]), second = contains(masked, asked[1]);
      if (first != second) return first ? 1 : 0;
    }
    for (std::size_t i = 0; i < 2 && !shared.empty(); ++i) {
      if (follows(shared.back(), asked[i])) return i;
    }
    return atoms_.extent({asked[0]}) < atoms_.extent({asked[1]}) ? 0 : 1;
  }

  /// Do two atoms stand one behind the other in a dim of the queries' source?
  bool one_dim(Atom a, Atom b) const {
    return std::ranges::any_of(query_.layout, [&](const AtomList& dim) {
      const auto at = std::ranges::find(dim, a);
      return at != dim.end() && at + 1 != dim.end() && at[1] == b;
    });
  }

  /// What the dims of the mask are among those of the scores where it stands; empty where it does not broadcast so.
  AtomLayout placed_mask() const {
    const Type& type = g_.type(mask_);
    AtomLayout out;
    if (!type.is_static() || type.rank() > masked_.size()) return out;
    const std::size_t missing = masked_.size() - type.rank();
    for (std::size_t i = 0; i < type.rank(); ++i)
      out.push_back(type.shape()[i].is(1) ? AtomList{} : atoms_.parts(masked_[missing + i]));
    return out;
  }

  bool add_mask(Recognised& out) {
    const AtomLayout from = placed_mask();
    if (!g_.type(mask_).is_static() || (from.empty() && g_.type(mask_).rank() > 0)) return false;
    if (is_zeros(g_.node(mask_))) return true;  // hides nothing
    const AtomList has = atoms_.flat(from);
    const AtomList heads = joined(heads_, group_);
    const auto part = [&](const AtomList& whole) {  // all, none, or neither
      const auto count = std::ranges::count_if(whole, [&](Atom a) { return contains(has, a); });
      return count == 0                                        ? std::optional(AtomList{})
             : static_cast<std::size_t>(count) == whole.size() ? std::optional(whole)
                                                               : std::nullopt;
    };
    const auto samples = part(batch_), of_heads = part(heads), rows = part(rows_), keys = part(atoms_.parts(keys_));
    if (!samples || !of_heads || !rows || !keys) return false;
    AtomLayout to{*samples, *of_heads, *rows, *keys};
    while (to.size() > from.size() && to.front().empty()) to.erase(to.begin());  // masks broadcast
    const ValueId chosen = chosen_by(g_, mask_, interior_);
    const bool by_places = samples->empty() && of_heads->empty() && !rows->empty() && !keys->empty();
    // PyTorch groups heads without a mask only (transformers' use_gqa_in_sdpa): else keys and values are repeated.
    if (!group_.empty() && by_places && is_causal(g_, chosen)) {
      out.attrs.set("is_causal", std::int64_t{1});
      return true;
    }
    if (!group_.empty()) {
      out.op = op("nn.sdpa");
      out.repeats = atoms_.extent(group_);
    }
    out.operands.push_back(chosen);
    out.arranged.push_back(rearranged(atoms_, from, to));
    return true;
  }

  struct Step {
    NodeId node;
    std::size_t operand;
  };

  const MatchGraph& g_;
  Atoms atoms_;
  NodeId first_ = 0, second_ = 0;
  std::vector<Step> path_;  ///< between the products, from below
  std::vector<NodeId> interior_;
  Placed query_, key_, value_;
  ValueId mask_;
  AtomLayout stack_, scores_, masked_, result_;
  AtomList asked_, keys_, head_, width_;  ///< rows of the first product, keys, channels of keys and of values
  AtomList batch_, heads_, group_, rows_;
  std::optional<double> scale_;
  bool scale_known_ = true;
};

}  // namespace

bool recognise_lowered_attention(const MatchGraph& g, NodeId& root, Recognised& out) {
  return LoweredAttention(g).run(root, out);
}

}  // namespace perfc::passes
