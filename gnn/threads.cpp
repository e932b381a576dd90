#include "gnn/threads.h"

#include <algorithm>
#include <chrono>

namespace perfc {

ThreadPool::ThreadPool(std::size_t threads) {
  const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  if (threads == 0) threads = cores;
  patient_ = threads <= cores;
  ranges_.resize(threads);
  for (std::size_t i = 1; i < threads; ++i) workers_.emplace_back([this, i] { work(i); });
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (std::thread& t : workers_) t.join();
}

/// Waits for a condition without sleeping, but not for long. Did it come true?
template <class Condition>
bool ThreadPool::look_for(Condition condition) const {
  using Clock = std::chrono::steady_clock;
  constexpr auto kLongest = std::chrono::microseconds(50);
  constexpr int kLooks = 64;  // between looks at the clock
  if (!patient_) return condition();
  for (const Clock::time_point end = Clock::now() + kLongest; Clock::now() < end;) {
    for (int i = 0; i < kLooks; ++i) {
      if (condition()) return true;
#if defined(__x86_64__) || defined(__i386__)
      __builtin_ia32_pause();
#endif
    }
  }
  return false;
}

void ThreadPool::for_ranges(std::size_t count, std::size_t grain,
                            const std::function<void(std::size_t, std::size_t)>& body) {
  if (count == 0) return;
  grain = std::max<std::size_t>(grain, 1);
  const std::size_t grains = (count + grain - 1) / grain;
  const std::size_t parts = std::min(size(), grains);
  if (parts == 1) return body(0, count);
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    const auto edge = [&](std::size_t p) { return std::min(count, grains * std::min(p, parts) / parts * grain); };
    ranges_[i] = {edge(i), edge(i + 1)};
  }
  body_ = &body;
  running_ = workers_.size();
  {
    const std::lock_guard lock(mutex_);
    ++generation_;
  }
  wake_.notify_all();
  body(ranges_[0].begin, ranges_[0].end);
  const auto done = [&] { return running_ == 0; };
  if (look_for(done)) return;
  std::unique_lock lock(mutex_);
  done_.wait(lock, done);
}

void ThreadPool::work(std::size_t index) {
  std::uint64_t seen = 0;
  const auto signal = [&] { return stop_ || generation_ != seen; };
  for (;;) {
    if (!look_for(signal)) {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, signal);
    }
    if (stop_) return;
    seen = generation_;
    const Range range = ranges_[index];
    if (range.begin < range.end) (*body_)(range.begin, range.end);
    if (--running_ > 0) continue;
    const std::lock_guard lock(mutex_);
    done_.notify_one();
  }
}

}  // namespace perfc
