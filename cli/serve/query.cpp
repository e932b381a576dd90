#include "cli/serve/query.h"

#include <charconv>

#include "ir/support/text.h"

namespace perfc::cli {
namespace {

std::optional<std::string> decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i] == '+' ? ' ' : text[i];
      continue;
    }
    unsigned char byte = 0;
    if (i + 2 >= text.size()) return std::nullopt;
    const char* const digits = text.data() + i + 1;
    if (std::from_chars(digits, digits + 2, byte, 16).ptr != digits + 2) return std::nullopt;
    out += static_cast<char>(byte);
    i += 2;
  }
  return out;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  return begin == text.npos ? std::string_view{} : text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

/// A range of Accept with its weight.
struct TypeRange {
  std::string range;
  double weight = 1;
};

TypeRange range_of(std::string_view text) {
  TypeRange out{lower(trimmed(next_word(text, ';')))};
  while (!text.empty()) {
    const std::string_view parameter = trimmed(next_word(text, ';'));
    if (!parameter.starts_with("q=")) continue;
    if (std::from_chars(parameter.data() + 2, parameter.data() + parameter.size(), out.weight).ec != std::errc{})
      out.weight = 0;
  }
  return out;
}

/// How closely a range names a type; 0: not at all.
int match(std::string_view range, std::string_view type) {
  if (range == type) return 3;
  if (range.ends_with("/*") && range != "*/*" && type.starts_with(range.substr(0, range.size() - 1))) return 2;
  return range == "*/*" ? 1 : 0;
}

}  // namespace

std::optional<std::vector<std::pair<std::string, std::string>>> parse_query(std::string_view query) {
  std::vector<std::pair<std::string, std::string>> out;
  while (!query.empty()) {
    std::string_view value = next_word(query, '&');
    if (value.empty()) continue;
    const auto name = decoded(next_word(value, '='));
    const auto text = decoded(value);
    if (!name || !text) return std::nullopt;
    out.emplace_back(*name, *text);
  }
  return out;
}

std::optional<std::size_t> choose_type(std::string_view accept, std::span<const std::string_view> types) {
  if (trimmed(accept).empty()) return 0;
  std::vector<TypeRange> ranges;
  while (!accept.empty()) ranges.push_back(range_of(next_word(accept, ',')));
  std::optional<std::size_t> best;
  double liked = 0;
  for (std::size_t t = 0; t < types.size(); ++t) {
    int closest = 0;
    double weight = 0;
    for (const TypeRange& r : ranges) {
      const int found = match(r.range, types[t]);
      if (found > closest) closest = found, weight = r.weight;
    }
    if (weight > liked) liked = weight, best = t;
  }
  return best;
}

}  // namespace perfc::cli
