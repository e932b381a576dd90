#include "whitebox/memory/caching_allocator.h"

#include <algorithm>
#include <cmath>

#include "whitebox/constants/memory.h"

namespace perfc {
namespace {

/// Requests beyond any device's memory are cut to this: sums stay exact in 64 bits.
constexpr double kMost = 1e15;

std::uint64_t round_up(std::uint64_t n, std::uint64_t multiple) { return (n + multiple - 1) / multiple * multiple; }

std::uint64_t segment_size(std::uint64_t size) {
  return size <= constants::kSmall   ? constants::kSmallSegment
         : size < constants::kMedium ? constants::kMediumSegment
                                     : round_up(size, constants::kLargeRounding);
}

}  // namespace

CachingAllocator::Block CachingAllocator::add(Part part) {
  if (spare_.empty()) {
    parts_.push_back(part);
    return static_cast<Block>(parts_.size() - 1);
  }
  const Block b = spare_.back();
  spare_.pop_back();
  parts_[b] = part;
  return b;
}

CachingAllocator::Block CachingAllocator::allocate(double bytes) {
  const auto wanted = static_cast<std::uint64_t>(std::clamp(std::ceil(bytes), 1.0, kMost));
  const std::uint64_t size = round_up(wanted, constants::kRounding);
  const bool small = size <= constants::kSmall;
  FreeList& free = pool(small);
  Block b = kNone;
  if (const auto fit = free.lower_bound({size, 0}); fit != free.end()) {
    b = fit->second;
    free.erase(fit);
  } else {
    const std::uint64_t segment = segment_size(size);
    reserved_ += segment;
    b = add({.size = segment, .small = small});
  }
  const std::uint64_t left = parts_[b].size - size;
  if (small ? left >= constants::kRounding : left > constants::kSmall) {
    const Block after = parts_[b].after;
    const Block rest = add({.size = left, .before = b, .after = after, .small = small});
    if (after != kNone) parts_[after].before = rest;
    parts_[b].after = rest;
    parts_[b].size = size;
    free.insert({left, rest});
  }
  parts_[b].used = true;
  parts_[b].requested = size;
  if (log_) {
    parts_[b].owner = log_->owner;
    log_->entries.push_back({log_->owner, static_cast<std::int64_t>(size)});
  }
  allocated_ += size;
  peak_allocated_ = std::max(peak_allocated_, allocated_);
  return b;
}

/// `with` follows `into` and both are free; neither is in a free list.
void CachingAllocator::merge(Block into, Block with) {
  parts_[into].size += parts_[with].size;
  parts_[into].after = parts_[with].after;
  if (parts_[with].after != kNone) parts_[parts_[with].after].before = into;
  spare_.push_back(with);
}

void CachingAllocator::free(Block b) {
  allocated_ -= parts_[b].requested;
  if (log_) log_->entries.push_back({parts_[b].owner, -static_cast<std::int64_t>(parts_[b].requested)});
  parts_[b].used = false;
  FreeList& free = pool(parts_[b].small);
  if (const Block after = parts_[b].after; after != kNone && !parts_[after].used) {
    free.erase({parts_[after].size, after});
    merge(b, after);
  }
  if (const Block before = parts_[b].before; before != kNone && !parts_[before].used) {
    free.erase({parts_[before].size, before});
    merge(before, b);
    b = before;
  }
  free.insert({parts_[b].size, b});
}

}  // namespace perfc
