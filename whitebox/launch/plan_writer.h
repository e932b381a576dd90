#pragma once
/// Appends the kernels of one graph to a plan and joins those that hand data to each other.
#include <vector>

#include "whitebox/launch/kernels.h"

namespace perfc {

/// What a host does for a call of this operator from Python.
HostCall host_call(OpId);
/// The same of a compiled kernel: what no library computes is generated.
HostCall compiled_call(const Kernel&);

class PlanWriter {
 public:
  /// `repeat`: how often the graph runs, and the host dispatches each of its calls.
  PlanWriter(const Graph& g, double repeat, KernelPlan& out) : g_(g), repeat_(repeat), out_(out), made_(g.size()) {}

  /// A call of the host, so many times in a run of the graph.
  void count_call(HostCall c, double times = 1) { out_.host_calls.add(c, repeat_ * times); }
  /// A kernel that computes (part of) a node, after those that compute other parts of it.
  void add(NodeId, Kernel);
  /// A kernel that is joined to nothing yet; its index.
  std::uint32_t add_alone(Kernel);
  /// The cast of what `from` wrote for `to`.
  void add_cast(NodeId from, NodeId to, Kernel);
  /// Kernels from `first` to `last` compute these nodes together: what they read goes to the first, what they
  /// write comes from the last.
  void share(const std::vector<NodeId>& nodes, std::uint32_t first, std::uint32_t last);
  bool has_kernel(NodeId id) const { return made_[id].first != kNone; }
  /// The last kernel of a node, which has one.
  Kernel& last_of(NodeId id) { return out_.kernels[made_[id].last]; }
  std::uint32_t next() const { return static_cast<std::uint32_t>(out_.kernels.size()); }

  /// Edges between the kernels of the graph, after all of them are there.
  void connect();

 private:
  static constexpr std::uint32_t kNone = 0xffffffffu;
  /// Kernels of a node.
  struct Made {
    std::uint32_t first = kNone, last = kNone;
  };
  struct Cast {
    std::uint32_t kernel;
    NodeId from, to;
  };
  /// By node: whose kernel wrote what it hands on, itself or one behind views.
  std::vector<NodeId> writers() const;
  bool same_kernels(NodeId a, NodeId b) const { return made_[a].first == made_[b].first; }

  const Graph& g_;
  const double repeat_;
  KernelPlan& out_;
  std::vector<Made> made_;  ///< by node
  std::vector<Cast> casts_;
};

}  // namespace perfc
