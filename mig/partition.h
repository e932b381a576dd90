#pragma once
/// Which MIG instances a GPU can hold at once.
#include <cstddef>
#include <span>
#include <vector>

#include "devices/device.h"

namespace perfc {

/// How many instances of each profile of a device, by the profile's index.
using MigCounts = std::vector<int>;

/// An instance on a GPU: the profile's index, and the slot that it begins at.
struct MigPlacement {
  std::size_t profile = 0;
  int start = 0;
  bool operator==(const MigPlacement&) const = default;
};

/// What instances may be on a GPU together: each at one of its profile's places, no two on one slot, of each profile no
/// more than its maximum, and no more optical flow accelerators than the GPU has (MIG User Guide, "Supported MIG
/// Profiles", and `nvidia-smi mig -lgipp`; NVML, nvmlGpuInstancePlacement_t: an instance occupies the slots of its
/// placement, and another that overlaps is refused).
class MigPartitions {
 public:
  /// `profiles`: a device's. Those without places are never placed. Of a device file whose profiles make tens of
  /// thousands of partitions there is none: `maximal` is empty.
  explicit MigPartitions(std::span<const MigProfile> profiles);

  std::size_t profiles() const { return profiles_.size(); }
  const MigProfile& profile(std::size_t i) const { return profiles_[i]; }
  /// Counts to which no instance can be added; all others are below one of them.
  const std::vector<MigCounts>& maximal() const { return maximal_; }
  /// Whether one GPU can hold them.
  bool holds(const MigCounts&) const;
  /// Where they lie on one GPU, in the order in which they have to be created; empty where it cannot hold them.
  std::vector<MigPlacement> place(const MigCounts&) const;
  /// All ways in which they can lie, as sorted lists, at most `most` of them.
  std::vector<std::vector<MigPlacement>> places(const MigCounts&, std::size_t most) const;
  /// The slots of a placement.
  unsigned slots(const MigPlacement&) const;
  /// Wherever an instance of `outer` lies, one of `inner` could lie inside.
  bool lies_inside(std::size_t inner, std::size_t outer) const;

 private:
  std::vector<MigProfile> profiles_;
  std::vector<MigCounts> maximal_;
};

}  // namespace perfc
