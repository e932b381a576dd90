#pragma once
/// How much work a thread may do on what somebody else sent: nodes of a graph, and time. Who makes graphs asks
/// (ir/builder.h), so that a model that grows while it is read or simplified ends with an error.
#include <chrono>
#include <cstddef>

namespace perfc {

class WorkLimit {
 public:
  using Clock = std::chrono::steady_clock;

  /// Holds for this thread, which has one at a time, while it lives. `most_nodes`: of each graph, and bodies of control
  /// flow are graphs of their own.
  WorkLimit(std::size_t most_nodes, Clock::time_point end);
  ~WorkLimit();
  WorkLimit(const WorkLimit&) = delete;
  WorkLimit& operator=(const WorkLimit&) = delete;

  /// Of this thread; null: there is none.
  static WorkLimit* current();
  /// Whether a graph of so many nodes may not grow. Remembers that it was asked for.
  bool refuses(std::size_t nodes);
  /// Whether the time is up; the clock is looked at now and then.
  bool is_late();

  // What has happened, whoever kept the error to himself.
  bool met_too_many_nodes() const { return too_many_nodes_; }
  bool ran_late() const { return late_; }
  std::size_t most_nodes() const { return most_nodes_; }

 private:
  std::size_t most_nodes_;
  Clock::time_point end_;
  unsigned asked_ = 0;
  bool too_many_nodes_ = false, late_ = false;
};

}  // namespace perfc
