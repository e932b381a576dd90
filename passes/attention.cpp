#include <algorithm>

#include "ir/eager_marks.h"
#include "ir/tables.h"
#include "passes/decomposed.h"

namespace perfc::passes {
namespace {

/// Follows operands from the second product up to the first, gathering what
/// stands between. Every call on the way must have no other user.
class AttentionMatcher {
 public:
  AttentionMatcher(const MatchGraph& g, Recognise what) : g_(g), lowered_(what == Recognise::Lowered) {}

  bool run(NodeId root, Recognised& out) {
    const Node& product = g_.graph.node(root);
    if (!is_plain_product(product)) return false;
    ValueId at = strip(product.operands[0]);
    const bool guarded = unguard(at);
    if (!guarded) unguard_empty_rows(at);
    const bool alone = at && at.result == 0 && g_.uses[at.node] == (guarded ? 2 : 1) && !g_.weight[at.node];
    if (!alone || !g_.node(at).is(op("nn.softmax")) || !over_last(at)) return false;
    at = enter(at, 0);
    if (!scores(at)) return false;

    const ValueId value = product.operands[1];
    if (!compatible(value)) return false;
    out.op = op("nn.sdpa");
    out.operands = {query_, key_, value};
    if (mask_ && is_zeros(g_.node(mask_))) mask_ = {};  // hides nothing: the model was exported without padding
    if (mask_) out.operands.push_back(chosen_by(g_, mask_, interior_));
    // onnxscript guards the softmax of a mask of bools alone (torch_lib/ops/nn.py).
    out.mask_of_bools = mask_ && guarded && g_.is_weight(out.operands.back()) &&
                        g_.type(out.operands.back()).ranked() && is_float(g_.type(out.operands.back()).dtype());
    const bool kept = g_.contents == Contents::Kept;  // without the attribute the operator scales by 1/√E
    if (kept && !scale_known_) return false;
    if (scale_ || kept) out.attrs.set("scale", scale_.value_or(1));
    if (!(scaled_query_ && scaled_key_) && !by_exporter_ && !lowered_) {
      out.attrs.set("explicit", std::int64_t{1});
      if (scaled_scores_) out.attrs.set("scaled", divided_scores_ ? "quotients" : "scores");
      if (fills_copy_) out.attrs = with_mark(std::move(out.attrs), kOnCopy);
    }
    out.key_perm = key_perm_;
    out.query_views = std::move(query_views_);
    out.interior = std::move(interior_);
    return true;
  }

 private:
  static bool rearranges(Moves m) { return m == Moves::Reshapes || m == Moves::Permutes; }

  static bool is_plain_product(const Node& n) {
    const bool scaled = n.attrs.float_or("alpha", 1) != 1;
    return n.is(op("nn.batch_matmul")) && !scaled && n.attrs.int_or("transA", 0) == 0 &&
           n.attrs.int_or("transB", 0) == 0 && n.attrs.int_or("transBatchA", 0) == 0 &&
           n.attrs.int_or("transBatchB", 0) == 0;
  }

  /// A call that only the one below it uses.
  bool owned(ValueId v) const {
    const std::uint32_t uses = v == tested_ ? 2 : 1;
    return v && v.result == 0 && g_.node(v).kind == NodeKind::Call && g_.uses[v.node] == uses && !g_.weight[v.node];
  }

  ValueId enter(ValueId v, std::size_t operand) {
    interior_.push_back(v.node);
    return g_.node(v).operands[operand];
  }

  /// Goes up through calls that keep contents.
  ValueId strip(ValueId v) {
    while (owned(v) && keeps_elements(def(g_.node(v).op).moves)) { v = enter(v, 0); }
    return v;
  }

  /// Goes up through PyTorch's guard of rows that are masked throughout,
  /// where(isnan(s), 0, s), to s.
  bool unguard(ValueId& v) {
    if (!owned(v) || !g_.node(v).is(op("where"))) return false;
    const Node& guard = g_.node(v);
    const ValueId test = guard.operands[0], scores = guard.operands[2];
    if (!owned(test) || !g_.node(test).is(op("isnan")) || g_.node(test).operands[0] != scores) return false;
    if (!g_.is_scalar(guard.operands[1]) || g_.type(scores) != g_.type(v)) return false;
    interior_.push_back(v.node);
    interior_.push_back(test.node);
    v = scores;
    return true;
  }

