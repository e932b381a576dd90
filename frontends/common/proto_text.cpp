#include "frontends/common/proto_text.h"

#include <fmt/format.h>

#include <boost/spirit/home/x3.hpp>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>
#include <vector>

#include "frontends/common/wire.h"

namespace perfc::proto_text {
namespace {

// ---- Lexical grammar. Rules give pieces of the text and never recurse; nesting
// is the transcoder's stack, so that hostile files cannot exhaust ours.

namespace x3 = boost::spirit::x3;
using x3::ascii::char_;
using Piece = boost::iterator_range<const char*>;

const auto space_rule = *(x3::ascii::space | ('#' >> *(char_ - '\n')));
/// Field names, enumerators and numbers; what they mean is decided by the field.
const auto word_rule = x3::raw[+(x3::ascii::alnum | char_("_.+-"))];
const auto extension_rule = '[' >> x3::raw[*(x3::char_ - ']')] >> ']';
const auto string_rule = ('"' >> x3::raw[*(('\\' >> x3::char_) | (x3::char_ - (x3::lit('"') | '\n')))] >> '"') |
                         ('\'' >> x3::raw[*(('\\' >> x3::char_) | (x3::char_ - (x3::lit('\'') | '\n')))] >> '\'');

std::string_view view(const Piece& p) { return {p.begin(), static_cast<std::size_t>(p.size())}; }

// ---- Values

std::optional<std::uint64_t> integer(std::string_view token) {
  if (token == "true" || token == "True" || token == "t") return 1;
  if (token == "false" || token == "False" || token == "f") return 0;
  const bool negative = token.starts_with('-');
  if (negative || token.starts_with('+')) token.remove_prefix(1);
  int base = 10;
  if (token.starts_with("0x") || token.starts_with("0X")) {
    base = 16;
    token.remove_prefix(2);
  }
  std::uint64_t v = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), v, base);
  if (error != std::errc{} || end != token.data() + token.size()) return std::nullopt;
  return negative ? std::uint64_t{0} - v : v;
}

std::optional<double> real(std::string_view token) {
  const bool negative = token.starts_with('-');
  if (negative || token.starts_with('+')) token.remove_prefix(1);
  double v = 0;
  if (token == "inf" || token == "INF" || token == "infinity") {
    v = INFINITY;
  } else if (token == "nan") {
    v = NAN;
  } else {
    if (token.ends_with('f') || token.ends_with('F')) token.remove_suffix(1);
    const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), v);
    if (error == std::errc::invalid_argument || end != token.data() + token.size()) return std::nullopt;
  }
  return negative ? -v : v;
}

std::optional<std::uint64_t> enumerator(const Field& field, std::string_view token) {
  for (const Enumerator& e : field.enumerators) {
    if (e.name == token) return static_cast<std::uint64_t>(e.number);
  }
  return integer(token);
}

/// Up to `most` digits of a base, from p on.
int digits(const char*& p, const char* end, int base, int most) {
  int v = 0;
  for (int i = 0; i < most && p != end; ++i, ++p) {
    const char c = *p;
    const int d = c >= '0' && c <= '9'   ? c - '0'
                  : c >= 'a' && c <= 'f' ? c - 'a' + 10
                  : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                         : 99;
    if (d >= base) break;
    v = v * base + d;
  }
  return v;
}

void unescape(std::string_view raw, std::string& out) {
  const char* p = raw.data();
  const char* end = p + raw.size();
  while (p != end) {
    const auto* backslash = static_cast<const char*>(std::memchr(p, '\\', static_cast<std::size_t>(end - p)));
    if (!backslash || backslash + 1 == end) {
      out.append(p, end);
      return;
    }
    out.append(p, backslash);
    p = backslash + 1;
    const char c = *p++;
    switch (c) {
      case 'n':
        out += '\n';
        break;
      case 't':
        out += '\t';
        break;
      case 'r':
        out += '\r';
        break;
      case 'a':
        out += '\a';
        break;
      case 'b':
        out += '\b';
        break;
      case 'f':
        out += '\f';
        break;
      case 'v':
        out += '\v';
        break;
      case 'x':
      case 'X':
        out += static_cast<char>(digits(p, end, 16, 2));
        break;
      default:
        if (c >= '0' && c <= '7') {
          --p;
          out += static_cast<char>(digits(p, end, 8, 3));
        } else {
          out += c;
        }
    }
  }
}

/// Lengths of messages are written when they close, into room left for them:
/// five bytes, as varints may be padded.
constexpr std::size_t kLengthBytes = 5;
constexpr std::uint64_t kMaxLength = (std::uint64_t{1} << 35) - 1;

void patch_length(std::string& out, std::size_t at) {
  std::uint64_t v = out.size() - at - kLengthBytes;
  for (std::size_t i = 0; i < kLengthBytes; ++i, v >>= 7) {
    out[at + i] = static_cast<char>((v & 0x7f) | (i + 1 < kLengthBytes ? 0x80 : 0));
  }
}

