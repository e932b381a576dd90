#pragma once
/// The table of a sweep while it grows: rows are appended in the plan's order, whole lines at a time, so that what a
/// killed run left is a beginning of the table and at most one torn line.
///
/// Beside FILE stands FILE.settings, JSON of all that the rows depend on. A table is continued under the same settings
/// only.
#include <string>
#include <string_view>

#include "cli/cli.h"
#include "sweep/plan.h"

namespace perfc::cli {

/// What to do with a table that is there.
enum class Existing { Continued, Replaced };

class SweepJournal {
 public:
  /// "" and "-": standard output. What is no regular file is written from the beginning, without settings. An error
  /// (printed) where the file cannot be written, another sweep writes it, or what is in it is not of this sweep.
  static std::optional<SweepJournal> open(const std::string& path, const SweepPlan&, const std::string& settings,
                                          Existing);
  /// Units whose rows are there already, and how many of these rows have errors.
  std::size_t units() const { return units_; }
  std::size_t failed() const { return failed_; }

  enum class Written { Good, Unread, Failed };
  /// Unread: nobody reads the pipe any more. Failed: printed why.
  Written write(std::string_view rows);

 private:
  SweepJournal() = default;
  bool keep(std::string_view table, const SweepPlan&, const std::string& path);
  std::optional<LogFile> file_;
  Descriptor lock_;
  std::uint64_t bytes_ = 0;  ///< that are kept
  std::size_t units_ = 0, failed_ = 0;
  bool standard_output_ = false;
};

}  // namespace perfc::cli
