#pragma once
/// How far the prices of kernels may lie from what a device takes on which no whole model was measured. Kernels were,
/// on some devices: their errors on shapes, on devices and on classes of chips that no fit saw (docs/judged.md) say how
/// well a kind of kernel is known here, and the shares of the time in each kind how much that matters.
#include <array>
#include <cstdint>

#include "whitebox/price/roofline.h"

namespace perfc {

/// What was measured of the kernels of a kind.
enum class Evidence : std::uint8_t {
  Siblings,  ///< on devices of this class of chip
  Others,    ///< on other classes, whose constants price it
  None,      ///< nothing: the roofline prices it
};
/// Kinds of kernels by the model that prices them.
enum class PriceKind : std::uint8_t {
  Product,
  VectorProduct,
  Attention,
  Convolution,
  VectorConvolution,
  RareConvolution,  ///< Placement::rare
  Recurrence,       ///< a step after the other, whose kernels the host launches
  Depthwise,
  Memory,
};
inline constexpr std::size_t kPriceKinds = 9;

class KernelEvidence {
 public:
  /// `Rates`: of the device.
  KernelEvidence(const Device&, const Rates&);

  /// Adds a kernel's time.
  void add(const Kernel&, double us);
  /// Half the width, in ln, of the 90 % interval of all that was added. Errors of a kind are the device's, so its
  /// kernels share them; those of different kinds are independent. What a kind adds is what it takes if it is as much
  /// slower as its own width says, which for wide ones is more than its share of a sum of logarithms.
  double width() const;

 private:
  struct Of {
    Evidence product[2], attention[2], memory;
    bool on_vector[2];
  };
  Of of_;
  /// Time in µs by kind and evidence.
  std::array<std::array<double, 3>, kPriceKinds> us_{};
};

/// Of what `width` says before any label, what stays after `labels` measured models: as many as constants are fitted
/// halve its square.
double remaining_width(int labels);

}  // namespace perfc
