#pragma once
/// Worker threads that stay, and the one parallel loop that layers use.
///
/// Work is cut by index range, never by who is free first, and nobody adds into
/// what another thread writes: results do not depend on timing.
///
/// Layers follow each other within microseconds, less than it takes to wake a thread: those who wait
/// look for a moment whether there is something to do before they sleep.
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace perfc {

class ThreadPool {
 public:
  /// `threads` workers, the calling one included; 0 means one per core.
  explicit ThreadPool(std::size_t threads = 1);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  std::size_t size() const { return workers_.size() + 1; }

  /// Calls body(begin, end) on consecutive ranges that cover [0, count), one
  /// range per thread, none shorter than `grain` unless count is. Ranges begin
  /// at multiples of `grain`. Returns when all are done. Not to be nested.
  void for_ranges(std::size_t count, std::size_t grain, const std::function<void(std::size_t, std::size_t)>& body);

 private:
  void work(std::size_t index);
  template <class Condition>
  bool look_for(Condition condition) const;
  struct Range {
    std::size_t begin = 0, end = 0;
  };

  /// Of one loop; written while no worker runs.
  const std::function<void(std::size_t, std::size_t)>* body_ = nullptr;
  std::vector<Range> ranges_;  ///< by worker

  std::atomic<std::uint64_t> generation_{0};  ///< of the loop: a new number is the signal to start
  std::atomic<std::size_t> running_{0};       ///< workers that are not done with it
  std::atomic<bool> stop_{false};
  std::mutex mutex_;  ///< only around falling asleep and waking others
  std::condition_variable wake_, done_;
  bool patient_ = false;  ///< every thread has a core, so that looking keeps nobody from working
  std::vector<std::thread> workers_;
};

}  // namespace perfc