  /// The same guard as run_decompositions() writes it: where(not any(not (scores = −∞)), 0, softmax(scores)).
  void unguard_empty_rows(ValueId& v) {
    if (!owned(v) || !g_.node(v).is(op("where"))) return;
    const Node& guard = g_.node(v);
    std::vector<NodeId> test{v.node};
    ValueId at = guard.operands[0];
    const auto goes_up = [&](OpId through) {
      if (!owned(at) || !g_.node(at).is(through)) return false;
      test.push_back(at.node);
      at = g_.node(at).operands[0];
      return true;
    };
    if (!goes_up(op("logical_not"))) return;
    if (!goes_up(op("any"))) return;
    if (!goes_up(op("logical_not"))) return;
    if (!goes_up(op("equal"))) return;
    const ValueId weights = guard.operands[2], zeros = guard.operands[1];
    if (!g_.node(weights).is(op("nn.softmax")) || g_.node(weights).operands[0] != at) return;
    if (g_.node(zeros).is(op("full")) && g_.uses[zeros.node] == 1) test.push_back(zeros.node);
    interior_.insert(interior_.end(), test.begin(), test.end());
    tested_ = at;
    by_exporter_ = true;
    v = weights;
  }

  bool over_last(ValueId v) const {
    const std::int64_t axis = g_.node(v).attrs.int_or("axis", -1);
    return axis == -1 || (g_.type(v).ranked() && axis + 1 == static_cast<std::int64_t>(g_.type(v).rank()));
  }

  /// Goes up through one scaling by a scalar, if there is one.
  bool scaled(ValueId& v) {
    if (!owned(v)) return false;
    const Node& n = g_.node(v);
    const bool divides = n.is(op("divide"));
    if (!divides && !n.is(op("multiply"))) return false;
    const std::size_t factor = g_.is_scalar(n.operands[1]) ? 1 : !divides && g_.is_scalar(n.operands[0]) ? 0 : 2;
    if (factor == 2) return false;
    const double value = g_.scalar_or(n.operands[factor], 0);
    if (value == 0) {
      scale_known_ = false;
      scale_.reset();
    } else if (scale_known_) {
      scale_ = scale_.value_or(1) * (divides ? 1 / value : value);
    }
    v = enter(v, 1 - factor);
    return true;
  }

  /// Queries that were scaled before views of them were taken, as flax and equinox do.
  void scaled_below_views() {
    std::vector<NodeId> views;
    ValueId at = query_;
    for (; owned(at) && rearranges(def(g_.node(at).op).moves); at = g_.node(at).operands[0]) views.push_back(at.node);
    if (views.empty()) return;
    const std::size_t before = interior_.size();
    while (scaled(at)) scaled_query_ = true;
    if (interior_.size() == before) return;
    query_ = at;
    interior_.insert(interior_.end(), views.begin(), views.end());
    query_views_.assign(views.rbegin(), views.rend());
  }

  /// Whether the first product is further up from here.
  bool leads_to_product(ValueId v) const {
    for (int steps = 0; steps < 6 && owned(v); ++steps) {
      const Node& n = g_.node(v);
      const OnScores effect = def(n.op).on_scores;
      if (n.is(op("nn.batch_matmul")) || effect == OnScores::Masks) return true;
      if (effect == OnScores::Scales) {
        v = g_.is_scalar(n.operands[0]) ? n.operands[1] : n.operands[0];
      } else if (keeps_elements(def(n.op).moves)) {
        v = n.operands[0];
      } else {
        return false;
      }
    }
    return false;
  }

  bool scores(ValueId at) {
    for (int steps = 0; steps < 8; ++steps) {
      at = strip(at);
      const bool divides = owned(at) && g_.node(at).is(op("divide"));
      if (scaled(at)) {
        scaled_scores_ = true;
        divided_scores_ = divides;
        continue;
      }
      if (!owned(at)) return false;
      const Node& n = g_.node(at);
      if (n.is(op("nn.batch_matmul"))) return product(at);
      if (mask_) return false;
      if (n.is(op("add"))) {
        const std::size_t path = leads_to_product(n.operands[0]) ? 0 : 1;
        if (g_.type(n.operands[path]) != g_.type(at)) return false;
        mask_ = n.operands[1 - path];
        at = enter(at, path);
      } else if (n.is(op("where"))) {
        const std::size_t fill = g_.is_scalar(n.operands[1]) ? 1 : g_.is_scalar(n.operands[2]) ? 2 : 0;
        if (fill == 0) return false;
        if (g_.type(n.operands[3 - fill]) != g_.type(at)) return false;
        mask_ = n.operands[0];
        fills_copy_ = n.attrs.has(kOnCopy);
        at = enter(at, 3 - fill);
      } else {
        return false;
      }
    }
    return false;
  }

  bool product(ValueId at) {
    const Node& n = g_.node(at);
    if (!is_plain_product(n) || g_.is_weight(n.operands[0]) || g_.is_weight(n.operands[1])) return false;
    interior_.push_back(at.node);
    query_ = n.operands[0];
    while (scaled(query_)) scaled_query_ = true;
    queries_ = g_.type(query_);
    if (lowered_) scaled_below_views();
    key_ = n.operands[1];
    while (scaled(key_)) scaled_key_ = true;

    const Type& type = g_.type(key_);
    if (!type.ranked() || type.rank() < 2) return false;
    std::vector<std::int64_t> perm(type.rank());
    for (std::size_t i = 0; i < perm.size(); ++i) perm[i] = static_cast<std::int64_t>(i);
    if (const Node& k = g_.node(key_); k.is(op("transpose")) && k.attrs.ints_or_empty("perm").size() == perm.size()) {
      perm = k.attrs.ints_or_empty("perm");
      if (owned(key_)) interior_.push_back(key_.node);
      key_ = k.operands[0];
      while (scaled(key_)) scaled_key_ = true;
    } else if (const ValueId keys = turned_in_three_dims(key_)) {
      std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
      key_ = keys;
    }
    std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);  // (…, E, S) → (…, S, E)
    bool identity = true;
    for (std::size_t i = 0; i < perm.size(); ++i) identity = identity && perm[i] == static_cast<std::int64_t>(i);
    if (!identity) key_perm_ = std::move(perm);
    return true;
  }

