#pragma once
/// The measures of an attention call, whichever operator spells it.
///
/// Shape rules derive them from operand types; cost rules and feature columns
/// read them from a finished call.
#include <optional>

#include "ir/infer_context.h"

namespace perfc::rules {

/// softmax(Q · Kᵀ · scale + mask) · V over `batch` · `q_heads` heads.
struct AttentionGeometry {
  double batch = 0;
  double q_heads = 0;
  double kv_heads = 0;      ///< fewer than q_heads: grouped-query attention
  double q_len = 0;         ///< query tokens
  double kv_len = 0;        ///< tokens attended to, the cache included
  double head = 0;          ///< elements of a query and key vector
  double v_head = 0;        ///< elements of a value vector

  /// Q·Kᵀ and P·V, every pair of tokens counted: masks and windows skip none.
  double macs() const { return batch * q_heads * q_len * kv_len * (head + v_head); }
  /// Scaling, mask and softmax of every score.
  double flops() const { return 7 * batch * q_heads * q_len * kv_len; }
};

/// Geometry of a call in category Attention; empty when its types are not
/// static or it holds no attention (rotary embedding, linear attention).
std::optional<AttentionGeometry> attention_geometry(const CostContext&);

}  // namespace perfc::rules
