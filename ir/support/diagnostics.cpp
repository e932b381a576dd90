#include "ir/support/diagnostics.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace perfc {
namespace {

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
    if (out.size() > 2000) return out + "…";
  }
  return out;
}

}  // namespace

std::string to_string(const Diagnostic& d) {
  std::string out = printable(d.file.empty() ? "perfc" : d.file);
  if (d.loc.line >= 0) out += fmt::format(":{}:{}", d.loc.line, std::max(d.loc.column, 1));
  out += ":";
  if (d.loc.node >= 0) out += fmt::format(" node {}", d.loc.node);
  if (!d.name.empty()) out += fmt::format(" '{}'", printable(d.name));
  if (d.loc.offset >= 0) out += fmt::format(" @{}", d.loc.offset);
  if (d.loc.node >= 0 || !d.name.empty() || d.loc.offset >= 0) out += ":";
  constexpr const char* kLabel[] = {"note", "warning", "error"};
  out += fmt::format(" {}: {}", kLabel[static_cast<int>(d.severity)], printable(d.message));
  return out;
}

void Diagnostics::add(Severity severity, SourceLoc loc, std::string_view name, std::string message) {
  if (severity == Severity::Error) ++errors_;
  if (severity == Severity::Warning) ++warnings_;
  if (all_.size() < kMaxKept) { all_.push_back({severity, file_, loc, std::string(name), std::move(message)}); }
}

Failure Diagnostics::error(SourceLoc loc, std::string_view name, std::string message) {
  add(Severity::Error, loc, name, std::move(message));
  return {};
}
void Diagnostics::warning(SourceLoc loc, std::string_view name, std::string message) {
  add(Severity::Warning, loc, name, std::move(message));
}
void Diagnostics::note(SourceLoc loc, std::string_view name, std::string message) {
  add(Severity::Note, loc, name, std::move(message));
}

void Diagnostics::append(const Diagnostics& other) {
  for (const Diagnostic& d : other.all_) {
    const std::size_t kept = all_.size();
    add(d.severity, d.loc, d.name, d.message);
    if (all_.size() > kept && !d.file.empty()) all_.back().file = d.file;
  }
}

std::string Diagnostics::str() const {
  std::string out;
  for (const Diagnostic& d : all_) out += to_string(d) + "\n";
  return out;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    std::vector<std::size_t> row(candidate.size() + 1);
    std::iota(row.begin(), row.end(), 0);
    for (std::size_t i = 1; i <= word.size(); ++i) {
      std::size_t diagonal = row[0];
      row[0] = i;
      for (std::size_t j = 1; j <= candidate.size(); ++j) {
        const std::size_t substitute = diagonal + (word[i - 1] != candidate[j - 1]);
        diagonal = row[j];
        row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
      }
    }
    if (row.back() < best_distance) {
      best_distance = row.back();
      best = candidate;
    }
  }
  return best;
}

}  // namespace perfc
