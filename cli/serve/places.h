#pragma once
/// Who may predict, and who waits for it.
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace perfc::cli {

/// So many work at once, each in a slot of its own, and so many more wait behind them, served in the order in which they
/// began to wait.
class Places {
 public:
  using Clock = std::chrono::steady_clock;
  Places(std::size_t slots, std::size_t waiting);

  /// A place in it, given up at the end.
  class Place {
   public:
    Place(Place&& other) noexcept : places_(std::exchange(other.places_, nullptr)), slot_(other.slot_) {}
    Place& operator=(Place&&) = delete;
    ~Place();
    /// Waits for a slot; false: none came free until then, or none will.
    bool wait(Clock::time_point end);
    std::size_t slot() const { return *slot_; }

   private:
    friend class Places;
    explicit Place(Places& places) : places_(&places) {}
    Places* places_;
    std::optional<std::size_t> slot_;
  };
  /// Empty: all places are taken, or it is closed.
  std::optional<Place> enter();
  /// Who has a slot keeps it; nobody else gets one.
  void close();
  bool closed() const;
  /// Slots in use, and places without one.
  std::pair<std::size_t, std::size_t> taken() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t entered_ = 0, most_;
  std::size_t slots_;
  std::vector<std::size_t> free_;
  std::deque<const Place*> line_;
  bool closed_ = false;
};

}  // namespace perfc::cli
