#pragma once
/// Who may predict, and who waits for it.
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace perfc::cli {

/// Threads that work, each in a slot of its own, so that what is kept for a slot is used by one at a time, and memory
/// that an allocator keeps for a thread is kept for these alone. So many requests more wait behind them, and are served
/// in the order in which they began to wait.
class Places {
 public:
  using Clock = std::chrono::steady_clock;
  using Work = std::function<void(std::size_t slot)>;

  Places(std::size_t slots, std::size_t waiting);
  ~Places();
  Places(const Places&) = delete;
  Places& operator=(const Places&) = delete;

  /// A place among the requests, given up at the end.
  class Place {
   public:
    Place(Place&& other) noexcept : places_(std::exchange(other.places_, nullptr)) {}
    Place& operator=(Place&&) = delete;
    ~Place();
    /// Has a thread do it, and waits until that is done; false: no thread came free until then, or none will.
    bool run(Clock::time_point end, const Work&);

   private:
    friend class Places;
    explicit Place(Places& places) : places_(&places) {}
    Places* places_;
  };
  /// Empty: all places are taken, or it is closed.
  std::optional<Place> enter();
  /// What runs is finished; nothing else begins.
  void close();
  bool closed() const;
  /// How many requests are worked for, and how many have a place and are not.
  std::pair<std::size_t, std::size_t> taken() const;

 private:
  struct Task {
    const Work& work;
    enum class State { Waits, Runs, Done } state = State::Waits;
    std::exception_ptr thrown = {};
  };
  void serve(std::size_t slot);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t entered_ = 0, most_, working_ = 0;
  std::deque<Task*> line_;
  bool closed_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace perfc::cli
