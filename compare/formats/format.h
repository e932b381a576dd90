#pragma once
/// A comparison as text: a row per format in format_table.cpp.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compare/threshold.h"

namespace perfc {

struct DiffReport {
  Comparisons comparison;
  std::vector<Finding> findings;
  std::vector<std::string> notes;  ///< what else is to be said, printable
  std::size_t top = 10;            ///< changes listed per model
  Colour colour = Colour::No;      ///< of text
  /// Findings that nobody meant.
  std::size_t failures() const;
};

struct DiffFormat {
  std::string_view name;
  std::string (*write)(const DiffReport&);
  Draw draws = Draw::No;  ///< wants `ModelComparison::drawing`
};
std::span<const DiffFormat> diff_formats();

std::string diff_text(const DiffReport&);
std::string diff_markdown(const DiffReport&);
/// Markdown behind a marker, by which the comment is found again, within what GitHub takes.
std::string diff_github_comment(const DiffReport&);
/// Schema perfc.diff/1 (docs/json.md).
std::string diff_json(const DiffReport&);
/// A test per figure; JUnit's form as GitLab and Jenkins read it.
std::string diff_junit(const DiffReport&);
/// SARIF 2.1.0 (OASIS), for GitHub's code scanning.
std::string diff_sarif(const DiffReport&);
/// A Code Quality report as GitLab reads it in merge requests.
std::string diff_codequality(const DiffReport&);
/// shields.io's endpoint badge: the step in latency, red where a limit is exceeded, yellow where all that is was meant.
std::string diff_badge(const DiffReport&);
/// One page without anything from elsewhere, with the graphs of models that changed (docs/report.md).
std::string diff_html(const DiffReport&);

}  // namespace perfc