class Transcoder {
 public:
  Transcoder(std::string_view text, UnknownFields unknown, Diagnostics& diags)
      : begin_(text.data()), p_(text.data()), end_(text.data() + text.size()), counted_(p_), line_start_(p_),
        unknown_(unknown), diags_(diags) {}

  Result<std::string> run(const Message& root) {
    out_.reserve(static_cast<std::size_t>(end_ - begin_) / 6);
    std::vector<Open> stack{{&root, 0, '\0'}};
    for (;;) {
      skip_space();
      Open& top = stack.back();
      if (at_end()) {
        if (stack.size() > 1) return fail("the file ends inside a message");
        return std::move(out_);
      }
      const char c = *p_;
      if (c == ',' || c == ';') {
        ++p_;
        continue;
      }
      if (top.closer != '\0' && c == top.closer) {
        ++p_;
        if (!close(stack)) return Failure{};
        continue;
      }
      if (!field(stack)) return Failure{};
    }
  }

 private:
  struct Open {
    const Message* message;  ///< null: contents are skipped
    std::size_t length_at;   ///< where its length goes
    char closer;
    bool in_list = false;  ///< inside `name: [ {…}, … ]`
    const Field* list_field = nullptr;
  };

  bool at_end() const { return p_ == end_; }
  void skip_space() {
    // Most pieces follow one blank or none.
    if (p_ != end_ && static_cast<unsigned char>(*p_) > ' ' && *p_ != '#') return;
    x3::parse(p_, end_, space_rule);
  }
  bool accept(char c) {
    skip_space();
    if (at_end() || *p_ != c) return false;
    ++p_;
    return true;
  }
  std::string_view word() {
    Piece piece;
    return x3::parse(p_, end_, word_rule, piece) ? view(piece) : std::string_view{};
  }

  /// Line and column of `at`. Places are asked for in rising order, so the text
  /// is counted once.
  SourceLoc place(const char* at) {
    if (at < counted_) {
      counted_ = line_start_ = begin_;
      line_ = 1;
    }
    while (const auto* newline =
               static_cast<const char*>(std::memchr(counted_, '\n', static_cast<std::size_t>(at - counted_)))) {
      ++line_;
      counted_ = line_start_ = newline + 1;
    }
    counted_ = at;
    return {.line = line_,
            .column = static_cast<std::int32_t>(std::min<std::ptrdiff_t>(at - line_start_ + 1, 0xfffff))};
  }
  Failure fail(std::string message) { return fail(p_, std::move(message)); }
  Failure fail(const char* at, std::string message) { return diags_.error(place(at), {}, std::move(message)); }

  void put_key(const Field& f, unsigned wire_type) { wire::put_varint(out_, std::uint64_t{f.number} << 3 | wire_type); }

  Status field(std::vector<Open>& stack) {
    const char* start = p_;
    std::string_view name;
    Piece piece;
    if (*p_ == '[') {
      if (!x3::parse(p_, end_, extension_rule, piece)) return fail("']' is missing");
      name = "[extension]";
    } else {
      name = word();
    }
    if (name.empty()) return fail(fmt::format("a field name was expected, not '{}'", *p_));
    const Field* field = nullptr;
    const Message* message = stack.back().message;
    if (message) {
      for (const Field& f : message->fields) {
        if (f.name == name) {
          field = &f;
          break;
        }
      }
      if (!field && unknown_ == UnknownFields::Warn) {
        diags_.warning(place(start), {}, fmt::format("unknown field '{}' is skipped", name));
      }
    }
    const bool colon = accept(':');
    skip_space();
    if (at_end()) return fail(fmt::format("field '{}' has no value", name));
    if (*p_ == '{' || *p_ == '<') return open_message(stack, field);
    if (!colon && *p_ != '[') return fail(fmt::format("':' or '{{' was expected after '{}'", name));
    if (*p_ != '[') return scalar(field);
    ++p_;
    if (accept(']')) return ok();
    skip_space();
    if (!colon && !at_end() && *p_ != '{' && *p_ != '<')
      return fail(fmt::format("':' was expected after '{}', as its list holds no messages", name));
    if (!at_end() && (*p_ == '{' || *p_ == '<')) {
      stack.back().in_list = true;
      stack.back().list_field = field;
      return open_message(stack, field);
    }
    for (;;) {
      if (!scalar(field)) return Failure{};
      if (accept(']')) return ok();
      if (!accept(',')) return fail("',' or ']' was expected in a list");
    }
  }

