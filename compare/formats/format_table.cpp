#include <algorithm>
#include <array>

#include "compare/formats/format.h"

namespace perfc {
namespace {
constexpr std::array kFormats{
    DiffFormat{"text", diff_text},
    DiffFormat{"markdown", diff_markdown},
    DiffFormat{"github-comment", diff_github_comment},
    DiffFormat{"json", diff_json},
    DiffFormat{"junit", diff_junit},
    DiffFormat{"sarif", diff_sarif},
    DiffFormat{"codequality", diff_codequality},
    DiffFormat{"badge", diff_badge},
    DiffFormat{"html", diff_html, Draw::Yes},
};
}  // namespace

std::span<const DiffFormat> diff_formats() { return kFormats; }

std::size_t DiffReport::failures() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(findings, [](const Finding& f) { return f.acknowledged.empty(); }));
}

}  // namespace perfc
