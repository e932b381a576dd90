#pragma once
/// Which values that a file has in float32 have 16 bits when PyTorch runs it: under autocast by its lists
/// (aten/src/ATen/autocast_mode.h), in a model of 16 bits by the casts that its program has (kRecast of
/// ir/eager_marks.h).
#include <cstdint>
#include <vector>

#include "whitebox/launch/eight_bits.h"

namespace perfc {

class FloatWidths {
 public:
  /// In which width a call reads its floating operands.
  enum class Reads : std::uint8_t { AsTheyAre, Half, Full };
  /// What stands before an operand of a call.
  struct Cast {
    ValueId value;
    NodeId user;
  };

  FloatWidths(const Graph&, const ExecConfig&, EightBits);

  bool is_half(NodeId id) const { return half_[id]; }
  Reads reads(NodeId id) const { return reads_[id]; }
  /// Whether an operand has 16 bits once the program has cast it, if it does.
  bool is_half_operand(NodeId user, std::size_t operand) const;
  /// Whether a cast stands before an operand, the program's or autocast's.
  bool is_cast(NodeId user, std::size_t operand) const;
  /// Those that eager PyTorch launches: what is cast once for several calls once.
  const std::vector<Cast>& casts() const { return casts_; }

 private:
  void choose();
  /// Of what a program casts to the type that it has, what is cast from 16 bits to 32: what operators read that want
  /// those, and what is cast back later. All else is cast to its readers' 16 bits, which it has.
  void find_raises();

  /// Whether a call computes positions: of integers alone, from arange.
  bool counts(const Node&) const;
  Reads reads_under_autocast(NodeId) const;
  /// A product of which some operand has 16 bits: all have, however the program got them there.
  Reads reads_in_half(NodeId) const;
  bool gives_half(NodeId) const;
  /// Notes whether a call computes in 32 bits for its program casts to them.
  void raise(NodeId);
  NodeId origin_of(NodeId);

  bool is_float_value(ValueId) const;
  bool is_number(ValueId) const;
  /// Whether the program casts an operand from 16 bits to 32, or back.
  bool is_recast(NodeId user, std::size_t operand) const;
  /// Whether a call reads another value of 16 bits as it is.
  bool reads_half_beside(NodeId user, std::size_t operand) const;
  bool reads_full(NodeId) const;
  /// Whether a cast of autocast's stands before an operand.
  bool is_autocast(NodeId user, std::size_t operand) const;
  void note_casts(NodeId, std::vector<bool>& autocast, std::vector<bool>& recast);

  const Graph& g_;
  const ExecConfig& config_;
  const EightBits eight_;
  const bool autocast_;
  std::vector<bool> half_;          ///< by node
  std::vector<Reads> reads_;        ///< by node
  std::vector<bool> narrow_norms_;  ///< by node: of written-out norms in 16 bits; empty where none are
  std::vector<bool> counts_;        ///< by node: positions in integers
  std::vector<bool> raised_;        ///< by node: in 32 bits for the program casts to them, or counts so …
  std::vector<NodeId> origin_;  ///< … with what it was computed from and what that became: one of these (union-find)
  std::vector<bool> lowered_;   ///< by origin: some of it is cast back
  std::vector<bool> raises_;    ///< by node: is cast from 16 bits to 32
  std::vector<Cast> casts_;
};

}  // namespace perfc
