#include "ir/support/json.h"

#include <fmt/format.h>

#include <string>

namespace perfc::json {
namespace {

/// Finds where a text stops being JSON (RFC 8259). Runs only after the parser,
/// which does not tell the place, has refused it.
class Checker {
 public:
  explicit Checker(std::string_view text) : s_(text) {}

  /// Offset of the first error; the text's size when it ends too early.
  std::size_t run() {
    std::string open;  // '{' or '[' per level
    bool value_expected = true;
    for (;;) {
      skip_space();
      if (value_expected) {
        if (at_ == s_.size()) return at_;
        const char c = s_[at_];
        if (c == '{' || c == '[') {
          if (open.size() >= kMaxDepth) {
            too_deep_ = true;
            return at_;
          }
          open += c;
          ++at_;
          skip_space();
          if (peek() == (c == '{' ? '}' : ']')) {
            ++at_;
            open.pop_back();
          } else {
            if (c == '{' && !key()) return at_;
            continue;
          }
        } else if (c == '"' ? !string() : c == '-' || (c >= '0' && c <= '9') ? !number() : !word()) {
          return at_;
        }
        value_expected = false;
        continue;
      }
      if (open.empty() || at_ == s_.size()) return at_;
      const char c = s_[at_];
      if (c == ',') {
        ++at_;
        if (open.back() == '{' && !key()) return at_;
        value_expected = true;
      } else if (c == (open.back() == '{' ? '}' : ']')) {
        ++at_;
        open.pop_back();
      } else {
        return at_;
      }
    }
  }

  /// Did `run` stop at a nesting beyond kMaxDepth?
  bool too_deep() const { return too_deep_; }

 private:
  char peek() const { return at_ < s_.size() ? s_[at_] : '\0'; }
  void skip_space() {
    while (at_ < s_.size() && (s_[at_] == ' ' || s_[at_] == '\n' || s_[at_] == '\r' || s_[at_] == '\t')) ++at_;
  }
  bool key() {
    skip_space();
    if (peek() != '"' || !string()) return false;
    skip_space();
    if (peek() != ':') return false;
    ++at_;
    return true;
  }
  bool string() {
    for (std::size_t i = at_ + 1; i < s_.size(); ++i) {
      const auto c = static_cast<unsigned char>(s_[i]);
      if (c == '"') {
        at_ = i + 1;
        return true;
      }
      if (c < 0x20) {
        at_ = i;
        return false;
      }
      if (c == '\\') ++i;
    }
    at_ = s_.size();
    return false;
  }
  bool number() {
    std::size_t i = at_ + (s_[at_] == '-' ? 1 : 0);
    const auto digits = [&] {
      const std::size_t first = i;
      while (i < s_.size() && s_[i] >= '0' && s_[i] <= '9') ++i;
      return i > first;
    };
    if (!digits()) return at_ = i, false;
    if (i < s_.size() && s_[i] == '.' && (++i, !digits())) return at_ = i, false;
    if (i < s_.size() && (s_[i] == 'e' || s_[i] == 'E')) {
      ++i;
      if (i < s_.size() && (s_[i] == '+' || s_[i] == '-')) ++i;
      if (!digits()) return at_ = i, false;
    }
    at_ = i;
    return true;
  }
  bool word() {
    for (std::string_view w : {"true", "false", "null"}) {
      if (s_.substr(at_, w.size()) == w) {
        at_ += w.size();
        return true;
      }
    }
    return false;
  }

  std::string_view s_;
  std::size_t at_ = 0;
  bool too_deep_ = false;
};

SourceLoc line_and_column(std::string_view text, std::size_t at) {
  SourceLoc loc{.line = 1, .column = 1};
  for (char c : text.substr(0, at)) {
    ++loc.column;
    if (c == '\n') {
      ++loc.line;
      loc.column = 1;
    }
  }
  return loc;
}

}  // namespace

Result<Document> Document::parse(std::string_view text, Diagnostics& diags) {
  Document d;
  d.parser_ = std::make_unique<simdjson::dom::parser>();
  auto error = d.parser_->allocate(text.size(), kMaxDepth);
  if (!error) error = d.parser_->parse(text.data(), text.size()).get(d.root_);
  if (!error) return d;
  if (error == simdjson::CAPACITY || error == simdjson::MEMALLOC) {
    return diags.error(fmt::format("the JSON text of {} bytes is too large", text.size()));
  }
  Checker checker(text);
  const std::size_t at = checker.run();
  const SourceLoc loc = line_and_column(text, at);
  if (checker.too_deep())
    return diags.error(loc, {}, fmt::format("objects and arrays nested deeper than {} levels", kMaxDepth));
  if (at >= text.size()) return diags.error(loc, {}, "malformed JSON: the text ends too early; is the file complete?");
  return diags.error(loc, {}, fmt::format("malformed JSON: {}", simdjson::error_message(error)));
}

}  // namespace perfc::json
