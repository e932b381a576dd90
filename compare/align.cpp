#include "compare/align.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>

#include "compare/common_subsequence.h"
#include "ir/text/printer.h"

namespace perfc {
namespace {

constexpr std::size_t kForms = 3;  ///< as strict as can be, without types, without attributes too
using Forms = std::array<std::string, kForms>;

/// Bodies by their signatures.
using BodyTexts = std::unordered_map<const Graph*, std::string>;

std::string attributes_text(const Node& n) {
  std::string out;
  for (const auto& [key, value] : n.attrs) out += fmt::format(" {}={}", key, print_attr(value));
  return out;
}

Forms forms_of(const Graph& graph, const Node& n, const BodyTexts& bodies) {
  Forms out;
  if (n.kind == NodeKind::Constant) return out;
  const std::string what(n.kind == NodeKind::Var ? "input" : def(n.op).name);
  std::string types = "(";
  for (const ValueId v : n.operands)
    types += (types.size() > 1 ? ", " : "") + (v ? to_string(graph.type(v)) : std::string("_"));
  types += ") →";
  for (const ResultInfo& r : n.results) types += " " + to_string(r.type);
  for (const GraphRef& body : n.regions) types += " {" + bodies.at(body.get()) + "}";
  const std::string with_attributes = what + attributes_text(n);
  return {with_attributes + " " + types, with_attributes, what};
}

std::vector<Forms> forms(const Graph& graph) {
  BodyTexts bodies;
  const std::vector<const Graph*> graphs = with_bodies(graph);
  std::vector<Forms> out;
  for (auto g = graphs.rbegin(); g != graphs.rend(); ++g) {  // inner ones first
    std::vector<Forms> of_nodes;
    for (const Node& n : (*g)->nodes()) of_nodes.push_back(forms_of(**g, n, bodies));
    if (*g == &graph) {
      out = std::move(of_nodes);
      continue;
    }
    std::size_t digest = 0;
    for (const Forms& f : of_nodes) digest = digest * 0x9e3779b97f4a7c15ULL + std::hash<std::string>{}(f[0]);
    bodies[*g] = fmt::format("{:016x}", digest);
  }
  return out;
}

/// One graph as the alignment sees it.
struct Side {
  const Graph& graph;
  std::vector<NodeId> nodes;                               ///< but for constants
  std::array<std::vector<std::uint32_t>, kForms> symbols;  ///< by place in `nodes`
  std::vector<std::size_t> partner = {};                   ///< by place; the other side's place
  const std::string& node_name(std::size_t place) const { return graph.node(nodes[place]).name; }
};
constexpr std::size_t kAlone = static_cast<std::size_t>(-1);

Side side_of(const Graph& graph, std::unordered_map<std::string, std::uint32_t>& numbers) {
  Side s{graph, {}, {}};
  std::vector<Forms> texts = forms(graph);
  for (NodeId id = 0; id < graph.size(); ++id) {
    if (graph.node(id).kind == NodeKind::Constant) continue;
    s.nodes.push_back(id);
    for (std::size_t f = 0; f < kForms; ++f)
      s.symbols[f].push_back(numbers.try_emplace(std::move(texts[id][f]), numbers.size()).first->second);
  }
  s.partner.assign(s.nodes.size(), kAlone);
  return s;
}

/// Pairs what neither side has paired yet, between neighbouring pairs.
void pair_gaps(Side& base, Side& head, std::size_t form) {
  const auto& a = base.symbols[form];
  const auto& b = head.symbols[form];
  std::size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    const std::size_t i0 = i, j0 = j;
    while (i < a.size() && base.partner[i] == kAlone) ++i;
    while (j < b.size() && head.partner[j] == kAlone) ++j;
    const std::span gap_a(a.data() + i0, i - i0), gap_b(b.data() + j0, j - j0);
    for (const auto& [x, y] : common_subsequence(gap_a, gap_b)) {
      base.partner[i0 + x] = j0 + y;
      head.partner[j0 + y] = i0 + x;
    }
    if (i < a.size()) ++i;
    if (j < b.size()) ++j;
  }
}

/// Where `in` has a run [first, last) that is alone and `other` has nothing in its place, the run may as well be some
/// places earlier or later, where its operators repeat: it goes where most names are equal, and stays where none is
/// more. No pair becomes less alike by it.
void slide_run(Side& in, Side& other, std::size_t first, std::size_t last) {
  const auto same_name = [&](std::size_t place, std::size_t partner) {
    return !in.node_name(place).empty() && in.node_name(place) == other.node_name(partner);
  };
  // Whether `place` is as much like the partner of `paired` as that is.
  const auto as_alike = [&](std::size_t place, std::size_t paired) {
    std::size_t form = 0;
    while (in.symbols[form][paired] != other.symbols[form][in.partner[paired]]) ++form;
    return in.symbols[form][place] == in.symbols[form][paired];
  };
  // Gains of moving the run k places down (k > 0) or up, by how names agree afterwards.
  std::ptrdiff_t best = 0, gain = 0, most = 0;
  for (std::size_t k = 0; last + k < in.nodes.size(); ++k) {
    const std::size_t partner = in.partner[last + k];
    if (partner == kAlone || !as_alike(first + k, last + k)) break;
    if (k > 0 && in.partner[last + k - 1] + 1 != partner) break;
    gain += same_name(first + k, partner) - same_name(last + k, partner);
    if (gain > most) most = gain, best = static_cast<std::ptrdiff_t>(k) + 1;
  }
  gain = 0;
  for (std::size_t k = 1; k <= first; ++k) {
    const std::size_t partner = in.partner[first - k];
    if (partner == kAlone || !as_alike(last - k, first - k)) break;
    if (k > 1 && in.partner[first - k + 1] != partner + 1) break;
    gain += same_name(last - k, partner) - same_name(first - k, partner);
    if (gain > most) most = gain, best = -static_cast<std::ptrdiff_t>(k);
  }
  const auto move = [&](std::size_t from, std::size_t to) {
    in.partner[to] = std::exchange(in.partner[from], kAlone);
    other.partner[in.partner[to]] = to;
  };
  for (std::ptrdiff_t k = 0; k < best; ++k) move(last + k, first + k);
  for (std::ptrdiff_t k = 1; k <= -best; ++k) move(first - k, last - k);
}

void slide_runs(Side& in, Side& other) {
  for (std::size_t i = 0; i < in.nodes.size(); ++i) {
    if (in.partner[i] != kAlone) continue;
    const std::size_t first = i;
    while (i < in.nodes.size() && in.partner[i] == kAlone) ++i;
    const std::size_t before = first > 0 ? in.partner[first - 1] + 1 : 0;
    const std::size_t behind = i < in.nodes.size() ? in.partner[i] : other.nodes.size();
    if (before == behind) slide_run(in, other, first, i);
  }
}

/// By node, the node of the other graph that it is paired with.
std::vector<NodeId> node_partners(const Side& of, const Side& other) {
  std::vector<NodeId> out(of.graph.size(), ValueId::kNone);
  for (std::size_t i = 0; i < of.nodes.size(); ++i) {
    if (of.partner[i] != kAlone) out[of.nodes[i]] = other.nodes[of.partner[i]];
  }
  return out;
}

/// Whether an operand is another operator's result although both operators are in both versions.
bool rewired(const Node& base, const Node& head, const std::vector<NodeId>& of_base,
             const std::vector<NodeId>& of_head) {
  for (std::size_t i = 0; i < std::min(base.operands.size(), head.operands.size()); ++i) {
    const ValueId b = base.operands[i], h = head.operands[i];
    if (!b || !h || of_base[b.node] == ValueId::kNone || of_head[h.node] == ValueId::kNone) continue;
    if (of_base[b.node] != h.node || b.result != h.result) return true;
  }
  return false;
}

ChangeKind kind_of(const Side& base, std::size_t i, const Side& head, std::size_t j) {
  if (base.symbols[0][i] == head.symbols[0][j]) return ChangeKind::None;
  if (base.symbols[1][i] == head.symbols[1][j]) return ChangeKind::Reshaped;
  // What only moves data names shapes in its attributes.
  const Node& n = base.graph.node(base.nodes[i]);
  const bool moves = n.kind == NodeKind::Call && def(n.op).category == Category::DataMovement;
  return moves ? ChangeKind::Reshaped : ChangeKind::Altered;
}

std::string types_text(const Node& n) {
  std::string out;
  for (const ResultInfo& r : n.results) out += (out.empty() ? "" : ", ") + to_string(r.type);
  return n.results.empty() ? std::string("nothing") : out;
}

void append(std::string& out, const std::string& what) { out += (out.empty() ? "" : "; ") + what; }

/// "A → B", of tensors of one element type their shapes.
std::string step_text(const Type& before, const Type& after) {
  const bool shapes =
      before.is_tensor() && after.is_tensor() && before.ranked() && after.ranked() && before.dtype() == after.dtype();
  return shapes ? fmt::format("{} → {}", to_string(before.shape()), to_string(after.shape()))
                : fmt::format("{} → {}", to_string(before), to_string(after));
}

std::string reshaped_text(const Graph& base, const Node& b, const Graph& head, const Node& h) {
  const std::string before = types_text(b), after = types_text(h);
  std::string out;
  if (before != after) {
    const bool one = b.results.size() == 1 && h.results.size() == 1;
    append(out, one ? step_text(b.results[0].type, h.results[0].type) : fmt::format("{} → {}", before, after));
  }
  for (std::size_t i = 0; i < std::max(b.operands.size(), h.operands.size()); ++i) {
    const auto type = [&](const Graph& g, const Node& n) {
      return i < n.operands.size() && n.operands[i] ? g.type(n.operands[i]) : Type();
    };
    const Type was = type(base, b), is = type(head, h);
    const bool weight = i < h.operands.size() && h.operands[i] && head.node(h.operands[i]).kind == NodeKind::Constant;
    if (was == is || (!weight && before != after)) continue;
    append(out, fmt::format("{} {}: {}", weight ? "weight" : "operand", i, step_text(was, is)));
  }
  return out.empty() ? "its body" : out;
}

std::string altered_text(const Node& b, const Node& h) {
  std::string out;
  const auto value = [](const Node& n, const std::string& key) {
    const Attr* a = n.attrs.find(key);
    return a ? print_attr(*a) : std::string("none");
  };
  for (const auto& [key, unused] : b.attrs) {
    if (value(b, key) != value(h, key)) append(out, fmt::format("{}: {} → {}", key, value(b, key), value(h, key)));
  }
  for (const auto& [key, unused] : h.attrs) {
    if (!b.attrs.has(key)) append(out, fmt::format("{}: none → {}", key, value(h, key)));
  }
  return out;
}

}  // namespace

