#pragma once
/// What a compiler keeps in memory of a graph's values, in which width, and what its kernels read of it.
#include <map>
#include <set>

#include "whitebox/launch/fusion.h"
#include "whitebox/launch/planned_graph.h"
#include "whitebox/launch/realize.h"

namespace perfc {

class CompiledValues {
 public:
  /// `alone`: see fused_groups().
  CompiledValues(const PlannedGraph&, std::vector<bool> alone);

  /// Calls that share a kernel.
  const std::vector<FusedGroup>& groups() const { return groups_; }
  /// Only views, biases that products add themselves, and what is computed anew where it is read: no kernel.
  bool is_free(std::uint32_t group) const { return free_[group]; }
  /// What is in memory at all.
  const Realization& realization() const { return realization_; }

  /// Bytes that a call writes for other groups, in each width that they read.
  double written(NodeId) const;
  /// What a padded copy of an activation costs that is kept before the cast to 16 bits (`keeps_operand`): its
  /// kernel reads that again; bytes of both passes.
  double kept_for_padding(NodeId) const;
  /// What a group reads from memory.
  struct Loads {
    double bytes = 0;
    double stored = 0;  ///< of that, weights and inputs
  };
  Loads loads(std::uint32_t group) const;

 private:
  /// How a kernel reads a value from memory, by itself or through what it computes anew.
  struct Source {
    NodeId reader;                    ///< a call that names it
    std::map<ValueId, double> parts;  ///< share of its elements, by the part that is read (none: the whole)
    double bound = 0;                 ///< bytes that its readers can read at most
    double share() const;
  };
  using Sources = std::map<ValueId, Source>;

  void group_calls();
  void find_free();
  /// TorchInductor keeps what is read often in memory: a normalised convolution behind an
  /// activation that reads its operand twice (x · σ(x)) is kept before the activation, and so
  /// before the cast to 16 bits, where a kernel of another shape reads it …
  bool keeps_operand(NodeId activation) const;
  /// … for a reduction, and later kernels.
  void keep_full();
  /// Which values are read outside their group, and how wide.
  void find_read();
  void read_by(NodeId);
  bool in_no_kernel(NodeId id) const { return group_[id] != kNone && free_[group_[id]]; }
  /// Adds what a call reads; `share` and `part`: of its result that is wanted.
  void add_sources(NodeId, double share, ValueId part, Sources& out) const;
  double width_of(ValueId, const Source&) const;
  /// Slices and gathers read no more than they write (and their indices).
  double read_bound(NodeId) const;

  static constexpr std::uint32_t kNone = 0xffffffffu;
  const PlannedGraph& of_;
  std::vector<FusedGroup> groups_;
  std::vector<std::uint32_t> group_;  ///< of each node
  std::vector<bool> free_;            ///< by group
  std::set<ValueId> wide_, narrow_;   ///< read outside their group: as they are; by matrix units, in 16 bits
  std::vector<bool> full_;            ///< by node: kept in 32 bits
  Realization realization_;
};

}  // namespace perfc
