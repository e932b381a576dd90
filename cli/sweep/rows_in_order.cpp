#include "cli/sweep/rows_in_order.h"

#include <fmt/format.h>

#include <cstdlib>

namespace perfc::cli {

bool RowsInOrder::add(std::size_t unit, SweepRows rows) {
  const std::lock_guard lock(mutex_);
  if (!journal_) {
    ranks_.send(fmt::format("{} {}\n{}", unit, rows.failed, rows.text));
    return true;
  }
  waiting_.emplace(unit, std::move(rows));
  while (const auto message = ranks_.received(Ranks::Look::Once)) take(*message);
  write();
  return state_ == SweepJournal::Written::Good;
}

void RowsInOrder::await(std::size_t end) {
  while (next_ < end && state_ == SweepJournal::Written::Good) {
    const auto message = ranks_.received(Ranks::Look::UntilThere);
    if (!message) return;
    take(*message);
    write();
  }
}

/// As `add` sends it.
void RowsInOrder::take(const std::string& message) {
  char* at = nullptr;
  const std::size_t unit = std::strtoull(message.c_str(), &at, 10);
  const std::size_t failed = std::strtoull(at, &at, 10);
  waiting_.emplace(unit, SweepRows{message.substr(static_cast<std::size_t>(at + 1 - message.c_str())), failed});
}

void RowsInOrder::write() {
  std::string text;
  for (auto at = waiting_.begin(); at != waiting_.end() && at->first == next_; at = waiting_.erase(at), ++next_) {
    text += at->second.text;
    failed_ += at->second.failed;
  }
  if (!text.empty() && state_ == SweepJournal::Written::Good) state_ = journal_->write(text);
}

}  // namespace perfc::cli
