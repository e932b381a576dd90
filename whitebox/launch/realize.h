#pragma once
/// Which results a compiler keeps in memory ("realizes") and which it computes anew wherever
/// they are read. TorchInductor (Ansel et al., ASPLOS 2024) lowers a call to an expression over
/// what it reads and decides when the expression becomes a buffer of its own
/// (torch/_inductor/graph.py, ir.py: StorageBox.mark_reuse).
#include <vector>

#include "whitebox/launch/data_layout.h"
#include "whitebox/launch/fusion.h"

namespace perfc {

/// The bias of a convolution that is a folded batch norm, as far as one can tell: a network that computes its weights
/// (weight standardisation) or pools first has biases of its own. TorchInductor computes such a norm as it is.
bool is_folded_norm(const Graph&, const Node&);

/// What an inlined view shows.
struct Look {
  ValueId at;        ///< the value behind it and the views below it
  double share = 1;  ///< of its elements
  ValueId part;      ///< the uppermost of these views that shows less than what it looks at; none: all of it is seen
};

/// By node.
struct Realization {
  /// Never in memory: elementwise, read by calls that can compute it themselves, from few
  /// operands; and views of such.
  std::vector<bool> inlined;
  std::vector<Look> looks;  ///< of inlined views: at what their operand is, looked through
  /// A norm whose result only a product reads, in another order than rows: its statistics
  /// are a kernel of their own, and a second one reads the data again and writes that order.
  std::vector<bool> two_kernels;
  /// A product whose operand such a norm writes; others copy theirs.
  std::vector<bool> in_order;
};

/// `v`, or what lies behind it if it is an inlined view.
Look look_through(const Graph&, const Realization&, ValueId v);

/// `adds_itself`: by node, a bias that its product adds. `weight`: computed from weights alone.
Realization realize(const Graph&, const std::vector<bool>& adds_itself, const DataLayout&,
                    const std::vector<bool>& weight);

}  // namespace perfc
