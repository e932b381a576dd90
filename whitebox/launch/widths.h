#pragma once
/// In how many bits values are kept and read under a precision; under AMP by autocast's lists; 8 by those products that
/// multiply so (whitebox/launch/eight_bits.h), under int8 16 elsewhere.
#include <optional>
#include <vector>

#include "whitebox/launch/eight_bits.h"
#include "whitebox/launch/float_widths.h"
#include "whitebox/launch/value_strides.h"

namespace perfc {

/// Bytes per element of a type, or of its 16-bit copy.
double element_bytes(const Type&, bool half);
/// fp16 or bf16 where most of a graph's floating parameters have 16 bits or fewer: it was exported as it runs.
std::optional<Precision> half_precision_of(const Graph&);

class Widths {
 public:
  Widths(const Graph&, const ExecConfig&);

  /// Whether a node's results are kept in 16 bits.
  bool is_half(NodeId id) const { return half_[id]; }
  /// Whether a node's results are kept in 8 bits.
  bool keeps_eight(NodeId id) const { return eight_.value[id]; }
  /// Whether a product reads both operands in 8 bits.
  bool is_eight(NodeId id) const { return eight_.product[id]; }
  /// Bits of a product's second operand where they are 8 or fewer; else 0.
  int bits_of_second(NodeId id) const { return eight_.second[id]; }
  double bytes_of(ValueId) const;
  /// Bytes per element of an operand as a call reads it: under AMP, behind a cast.
  double read_width(ValueId, const Node& user) const;
  double bytes_read(ValueId, const Node& user) const;

  /// A cast, or under int8 a quantisation, that eager PyTorch launches for a call; of weights once where
  /// autograd records.
  using Cast = FloatWidths::Cast;
  const std::vector<Cast>& casts() const { return casts_; }
  /// Whether a cast stands before an operand of a call, as compilers, which fuse it, do not have.
  CastOperands cast_operands() const;

 private:
  void quantise_operands();

  const Graph& g_;
  const ExecConfig& config_;
  EightBits eight_;
  std::optional<FloatWidths> floats_;  ///< where the file's types do not say all
  std::vector<bool> half_;             ///< by node
  std::vector<Cast> casts_;
};

}  // namespace perfc