  /// PyTorch's dynamo exporter turns keys (…, S, E) as reshape to (N, S, E), transpose,
  /// reshape to (…, E, S). The keys, or nothing.
  ValueId turned_in_three_dims(ValueId v) {
    if (!owned(v) || !g_.node(v).is(op("reshape"))) return {};
    const ValueId turned = g_.node(v).operands[0];
    if (!owned(turned) || !g_.node(turned).is(op("transpose"))) return {};
    if (g_.node(turned).attrs.ints_or_empty("perm") != std::vector<std::int64_t>{0, 2, 1}) return {};
    const ValueId flat = g_.node(turned).operands[0];
    if (!owned(flat) || !g_.node(flat).is(op("reshape"))) return {};
    const ValueId keys = g_.node(flat).operands[0];
    if (!g_.type(keys).ranked() || !g_.type(flat).ranked()) return {};
    Shape expected = g_.type(keys).shape();
    const Shape& three = g_.type(flat).shape();
    if (expected.size() < 3 || three.size() != 3 || three[1] != expected[expected.size() - 2] ||
        three[2] != expected.back())
      return {};
    std::swap(expected[expected.size() - 1], expected[expected.size() - 2]);
    if (g_.type(v).shape() != expected) return {};
    interior_.insert(interior_.end(), {v.node, turned.node, flat.node});
    by_exporter_ = true;
    return keys;
  }

  /// Leading dims of the queries, to which keys and values may broadcast, and
  /// the extents that the products contract.
  bool compatible(ValueId value) const {
    const Type& q = queries_;
    const Type& k = g_.type(key_);
    const Type& v = g_.type(value);
    if (!q.ranked() || !k.ranked() || !v.ranked() || q.rank() < 3 || q.rank() != k.rank() || q.rank() != v.rank())
      return false;
    if (q.dtype() != k.dtype() || q.dtype() != v.dtype()) return false;
    const auto key_dim = [&](std::size_t i) {
      return k.shape()[key_perm_.empty() ? i : static_cast<std::size_t>(key_perm_[i])];
    };
    const std::size_t last = q.rank() - 1;
    for (std::size_t i = 0; i + 1 < last; ++i) {
      if (q.shape()[i] != key_dim(i) && !key_dim(i).is(1)) return false;
      if (q.shape()[i] != v.shape()[i] && !v.shape()[i].is(1)) return false;
    }
    return q.shape()[last] == key_dim(last) && key_dim(last - 1) == v.shape()[last - 1];
  }

  const MatchGraph& g_;
  const bool lowered_;
  std::vector<NodeId> interior_;
  ValueId query_, key_, mask_;
  Type queries_;  ///< with the views on `query_`
  std::vector<std::int64_t> key_perm_;
  std::vector<NodeId> query_views_;  ///< from the innermost; `query_` is what the first of them sees
  std::optional<double> scale_;
  bool scale_known_ = true;
  bool scaled_scores_ = false, divided_scores_ = false, fills_copy_ = false;
  bool scaled_query_ = false;
  bool scaled_key_ = false;
  ValueId tested_;            ///< scores that a guard looks at, too
  bool by_exporter_ = false;  ///< written as no program does, only what exporters put for scaled_dot_product_attention
};

}  // namespace

ValueId chosen_by(const MatchGraph& g, ValueId mask, std::vector<NodeId>& interior) {
  constexpr double kForbidden = -1e4;  // exporters write −∞, the least float or −10⁴
  const Node& n = g.node(mask);
  if (n.kind != NodeKind::Call || !n.is(op("where")) || !g.is_scalar(n.operands[1]) || !g.is_scalar(n.operands[2]))
    return mask;
  const bool keeps = g.scalar_or(n.operands[1], 1) == 0 && g.scalar_or(n.operands[2], 0) <= kForbidden;
  if (!keeps || !g.type(n.operands[0]).ranked() || g.type(n.operands[0]).shape() != g.type(mask).shape()) return mask;
  if (g.uses[mask.node] == 1) interior.push_back(mask.node);
  return n.operands[0];
}

bool recognise_attention(const MatchGraph& g, NodeId root, Recognise what, Recognised& out) {
  return AttentionMatcher(g, what).run(root, out);
}

}  // namespace perfc::passes
