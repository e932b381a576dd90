#pragma once
/// A place in MLIR text and what can be read there.
#include <cctype>
#include <string_view>

#include "ir/support/diagnostics.h"

namespace perfc::stablehlo {

/// Identifier characters of MLIR, "." included: "stablehlo.add", "init", "%arg0" without its sigil.
inline bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '$';
}

class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  /// Steps over white space and comments.
  void skip();
  bool at_end() const { return at_ >= text_.size(); }
  std::string_view rest() const { return text_.substr(at_); }
  char peek() const { return at_end() ? '\0' : text_[at_]; }
  bool sees(std::string_view what) const { return rest().starts_with(what); }
  /// `what`, taken when it comes next.
  bool take(std::string_view what);
  /// The same for a whole word.
  bool take_word(std::string_view what);
  void advance(std::size_t n) { at_ += n < text_.size() - at_ ? n : text_.size() - at_; }

  /// A run of identifier characters, may be empty.
  std::string_view word();
  /// "…" without its quotes; false when it does not end.
  bool string(std::string_view& out);
  /// Text up to one of `ends` outside of brackets and strings, or up to the bracket that closes the surrounding one.
  /// Nothing when a bracket or string does not end.
  bool until(std::string_view ends, std::string_view& out);
  /// A bracket with what it holds, as text with both brackets.
  bool balanced(std::string_view& out);

  std::size_t position() const { return at_; }
  void back_to(std::size_t position) { at_ = position; }
  std::string_view since(std::size_t position) const { return text_.substr(position, at_ - position); }
  /// Line and column of here. Amortised linear: places are asked for in order.
  SourceLoc place();

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t counted_ = 0, line_start_ = 0;
  std::int32_t line_ = 1;
};

}  // namespace perfc::stablehlo
