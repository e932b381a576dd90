#pragma once
/// PyTorch's CUDA caching allocator, simulated: what a monitor sees of a process
/// is what its allocator reserved, not what its tensors take.
///
/// Rules (c10/cuda/CUDACachingAllocator.cpp, PyTorch 1.11 to 2.9, default settings):
/// sizes are multiples of 512 bytes; requests up to 1 MiB come from 2 MiB segments,
/// those below 10 MiB from 20 MiB segments, larger ones get segments of their own in
/// multiples of 2 MiB; the best-fitting free block is taken, and split where more
/// than 1 MiB (512 bytes in the small pool) would be left; freed blocks merge with
/// their free neighbours and stay reserved.
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

namespace perfc {

class CachingAllocator {
 public:
  using Block = std::uint32_t;

  /// A block for this many bytes (0 counts as 1).
  Block allocate(double bytes);
  void free(Block);

  double reserved() const { return static_cast<double>(reserved_); }    ///< bytes of all segments; never shrinks
  double allocated() const { return static_cast<double>(allocated_); }  ///< bytes of blocks in use
  double peak_allocated() const { return static_cast<double>(peak_allocated_); }

 private:
  static constexpr Block kNone = 0xffffffffu;
  struct Part {  ///< of a segment, in order of addresses
    std::uint64_t size = 0, requested = 0;
    Block before = kNone, after = kNone;
    bool small = false, used = false;
  };
  using FreeList = std::set<std::pair<std::uint64_t, Block>>;  ///< by size

  FreeList& pool(bool small) { return small ? small_ : large_; }
  Block add(Part);
  void merge(Block into, Block with);

  std::vector<Part> parts_;
  std::vector<Block> spare_;  ///< indices of parts that were merged away
  FreeList small_, large_;
  std::uint64_t reserved_ = 0, allocated_ = 0, peak_allocated_ = 0;
};

}  // namespace perfc
