#include "cli/serve/places.h"

namespace perfc::cli {

Places::Places(std::size_t slots, std::size_t waiting) : most_(slots + waiting) {
  for (std::size_t s = 0; s < slots; ++s) threads_.emplace_back([this, s] { serve(s); });
}

Places::~Places() {
  close();
  for (std::thread& t : threads_) t.join();
}

std::optional<Places::Place> Places::enter() {
  const std::lock_guard lock(mutex_);
  if (closed_ || entered_ == most_) return std::nullopt;
  ++entered_;
  return Place(*this);
}

void Places::serve(std::size_t slot) {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return closed_ || !line_.empty(); });
    if (closed_) return;
    Task& task = *line_.front();
    line_.pop_front();
    task.state = Task::State::Runs;
    ++working_;
    changed_.notify_all();
    lock.unlock();
    try {
      task.work(slot);
    } catch (...) { task.thrown = std::current_exception(); }
    lock.lock();
    --working_;
    task.state = Task::State::Done;
    changed_.notify_all();
  }
}

bool Places::Place::run(Clock::time_point end, const Work& work) {
  Task task{work};
  std::unique_lock lock(places_->mutex_);
  places_->line_.push_back(&task);
  places_->changed_.notify_all();
  places_->changed_.wait_until(lock, end, [&] { return places_->closed_ || task.state != Task::State::Waits; });
  if (task.state == Task::State::Waits) {
    std::erase(places_->line_, &task);
    return false;
  }
  places_->changed_.wait(lock, [&] { return task.state == Task::State::Done; });
  if (task.thrown) std::rethrow_exception(task.thrown);
  return true;
}

Places::Place::~Place() {
  if (!places_) return;
  const std::lock_guard lock(places_->mutex_);
  --places_->entered_;
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
  return {working_, entered_ - working_};
}

}  // namespace perfc::cli
