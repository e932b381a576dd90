#pragma once
/// JSON text, parsed with simdjson, errors located by line and column.
#include <simdjson.h>

#include <memory>
#include <optional>
#include <string_view>

#include "ir/support/diagnostics.h"

namespace perfc::json {

using Element = simdjson::dom::element;
using Array = simdjson::dom::array;
using Object = simdjson::dom::object;

/// Objects and arrays nested deeper than this are refused.
inline constexpr std::size_t kMaxDepth = 512;

/// A parsed text. Elements and strings point into it.
class Document {
 public:
  /// Text beyond 4 GiB is refused by the parser.
  static Result<Document> parse(std::string_view text, Diagnostics&);
  Element root() const { return root_; }

 private:
  std::unique_ptr<simdjson::dom::parser> parser_;  ///< elements point into it
  Element root_;
};

/// Member of an object; nothing when `e` is no object or has none of that name.
inline std::optional<Element> member(const Element& e, std::string_view name) {
  Object object;
  if (e.get(object)) return std::nullopt;
  Element value;
  if (object.at_key(name).get(value)) return std::nullopt;
  return value;
}
inline std::optional<std::string_view> text(const std::optional<Element>& e) {
  std::string_view s;
  if (!e || e->get(s)) return std::nullopt;
  return s;
}
/// Integers only; a float is none, and neither is an integer beyond int64.
inline std::optional<std::int64_t> integer(const std::optional<Element>& e) {
  std::int64_t v = 0;
  if (!e || e->get(v)) return std::nullopt;
  return v;
}
inline std::optional<Array> array(const std::optional<Element>& e) {
  Array a;
  if (!e || e->get(a)) return std::nullopt;
  return a;
}

}  // namespace perfc::json
