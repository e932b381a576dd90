#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>

#include "cli/cli.h"

namespace perfc::cli {

namespace {
constexpr std::size_t kBarWidth = 24;
constexpr double kRedrawSeconds = 0.1;
}  // namespace

std::string clock_text(double seconds) {
  if (!(seconds >= 0 && seconds < 1e9)) return "?";
  const auto s = static_cast<std::int64_t>(std::lround(seconds));
  if (s >= 3600) return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
  return fmt::format("{}:{:02}", s / 60, s % 60);
}

std::string progress_line(const Progress& p) {
  const double done = p.steps > 0 ? static_cast<double>(p.step) / static_cast<double>(p.steps) : 1;
  const auto filled = static_cast<std::size_t>(done * kBarWidth);
  std::string bar(filled, '=');
  if (filled < kBarWidth) bar += '>';
  bar.resize(kBarWidth, ' ');
  return fmt::format("epoch {}/{} [{}] {:3.0f} %  loss {:.4g}  rate {:.2e}  {} gone, {} left", p.epoch, p.epochs, bar,
                     100 * done, p.loss, p.learning_rate, clock_text(p.seconds), clock_text(p.seconds_left));
}

ProgressBar::Style ProgressBar::detect() { return ::isatty(2) ? Style::Bar : Style::Lines; }

void ProgressBar::show(const Progress& p) {
  if (style_ == Style::Off) return;
  if (style_ == Style::Lines) {
    const bool epoch_ends = p.epochs > 0 && p.step % (p.steps / p.epochs) == 0;
    if (epoch_ends) say("{}\n", progress_line(p));
    return;
  }
  if (p.step < p.steps && p.seconds - shown_s_ < kRedrawSeconds) return;
  shown_s_ = p.seconds;
  open_line_ = true;
  say("\r{}\x1b[K", progress_line(p));
}

void ProgressBar::finish() {
  if (open_line_) say("\n");
  open_line_ = false;
}

}  // namespace perfc::cli
