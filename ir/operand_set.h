#pragma once
#include <cstddef>
#include <cstdint>

namespace perfc {

/// Some of a call's operands, by their position. Holds the first 32; of a call with more, later ones are in none.
class OperandSet {
 public:
  constexpr OperandSet() = default;
  /// `bits`: as of `bits()`.
  static constexpr OperandSet of_bits(std::int64_t bits) {
    OperandSet out;
    out.bits_ = static_cast<std::uint32_t>(bits);
    return out;
  }

  constexpr bool contains(std::size_t operand) const { return operand < kHeld && (bits_ >> operand & 1) != 0; }
  constexpr void insert(std::size_t operand) {
    if (operand < kHeld) bits_ |= std::uint32_t{1} << operand;
  }
  constexpr bool empty() const { return bits_ == 0; }
  /// A bit per operand, the first one lowest.
  constexpr std::int64_t bits() const { return bits_; }

 private:
  static constexpr std::size_t kHeld = 32;
  std::uint32_t bits_ = 0;
};

}  // namespace perfc
