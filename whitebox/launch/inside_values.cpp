#include "whitebox/launch/inside_values.h"

#include "ir/eager_marks.h"

namespace perfc {
namespace {

/// Whether both were one operator of the file.
bool were_one(const Node& a, const Node& b) {
  return b.kind == NodeKind::Call && a.loc.node >= 0 && a.loc.node == b.loc.node && a.name == b.name;
}

/// What reads a node's results.
struct Readers {
  bool any = false;
  bool others = false;    ///< calls of other operators, or the caller
  bool launched = false;  ///< a call of the same that has a kernel of its own, or feeds one
};

}  // namespace

std::vector<bool> stays_in_kernel(const Graph& g) {
  std::vector<bool> out(g.size(), false);
  std::vector<Readers> readers(g.size());
  for (const ValueId v : g.results()) readers[v.node].others = true;
  for (NodeId id = static_cast<NodeId>(g.size()); id-- > 0;) {
    const Node& n = g.node(id);
    if (n.kind != NodeKind::Call) continue;
    const bool inside = n.attrs.has(kInside);
    const Readers& r = readers[id];
    out[id] = r.any && !r.others && (inside || !r.launched);
    for (const ValueId v : n.operands) {
      if (!v) continue;
      Readers& of = readers[v.node];
      of.any = true;
      of.others = of.others || !were_one(g.node(v), n);
      of.launched = of.launched || !inside || r.launched;
    }
  }
  return out;
}

}  // namespace perfc
