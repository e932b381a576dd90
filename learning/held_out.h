#pragma once
/// What the corrected whitebox's networks leave out, and what they then get wrong:
/// the source of its intervals and of docs/accuracy.md.
#include <map>
#include <utility>

#include "learning/corrected_data.h"

namespace perfc {

inline constexpr double kIntervalShare = 0.9;  ///< of what is predicted, within its interval

/// What a network does not see.
struct LeftOut {
  enum Kind : unsigned char { Family, Device, Both } kind = Family;
  std::size_t fold = CorrectedItem::kNone, chip = CorrectedItem::kNone;

  /// Not in training: anything of the fold, anything of the chip.
  bool hides(const CorrectedItem& i) const {
    return (kind != Device && i.fold == fold) || (kind != Family && i.chip == chip);
  }
  /// What its errors are counted on.
  bool judges(const CorrectedItem& i) const {
    return (kind == Device || i.fold == fold) && (kind == Family || i.chip == chip);
  }
};
inline constexpr std::array<std::string_view, 3> kLeftOutNames{"family", "device", "both"};

/// One network per fold of the families, which ship; one per chip; on request one per pair of them.
std::vector<LeftOut> what_to_leave_out(const CorrectedData&, LeaveOutBoth);

/// Errors on what was left out.
class HeldOut {
 public:
  /// What a network says of an item that judges it.
  struct Verdict {
    double network_ms = 0, whitebox_ms = 0;
    std::span<const float> fingerprint;
  };
  /// `residuals`: of what the network saw. Errors on single operators are listed but
  /// do not count for intervals: they are no models.
  void add(const CorrectedItem&, const LeftOut&, std::size_t network, const Verdict&, const Residuals&);

  /// Half widths of 90 % intervals, in ln, by similarity bin and never narrower for what is less alike. Bins with few
  /// errors of their own take those of the mode, and a mode those of the other.
  /// `without`: a chip whose errors do not count.
  std::array<double, kSimilarityBinNames.size()> widths(ExecMode, std::size_t without = CorrectedItem::kNone) const;
  /// What a device without measurements adds, in squares, to the width of graphs: half the 90 % interval of what is off
  /// by a factor on a whole device, a random effect whose spread the few devices that were left out show (Student,
  /// Biometrika 1908). Their medians, of both modes alike.
  double other_device_width(std::size_t without = CorrectedItem::kNone) const;

  /// One line per verdict, with a head.
  const std::string& csv() const { return csv_; }

 private:
  /// |ln(predicted / measured)| of families left out, by mode, similarity bin and chip; ln(predicted / measured) of
  /// devices left out, by chip and mode.
  std::array<std::array<std::map<std::size_t, std::vector<double>>, kSimilarityBinNames.size()>, 2> known_;
  std::map<std::pair<std::size_t, ExecMode>, std::vector<double>> other_;
  std::string csv_ =
      "left_out,network,model,architecture,family,group,batch,device,dtype,mode,layout,norms,kernels,macs,bytes,measured_ms,predicted_ms,network_ms,whitebox_ms,similarity\n";
};

}  // namespace perfc
