#pragma once
/// Progress of a training run on standard error.
#include <string>

#include "gnn/trainer.h"

namespace perfc::cli {

/// "epoch 3/10 [=====>    ] 52 %  loss 0.0123  rate 1e-03  0:41 of 1:20, 0:39 left"
std::string progress_line(const Progress&);

/// "1:05:09", "4:07"; "?" for what is not a time.
std::string clock_text(double seconds);

/// Redraws one line in a terminal, at most ten times a second; elsewhere prints
/// one line per epoch.
class ProgressBar {
 public:
  enum class Style : unsigned char { Off, Lines, Bar };
  explicit ProgressBar(Style style) : style_(style) {}
  /// By what standard error is.
  static Style detect();
  void show(const Progress&);
  void finish();

 private:
  Style style_;
  double shown_s_ = -1;
  bool open_line_ = false;
};

}  // namespace perfc::cli