std::string_view name(ChangeKind kind) {
  constexpr std::array<std::string_view, 6> kNames{"unchanged", "reshaped", "altered", "rewired", "added", "removed"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::vector<AlignedNode> align(const Graph& base_graph, const Graph& head_graph) {
  std::unordered_map<std::string, std::uint32_t> numbers;
  Side base = side_of(base_graph, numbers), head = side_of(head_graph, numbers);
  for (std::size_t form = 0; form < kForms; ++form) {
    pair_gaps(base, head, form);
    slide_runs(base, head);
    slide_runs(head, base);
  }
  const std::vector<NodeId> of_base = node_partners(base, head), of_head = node_partners(head, base);
  std::vector<AlignedNode> out;
  std::size_t j = 0;
  const auto added_before = [&](std::size_t end) {
    for (; j < end; ++j) out.push_back({ChangeKind::Added, ValueId::kNone, head.nodes[j]});
  };
  for (std::size_t i = 0; i < base.nodes.size(); ++i) {
    if (base.partner[i] == kAlone) {
      out.push_back({ChangeKind::Removed, base.nodes[i], ValueId::kNone});
      continue;
    }
    added_before(base.partner[i]);
    const NodeId b = base.nodes[i], h = head.nodes[j];
    ChangeKind kind = kind_of(base, i, head, j++);
    if (kind == ChangeKind::None && rewired(base_graph.node(b), head_graph.node(h), of_base, of_head))
      kind = ChangeKind::Rewired;
    out.push_back({kind, b, h});
  }
  added_before(head.nodes.size());
  return out;
}

std::vector<std::string> signatures(const Graph& graph) {
  std::vector<std::string> out;
  for (Forms& f : forms(graph)) out.push_back(std::move(f[0]));
  return out;
}

std::string describe(const AlignedNode& n, const Graph& base, const Graph& head) {
  if (n.kind == ChangeKind::Added) return types_text(head.node(n.head));
  const Node& b = base.node(n.base);
  if (n.kind == ChangeKind::Removed) return types_text(b);
  const Node& h = head.node(n.head);
  if (n.kind == ChangeKind::Altered) return altered_text(b, h);
  return n.kind == ChangeKind::Reshaped ? reshaped_text(base, b, head, h) : types_text(h);
}

}  // namespace perfc
