#pragma once
/// Attention without a softmax: what keys and values add up to is a state, which each token updates and each query
/// reads (Katharopoulos et al., arXiv 2006.16236; gated delta networks: Yang et al., arXiv 2412.06464).
#include <optional>

#include "ir/infer_context.h"

namespace perfc {

/// The measures of nn.linear_attention and nn.gated_delta_net.
struct LinearAttention {
  double batch = 0;          ///< sequences
  double tokens = 0;         ///< of a sequence; of sequences of several lengths their mean
  double query_heads = 0;    ///< of a sequence
  double key_heads = 0;      ///< of a sequence
  double heads = 0;          ///< states of a sequence, one for each head of values
  double keys = 0;           ///< channels of a key …
  double values = 0;         ///< … and of a value: a state has keys · values elements
  bool delta = false;        ///< what a state holds of a key is read before it is replaced
  bool gated = false;        ///< a state fades from token to token …
  bool by_channel = false;   ///< … each channel of its keys by its own factor
  bool token_major = false;  ///< it is nn.gated_delta_net, whose states are float32 whatever the data
  double moved = 0;          ///< elements of states that are read before the first token and written after the last

  /// A token's own: it adds to a state, is read by queries, and delta rules read with its key first.
  double macs() const;
  double flops() const;
};
/// None: types are not static.
std::optional<LinearAttention> linear_attention_of(const CostContext&);

}  // namespace perfc
