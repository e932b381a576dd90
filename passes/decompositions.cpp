/// Finds what the rows of decomposed.cpp describe.
#include <algorithm>

#include "ir/support/text.h"
#include "passes/decomposed.h"

namespace perfc::passes {
namespace {

/// A match must not change what users of the root see. Operators without an x have the type of their rule.
bool keeps_type(const MatchGraph& g, NodeId root, const Match& match) {
  return !match["x"] || g.graph.type({root, 0}) == g.type(match["x"]);
}

}  // namespace

Decompositions::Decompositions() : by_root_(op_table().size()) {
  for (const DecomposedOp& row : decomposed_ops()) rows_.push_back({&row, Pattern(row.pattern)});
  for (const Row& row : rows_) {
    std::vector<OpId> roots = row.pattern.roots();
    std::sort(roots.begin(), roots.end());
    roots.erase(std::unique(roots.begin(), roots.end()), roots.end());
    for (OpId root : roots) by_root_[index_of(root)].push_back(&row);
  }
}

std::vector<std::pair<NodeId, Recognised>> Decompositions::find(const MatchGraph& g, Recognise what) const {
  std::vector<std::pair<NodeId, Recognised>> found;
  std::vector<bool> taken(g.graph.size(), false);
  const auto take = [&](NodeId root, Recognised r) {
    if (std::any_of(r.interior.begin(), r.interior.end(), [&](NodeId id) { return taken[id]; })) return;
    taken[root] = true;
    for (NodeId id : r.interior) taken[id] = true;
    found.emplace_back(root, std::move(r));
  };
  // From the results backwards: the last call of the largest pattern comes first.
  for (NodeId id = static_cast<NodeId>(g.graph.size()); id-- > 0;) {
    const Node& n = g.graph.node(id);
    if (n.kind != NodeKind::Call || taken[id] || n.results.size() != 1) continue;
    if (what == Recognise::Lowered && n.is(op("nn.batch_matmul"))) {
      NodeId last = id;
      if (Recognised attention; recognise_lowered_attention(g, last, attention) && !taken[last]) {
        take(last, std::move(attention));
        continue;
      }
    }
    if (Recognised attention; n.is(op("nn.batch_matmul")) && recognise_attention(g, id, what, attention)) {
      // Exporters write scaled_dot_product_attention out in a way of their own; the rest are calls of the program.
      const bool by_program = attention.attrs.int_or("explicit", 0) == 1;
      if (what != Recognise::Operators || !by_program) {
        take(id, std::move(attention));
        continue;
      }
    }
    for (const Row* row : by_root_[index_of(n.op)]) {
      if (what == Recognise::Operators && row->op->spelt_by == SpeltBy::Programs) continue;
      Match match;
      Attrs attrs;
      if (!row->pattern.match(g, id, match) || !keeps_type(g, id, match)) continue;
      if (!row->op->accept(g, match, attrs)) continue;
      Recognised r{.op = *find_op(row->op->op),
                   .attrs = std::move(attrs),
                   .vectors_from = row->op->vectors_from,
                   .interior = std::move(match.interior)};
      for (std::string_view rest = row->op->operands; !rest.empty();) r.operands.push_back(match[next_word(rest)]);
      take(id, std::move(r));
      break;
    }
  }
  return found;
}

}  // namespace perfc::passes
