#include "whitebox/launch/fusion.h"

#include <algorithm>
#include <functional>
#include <tuple>

#include "whitebox/constants/compiled.h"
#include "whitebox/launch/framework.h"

namespace perfc {
namespace {

constexpr std::uint32_t kNone = 0xffffffffu;

struct Group {
  std::vector<NodeId> members;
  bool open = false;  ///< takes more members
  bool reduction = false;
  bool read = false;        ///< by another group
  std::uint32_t level = 1;  ///< above those of all groups it reads: what has no higher level cannot depend on it
};

class Fuser {
 public:
  Fuser(const Graph& g, std::vector<bool> alone)
      : g_(g), alone_(std::move(alone)), group_(g.size(), kNone), only_elementwise_(g.size(), true) {
    for (ValueId v : g.results()) only_elementwise_[v.node] = false;
    for (NodeId id = g.size(); id-- > 0;) {
      const Node& n = g.node(id);
      if (n.kind != NodeKind::Call) continue;
      const bool good = is_any_view(g, n) ? only_elementwise_[id] : is_elementwise(n);
      for (ValueId v : n.operands) {
        if (v && !good) only_elementwise_[v.node] = false;
      }
    }
  }

  void add(NodeId id) {
    const Node& n = g_.node(id);
    const bool reduction = is_reduction(g_, n);
    read_by(n);
    bool joins = joinable(id) && !is_window(n) && !from_.empty() && groups_[from_[0]].open &&
                 !(reduction && groups_[from_[0]].reduction);
    bool reduces = reduction || (joins && groups_[from_[0]].reduction);
    with_.clear();
    std::uint32_t next = 0;  // the highest level of those that do not come along
    for (std::size_t i = 1; i < from_.size(); ++i) {
      const Group& other = groups_[from_[i]];
      if (joins && other.open && !other.read && !(reduces && other.reduction)) {
        reduces = reduces || other.reduction;
        with_.push_back(from_[i]);
      } else {
        next = std::max(next, other.level);
      }
    }
    joins = joins && (next < groups_[from_[0]].level || !groups_[from_[0]].read);
    if (joins) {
      std::uint32_t into = from_[0];
      for (std::uint32_t other : with_) into = merge(into, other);
      group_[id] = into;
      groups_[into].members.push_back(id);
      groups_[into].reduction = reduces;
      groups_[into].level = std::max(groups_[into].level, next + 1);
      if (writes_memory(n)) groups_[into].open = false;
    } else {
      group_[id] = static_cast<std::uint32_t>(groups_.size());
      groups_.push_back({.members = {id},
                         .open = joinable(id) && !n.is(op("split")) && !writes_memory(n),
                         .reduction = reduction,
                         .level = from_.empty() ? 1 : groups_[from_[0]].level + 1});
    }
    for (ValueId v : n.operands) {
      if (v && group_[v.node] != kNone && group_[v.node] != group_[id]) groups_[group_[v.node]].read = true;
    }
  }

  std::vector<FusedGroup> finish() {
    std::vector<FusedGroup> out;
    for (Group& group : groups_) {
      if (group.members.empty()) continue;
      std::ranges::sort(group.members);
      const NodeId leader = *std::ranges::max_element(group.members, {}, [&](NodeId id) { return rank(id); });
      out.push_back({std::move(group.members), leader});
    }
    std::ranges::sort(out, {}, [](const FusedGroup& group) { return group.members.front(); });
    return out;
  }

 private:
  /// Whoever reads that memory runs later.
  bool writes_memory(const Node& n) const { return part_compiled_in_place(g_, n).has_value(); }

  /// TorchInductor leaves a dense layer's bias to the product unless only elementwise operators read it.
  bool joinable(NodeId id) const {
    const Node& n = g_.node(id);
    if (!alone_.empty() && alone_[id]) return false;
    return fuses(n) && (only_elementwise_[id] || !is_epilogue(g_, n)) && !is_long_concatenation(n);
  }

  /// Fills `from_` with the groups that a call reads, the highest first.
  void read_by(const Node& n) {
    from_.clear();
    for (ValueId v : n.operands) {
      if (v && group_[v.node] != kNone && std::ranges::find(from_, group_[v.node]) == from_.end())
        from_.push_back(group_[v.node]);
    }
    std::ranges::sort(from_, std::greater{}, [&](std::uint32_t at) { return std::pair(groups_[at].level, at); });
  }

  /// Puts two groups together, under the index of the larger. `low`, which nothing
  /// reads, has no higher level than `high`, so neither depends on the other.
  std::uint32_t merge(std::uint32_t high, std::uint32_t low) {
    const std::uint32_t level = groups_[high].level;
    const bool read = groups_[high].read;
    if (groups_[high].members.size() < groups_[low].members.size()) std::swap(high, low);
    for (const NodeId id : groups_[low].members) group_[id] = high;
    groups_[high].members.insert(groups_[high].members.end(), groups_[low].members.begin(), groups_[low].members.end());
    groups_[low].members.clear();
    groups_[high].level = level;
    groups_[high].read = read;
    return high;
  }

  std::tuple<bool, bool, bool, std::int64_t> rank(NodeId id) const {
    const Node& n = g_.node(id);
    const Category c = def(n.op).category;
    const bool computes = !is_strided_view(g_, n) && c != Category::Gather;
    return {!is_view(n), computes, is_reduction(g_, n),
            n.results.empty() ? 0 : n.results[0].type.elements().value_or(0)};
  }

  const Graph& g_;
  const std::vector<bool> alone_;
  std::vector<std::uint32_t> group_;    ///< of each node
  std::vector<bool> only_elementwise_;  ///< by node: what reads it, through views
  std::vector<Group> groups_;
  std::vector<std::uint32_t> from_, with_;  ///< of the call at hand: groups it reads, those that come along
};

}  // namespace

bool is_long_concatenation(const Node& n) {
  return n.is(op("concatenate")) && n.operands.size() > constants::kMostFusedParts;
}

std::vector<FusedGroup> fused_groups(const Graph& g, std::vector<bool> alone) {
  Fuser fuser(g, std::move(alone));
  for (NodeId id = 0; id < g.size(); ++id) {
    const Node& n = g.node(id);
    if (n.kind == NodeKind::Call && n.regions.empty()) fuser.add(id);
  }
  return fuser.finish();
}

}  // namespace perfc
