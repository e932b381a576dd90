#include "gnn/threads.h"

#include <algorithm>

namespace perfc {

ThreadPool::ThreadPool(std::size_t threads) {
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
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

void ThreadPool::for_ranges(std::size_t count, std::size_t grain,
                            const std::function<void(std::size_t, std::size_t)>& body) {
  if (count == 0) return;
  grain = std::max<std::size_t>(grain, 1);
  const std::size_t grains = (count + grain - 1) / grain;
  const std::size_t parts = std::min(size(), grains);
  if (parts == 1) return body(0, count);
  {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < ranges_.size(); ++i) {
      const auto edge = [&](std::size_t p) { return std::min(count, grains * std::min(p, parts) / parts * grain); };
      ranges_[i] = {edge(i), edge(i + 1)};
    }
    body_ = &body;
    running_ = workers_.size();
    ++generation_;
  }
  wake_.notify_all();
  body(ranges_[0].begin, ranges_[0].end);
  std::unique_lock lock(mutex_);
  done_.wait(lock, [&] { return running_ == 0; });
}

void ThreadPool::work(std::size_t index) {
  std::uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [&] { return stop_ || generation_ != seen; });
    if (stop_) return;
    seen = generation_;
    const Range range = ranges_[index];
    const auto* body = body_;
    lock.unlock();
    if (range.begin < range.end) (*body)(range.begin, range.end);
    lock.lock();
    if (--running_ == 0) done_.notify_one();
  }
}

}  // namespace perfc
