#pragma once
/// Rows of a sweep on their way to its table, whichever thread or rank makes them.
#include <map>
#include <mutex>

#include "cli/ranks.h"
#include "cli/sweep/journal.h"

namespace perfc::cli {

/// Rank 0 writes them in the plan's order; other ranks send theirs to it.
class RowsInOrder {
 public:
  /// `journal`: rank 0's, null elsewhere. `next`: the first unit whose rows it lacks.
  RowsInOrder(SweepJournal* journal, std::size_t next, Ranks& ranks) : journal_(journal), ranks_(ranks), next_(next) {}
  /// Of one unit; false: no more rows are wanted.
  bool add(std::size_t unit, SweepRows rows);
  /// Rank 0, when it has made its own: waits for the others' rows, up to unit `end`.
  void await(std::size_t end);
  SweepJournal::Written state() const { return state_; }
  std::size_t failed() const { return failed_; }

 private:
  void take(const std::string& message);
  void write();

  SweepJournal* journal_;
  Ranks& ranks_;
  std::mutex mutex_;
  std::map<std::size_t, SweepRows> waiting_;  ///< by unit
  std::size_t next_, failed_ = 0;
  SweepJournal::Written state_ = SweepJournal::Written::Good;
};

}  // namespace perfc::cli
