#pragma once
/// What requests say in their target and headers.
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace perfc::cli {

/// "a=1&b=x%20y" as names and values in their order ("+" is a space). Empty: a "%" without two hexadecimal digits.
std::optional<std::vector<std::pair<std::string, std::string>>> parse_query(std::string_view);

/// Of media types, the one that an Accept header (RFC 9110, section 12.5.1) likes best, the first of several; empty:
/// none. No header accepts everything.
std::optional<std::size_t> choose_type(std::string_view accept, std::span<const std::string_view> types);

}  // namespace perfc::cli
