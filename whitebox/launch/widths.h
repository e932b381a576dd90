#pragma once
/// In how many bits values are kept and read under a precision; under AMP by autocast's lists; 8 by those products that
/// multiply so (whitebox/launch/eight_bits.h), under int8 16 elsewhere.
#include <cstdint>
#include <optional>
#include <vector>

#include "whitebox/launch/eight_bits.h"
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
  struct Cast {
    ValueId value;
    NodeId user;
  };
  const std::vector<Cast>& casts() const { return casts_; }
  /// Whether a cast stands before an operand of a call, as compilers, which fuse it, do not have.
  CastOperands cast_operands() const;

 private:
  /// In which width a call reads its floating operands.
  enum class Reads : std::uint8_t { AsTheyAre, Half, Full };

  /// In 16 bits where nothing says otherwise: under autocast by its lists, in a model of 16 bits by the casts that the
  /// program has.
  void choose();
  void choose_once();
  /// Of what a program casts to the type that it has, what is cast from 16 bits to 32: what operators read that want
  /// those, and what is cast back later. All else is cast to its readers' 16 bits, which it has.
  void find_raises();
  /// Whether a call computes positions: of integers alone, from arange.
  bool counts(const Node&) const;
  Reads reads_under_amp(NodeId) const;
  /// A product of which some operand has 16 bits: all have, however the program got them there.
  Reads reads_in_half(NodeId) const;
  bool gives_half(NodeId) const;
  /// Whether the program casts an operand from 16 bits to 32, or back.
  bool is_recast(NodeId user, std::size_t operand) const;
  /// Whether an operand has 16 bits behind that.
  bool is_half_operand(NodeId user, std::size_t operand) const;
  /// Notes whether a call computes in 32 bits for its program casts to them.
  void raise(NodeId);
  NodeId origin_of(NodeId);
  bool any_operand_full(NodeId) const;
  /// Whether a cast of autocast's stands before an operand.
  bool is_cast(NodeId user, std::size_t operand) const;
  void note_casts(NodeId, std::vector<bool>& done, std::vector<bool>& recast);
  void quantise_operands();

  const Graph& g_;
  const ExecConfig& config_;
  std::vector<bool> half_;      ///< by node
  std::vector<bool> raised_;    ///< by node: in 32 bits for the program casts to them, or counts so …
  std::vector<NodeId> origin_;  ///< … with what it was computed from and what that became: one of these (union-find)
  std::vector<bool> lowered_;   ///< by origin: some of it is cast back
  std::vector<bool> raises_;    ///< by node: is cast from 16 bits to 32
  std::vector<bool> counts_;    ///< by node: positions in integers
  std::vector<Reads> reads_;    ///< by node; empty where the file's types say all
  EightBits eight_;
  std::vector<Cast> casts_;
};

}  // namespace perfc
