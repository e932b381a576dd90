#pragma once
/// The measures of an attention call, whichever operator spells it: a row names how they are read from a finished call.
#include <optional>

#include "ir/infer_context.h"

namespace perfc::rules {

/// softmax(Q · Kᵀ · scale + mask) · V over `batch` · `q_heads` heads.
struct AttentionGeometry {
  double batch = 0;
  double q_heads = 0;
  double kv_heads = 0;        ///< fewer than q_heads: grouped-query attention
  double q_len = 0;           ///< query tokens
  double kv_len = 0;          ///< tokens attended to, the cache included
  double head = 0;            ///< elements of a query and key vector
  double v_head = 0;          ///< elements of a value vector
  bool causal = false;        ///< a query attends to no token after its own
  double past = 0;            ///< of causal attention: tokens before the first query's own
  double window = 0;          ///< of causal attention: tokens that a query attends to at most; 0: all
  bool writes_cache = false;  ///< it puts its keys and values into a cache, too

  /// Q·Kᵀ and P·V, every pair of tokens counted: masks and windows skip none.
  double macs() const { return batch * q_heads * q_len * kv_len * (head + v_head); }
  /// Scaling, mask and softmax of every score.
  double flops() const { return 7 * batch * q_heads * q_len * kv_len; }
};

// Empty when the types of the call are not static.
std::optional<AttentionGeometry> onnx_geometry(const CostContext&), sdpa_geometry(const CostContext&);
// com.microsoft's; of those that project their input first, what comes behind that
std::optional<AttentionGeometry> projected_geometry(const CostContext&);
std::optional<AttentionGeometry> multi_head_geometry(const CostContext&);
std::optional<AttentionGeometry> packed_multi_head_geometry(const CostContext&);
std::optional<AttentionGeometry> grouped_geometry(const CostContext&), paged_geometry(const CostContext&);

void attention_cost_by(const CostContext&, OpCost&, AttentionFn);
template <AttentionFn Of>
void attention_cost(const CostContext& c, OpCost& cost) {
  attention_cost_by(c, cost, Of);
}

}  // namespace perfc::rules
