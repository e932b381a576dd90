#include "cli/serve/places.h"

#include <algorithm>

namespace perfc::cli {

Places::Places(std::size_t slots, std::size_t waiting) : most_(slots + waiting), slots_(slots) {
  for (std::size_t s = slots; s > 0; --s) free_.push_back(s - 1);
}

std::optional<Places::Place> Places::enter() {
  const std::lock_guard lock(mutex_);
  if (closed_ || entered_ == most_) return std::nullopt;
  ++entered_;
  return Place(*this);
}

bool Places::Place::wait(Clock::time_point end) {
  std::unique_lock lock(places_->mutex_);
  auto& line = places_->line_;
  line.push_back(this);
  const bool in_time = places_->changed_.wait_until(
      lock, end, [&] { return places_->closed_ || (line.front() == this && !places_->free_.empty()); });
  std::erase(line, this);
  const bool given = in_time && !places_->closed_;
  if (given) {
    slot_ = places_->free_.back();
    places_->free_.pop_back();
  }
  places_->changed_.notify_all();
  return given;
}

Places::Place::~Place() {
  if (!places_) return;
  const std::lock_guard lock(places_->mutex_);
  if (slot_) places_->free_.push_back(*slot_);
  --places_->entered_;
  places_->changed_.notify_all();
}

void Places::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

bool Places::closed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

std::pair<std::size_t, std::size_t> Places::taken() const {
  const std::lock_guard lock(mutex_);
  const std::size_t working = slots_ - free_.size();
  return {working, entered_ - working};
}

}  // namespace perfc::cli
