#include "frontends/stablehlo/cursor.h"

#include <algorithm>

namespace perfc::stablehlo {

void Cursor::skip() {
  while (!at_end()) {
    const char c = text_[at_];
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
      ++at_;
    } else if (sees("//")) {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else {
      return;
    }
  }
}

bool Cursor::take(std::string_view what) {
  if (!sees(what)) return false;
  at_ += what.size();
  return true;
}

bool Cursor::take_word(std::string_view what) {
  const std::string_view rest = this->rest();
  if (!rest.starts_with(what) || (rest.size() > what.size() && is_word(rest[what.size()]))) return false;
  at_ += what.size();
  return true;
}

std::string_view Cursor::word() {
  const std::size_t start = at_;
  while (at_ < text_.size() && is_word(text_[at_])) ++at_;
  return since(start);
}

bool Cursor::string(std::string_view& out) {
  const std::size_t start = at_ + 1;
  for (std::size_t end = start;; ++end) {
    end = text_.find_first_of("\"\\", end);
    if (end == text_.npos) return false;
    if (text_[end] == '\\') {
      ++end;
      continue;
    }
    out = text_.substr(start, end - start);
    at_ = end + 1;
    return true;
  }
}

bool Cursor::until(std::string_view ends, std::string_view& out) {
  const std::size_t start = at_;
  std::size_t depth = 0;
  while (!at_end()) {
    const char c = text_[at_];
    if (depth == 0 && ends.find(c) != ends.npos) break;
    if (c == '"') {
      std::string_view skipped;
      if (!string(skipped)) return false;
      continue;
    }
    if (c == '-' && sees("->")) {
      at_ += 2;
      continue;
    }
    if (c == '(' || c == '[' || c == '{' || c == '<') ++depth;
    if (c == ')' || c == ']' || c == '}' || c == '>') {
      if (depth == 0) break;
      --depth;
    }
    ++at_;
  }
  out = since(start);
  return depth == 0;
}

bool Cursor::balanced(std::string_view& out) {
  const std::size_t start = at_++;
  std::string_view inside;
  if (!until("", inside) || at_end()) return false;
  ++at_;
  out = since(start);
  return true;
}

SourceLoc Cursor::place() {
  for (; counted_ < at_; ++counted_) {
    counted_ = std::min(text_.find('\n', counted_), at_);
    if (counted_ >= at_) break;
    ++line_;
    line_start_ = counted_ + 1;
  }
  SourceLoc loc;
  loc.line = line_;
  loc.column = static_cast<std::int32_t>(at_ - std::min(line_start_, at_)) + 1;
  return loc;
}

}  // namespace perfc::stablehlo