  Status open_message(std::vector<Open>& stack, const Field* field) {
    skip_space();
    if (at_end() || (*p_ != '{' && *p_ != '<')) return fail("'{' was expected");
    if (field && field->kind != Kind::Message) return fail(fmt::format("field '{}' is not a message", field->name));
    if (stack.size() >= kMaxNesting) return fail(fmt::format("messages are nested deeper than {}", kMaxNesting));
    Open open{field ? field->message : nullptr, 0, *p_ == '{' ? '}' : '>'};
    if (open.message) {
      put_key(*field, 2);
      open.length_at = out_.size();
      out_.append(kLengthBytes, '\0');
      if (open.message->located) {
        const SourceLoc loc = place(p_);
        wire::put_varint(out_, std::uint64_t{kPlaceField} << 3);
        wire::put_varint(out_, static_cast<std::uint64_t>(loc.line) << 20 | static_cast<std::uint64_t>(loc.column));
      }
    }
    ++p_;
    stack.push_back(open);
    return ok();
  }

  Status close(std::vector<Open>& stack) {
    if (stack.back().message) {
      if (out_.size() > kMaxLength) return fail("a message is too large");
      patch_length(out_, stack.back().length_at);
    }
    stack.pop_back();
    Open& parent = stack.back();
    if (!parent.in_list) return ok();
    if (accept(']')) {
      parent.in_list = false;
      return ok();
    }
    if (!accept(',')) return fail("',' or ']' was expected in a list");
    return open_message(stack, parent.list_field);
  }

  Status scalar(const Field* field) {
    skip_space();
    if (at_end()) return fail("a value was expected");
    if (*p_ == '"' || *p_ == '\'') return string(field);
    const char* start = p_;
    const std::string_view token = word();
    if (token.empty()) return fail(fmt::format("a value was expected, not '{}'", *p_));
    if (!field) return ok();
    switch (field->kind) {
      case Kind::Int: {
        const auto v = integer(token);
        if (!v) return fail(start, fmt::format("field '{}': '{}' is not an integer", field->name, token));
        put_key(*field, 0);
        wire::put_varint(out_, *v);
        return ok();
      }
      case Kind::Enum: {
        const auto v = enumerator(*field, token);
        if (!v) return fail(start, fmt::format("field '{}': unknown value '{}'", field->name, token));
        put_key(*field, 0);
        wire::put_varint(out_, *v);
        return ok();
      }
      case Kind::Float:
      case Kind::Double: {
        const auto v = real(token);
        if (!v) return fail(start, fmt::format("field '{}': '{}' is not a number", field->name, token));
        const bool wide = field->kind == Kind::Double;
        put_key(*field, wide ? 1 : 5);
        const auto narrow = static_cast<float>(*v);
        char raw[8];
        std::memcpy(raw, wide ? static_cast<const void*>(&*v) : &narrow, wide ? 8 : 4);
        out_.append(raw, wide ? 8 : 4);
        return ok();
      }
      case Kind::Bytes:
      case Kind::Payload:
      case Kind::Message:
        break;
    }
    return fail(start, fmt::format("field '{}': '{}' is not of its kind", field->name, token));
  }

  /// One or more adjacent quoted strings.
  Status string(const Field* field) {
    if (field && field->kind != Kind::Bytes && field->kind != Kind::Payload) {
      return fail(fmt::format("field '{}' is not a string", field->name));
    }
    const char* start = p_;
    const std::size_t rollback = out_.size();
    std::size_t length_at = 0;
    if (field) {
      put_key(*field, 2);
      length_at = out_.size();
      out_.append(kLengthBytes, '\0');
    }
    std::size_t text = 0;
    while (!at_end() && (*p_ == '"' || *p_ == '\'')) {
      Piece piece;
      if (!x3::parse(p_, end_, string_rule, piece)) {
        const auto* newline = static_cast<const char*>(std::memchr(p_, '\n', static_cast<std::size_t>(end_ - p_)));
        return fail(newline ? newline : end_, "the string does not end");
      }
      text += static_cast<std::size_t>(piece.size());
      if (field && !(field->kind == Kind::Payload && text > kMaxPayloadText)) unescape(view(piece), out_);
      skip_space();
    }
    if (!field) return ok();
    if (field->kind == Kind::Payload && text > kMaxPayloadText) {
      out_.resize(rollback);
    } else {
      if (out_.size() - length_at > kMaxLength) return fail(start, "a string is too long");
      patch_length(out_, length_at);
    }
    return ok();
  }

  static constexpr std::size_t kMaxNesting = 512;

  const char* begin_;
  const char* p_;
  const char* end_;
  const char* counted_;  ///< lines are counted up to here
  const char* line_start_;
  std::int32_t line_ = 1;
  UnknownFields unknown_;
  Diagnostics& diags_;
  std::string out_;
};

}  // namespace

SourceLoc place_from_field(std::uint64_t value) {
  return {.line = static_cast<std::int32_t>(value >> 20 & 0x7fffffff),
          .column = static_cast<std::int32_t>(value & 0xfffff)};
}

Result<std::string> to_wire(std::string_view text, const Message& root, UnknownFields unknown, Diagnostics& diags) {
  return Transcoder(text, unknown, diags).run(root);
}

}  // namespace perfc::proto_text
