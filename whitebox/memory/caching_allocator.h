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

/// What is taken from an allocator (bytes > 0) and given back to it (bytes < 0), in order, in the sizes of its blocks.
struct AllocationLog {
  struct Entry {
    std::uint32_t owner;  ///< who took it
    std::int64_t bytes;
  };
  std::uint32_t owner = 0;  ///< of what is taken next
  std::vector<Entry> entries;
};

class CachingAllocator {
 public:
  using Block = std::uint32_t;

  /// Writes down from now on what is taken and given back; null: no longer. The log must outlive its use.
  void log_to(AllocationLog* log) { log_ = log; }

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
    std::uint32_t owner = 0;  ///< by the log
    bool small = false, used = false;
  };
  using FreeList = std::set<std::pair<std::uint64_t, Block>>;  ///< by size

  FreeList& pool(bool small) { return small ? small_ : large_; }
  Block add(Part);
  void merge(Block into, Block with);

  std::vector<Part> parts_;
  std::vector<Block> spare_;  ///< indices of parts that were merged away
  FreeList small_, large_;
  AllocationLog* log_ = nullptr;
  std::uint64_t reserved_ = 0, allocated_ = 0, peak_allocated_ = 0;
};

}  // namespace perfc
