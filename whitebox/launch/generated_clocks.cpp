#include "whitebox/launch/generated_clocks.h"

#include "whitebox/constants/compiled.h"
#include "whitebox/launch/framework.h"
#include "whitebox/launch/realize.h"

namespace perfc {
namespace {

double clocks_per_element(const Graph& g, const Node& n) {
  return def(is_folded_norm(g, n) ? op("nn.batch_norm") : n.op).generated_clocks;
}

/// Whether threads share the sums of what it reads.
bool reduces(const Graph& g, const Node& n) {
  return is_row_norm(n) || is_reduction(g, n) || def(n.op).category == Category::Softmax;
}

}  // namespace

double generated_clocks(const PlannedGraph& of, NodeId id) {
  const Node& n = of.node(id);
  if (n.results.empty() || n.operands.empty() || !n.operands[0]) return 0;
  if (reduces(of.g, n)) return constants::kGeneratedRow * of.elements(n.operands[0]);
  return clocks_per_element(of.g, n) * of.elements({id, 0});
}

}  // namespace perfc
