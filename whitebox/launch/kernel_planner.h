#pragma once
/// Plans the kernels of one graph, for whitebox/launch/kernels.cpp: what both ways of execution share is there,
/// what eager PyTorch launches in kernels_eager.cpp, what TorchInductor does in kernels_compiled.cpp,
/// and attention that runs as its parts in kernels_attention.cpp.
#include <initializer_list>
#include <map>
#include <set>

#include "whitebox/launch/data_layout.h"
#include "whitebox/launch/framework.h"
#include "whitebox/launch/fusion.h"
#include "whitebox/launch/kernels.h"
#include "whitebox/launch/realize.h"

namespace perfc {

bool is_masked_attention(const Node&);

class KernelPlanner {
 public:
  /// Appends to `out`. `repeat`: how often the graph runs; `owner`: of a body, the node that its
  /// kernels are reported under.
  KernelPlanner(const Graph& g, const ExecConfig& config, double repeat, const NodeId* owner, KernelPlan& out)
      : g_(g), config_(config), repeat_(repeat), owner_(owner), out_(out), weight_(g.weight_only()) {}

  /// The graph's types have to be static; bodies are not planned.
  void run();

 private:
  double element_bytes(const Type& t, bool is_half) const;
  double bytes_of(ValueId v) const;
  /// What AMP casts to 16 bits.
  bool takes_half(const Node& n) const;
  /// Bytes per element of an operand as a call reads it: under AMP, behind a cast.
  double read_width(ValueId v, const Node& user) const;
  double bytes_read(ValueId v, const Node& user) const;
  /// Which nodes' results are kept in 16 bits. Under AMP this also adds the
  /// cast kernels, in eager mode.
  void find_halves();
  void add_cast(ValueId v, bool to_half, std::vector<bool>& done, NodeId user);
  /// Adds a kernel that computes (part of) a node.
  void add(NodeId id, Kernel k);
  /// Edges between the kernels of one graph, after all of them are there.
  void connect();
  /// Extents of a call with `macs` multiply–accumulates.
  Extents extents_of(NodeId id, double macs) const;
  /// Kind, work and alignment of a call, without its bytes.
  Kernel work(NodeId id) const;
  /// What a call moves between its operands and results: a group norm's second look at its
  /// data, whose groups no cache holds; a recurrence's gates, in 32 bits, which the product with
  /// its input writes, that with its state adds to and the cell reads (cuDNN).
  double inner_bytes(NodeId id) const;
  /// A weight, what is computed from weights alone, or an input of the graph: no kernel has just written it.
  bool is_stored(ValueId v) const;
  /// Bytes of such that a call reads.
  double stored_bytes(NodeId id) const;
  /// An operand's cast between 32 and 16 bits.
  Kernel cast_of(NodeId id, ValueId v) const;
  /// A dense copy of an operand.
  Kernel copy_of(NodeId id, ValueId v, double element_bytes) const;
  static Extents elementwise_extents(const Type&, double elements);

  // kernels_eager.cpp
  /// Bytes of a call in eager mode: what its cost rule says, in the widths that
  /// the values have under this precision.
  double eager_bytes(NodeId id) const;
  /// A view that needed no copy.
  bool is_free(NodeId id) const;
  void eager();

  // kernels_attention.cpp
  /// What both ways of running written-out attention are made of.
  struct AttentionParts {
    static constexpr std::size_t kQ = 0, kK = 1, kV = 2, kMask = 3;   ///< operands
    const WrittenOutAttention& of;
    Kernel whole;                   ///< as if it were one kernel
    bool half = false;              ///< scores of 16 bits
    double width = 4;               ///< bytes per element of the products
    double elements[3] = {};        ///< of q, k, v …
    double dense[3] = {};           ///< … and of their copies, with each head's own
    double written = 0;             ///< elements of the result
    Extents scores, qk, av;
  };
  AttentionParts attention_parts(NodeId id, const WrittenOutAttention& a) const;
  void add_part(NodeId id, const AttentionParts& p, KernelKind kind, std::initializer_list<OpId> ops, const Extents& extents, double macs, double flops, double moved);
  void add_qk(NodeId id, const AttentionParts& p);
  void add_av(NodeId id, const AttentionParts& p);
  /// Whether a batched product copies this operand first.
  bool copies_operand(ValueId v) const;
  /// scale · q, q · kᵀ, or scale · scores, + mask, softmax, (cast), · v.
  void write_out(NodeId id, const WrittenOutAttention& a);
  /// The same by a compiler: what stands between the products is one kernel, and so are
  /// casts, scale and the copies that batched products need of permuted operands.
  void write_out_fused(NodeId id, const WrittenOutAttention& a);

  // kernels_compiled.cpp
  /// Calls that share a kernel, by group, and what that means for each node.
  struct Fusion {
    std::vector<FusedGroup> groups;
    std::vector<std::uint32_t> group;   ///< of each node
    std::vector<bool> free;             ///< by group: only views, and biases that products add themselves
    std::set<ValueId> wide, narrow;     ///< values read outside their group: as they are; by matrix units, in 16 bits
    std::vector<bool> full;             ///< by node: kept in 32 bits
    Realization realization;            ///< what is in memory at all
  };
  Fusion fusion() const;
  /// TorchInductor keeps what is read often in memory: a normalised convolution behind an
  /// activation that reads its operand twice (x · σ(x)) is kept before the activation, and so
  /// before the cast to 16 bits, where a kernel of another shape reads it.
  bool keeps_operand(NodeId activation) const;
  /// … for a reduction, and later kernels.
  void keep_full(Fusion& f) const;
  /// … for a padded copy, whose kernel reads it again; bytes of both passes.
  double kept_for_padding(NodeId id) const;
  /// How a kernel reads a value from memory, by itself or through what it computes anew.
  struct Source {
    NodeId reader;                    ///< a call that names it
    std::map<ValueId, double> parts;  ///< share of its elements, by the part that is read (none: the whole)
    double share() const;
  };
  using Sources = std::map<ValueId, Source>;
  /// Adds what a call reads; `share` and `part`: of its result that is wanted.
  void sources(const Fusion&, NodeId, double share, ValueId part, Sources& out) const;
  /// Slices and gathers read no more than they write (and their indices).
  double read_bound(NodeId id) const;
  /// Under AMP a product's weights are cast to 16 bits in every run, one kernel each.
  void cast_weights(NodeId product, std::vector<bool>& done);
  /// One kernel per group of fused calls; bytes are what crosses the groups' borders,
  /// in 16 bits where only matrix units read it: casts are part of the kernel that writes.
  void fuse();

  /// Kernels of each node of the graph at hand.
  struct Made {
    std::uint32_t first = kNone, last = kNone;
  };
  struct Cast {
    std::uint32_t kernel;
    NodeId from, to;
  };
  bool same_group(NodeId a, NodeId b) const { return made_[a].first == made_[b].first; }
  static constexpr std::uint32_t kNone = 0xffffffffu;

  const Graph& g_;
  const ExecConfig& config_;
  const double repeat_;
  const NodeId* const owner_;
  KernelPlan& out_;
  std::vector<bool> weight_;      ///< by node: computed from weights alone
  std::vector<bool> half_;        ///< by node: its results are kept in 16 bits
  std::vector<Made> made_;
  DataLayout layout_;
  std::vector<Cast> casts_;
};

}  // namespace perfc
