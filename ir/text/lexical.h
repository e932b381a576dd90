#pragma once
/// Words of the text form that printer and parser must agree on.
#include <optional>
#include <string>
#include <string_view>

namespace perfc::text {

/// `[A-Za-z_][A-Za-z0-9_]*`, other than a lone `_`.
bool is_identifier(std::string_view);

/// `text` between `quote`s. Control characters, quotes, backslashes and bytes
/// that are not UTF-8 are escaped.
std::string quoted(std::string_view text, char quote = '"');

/// Undoes `quoted`, quotes included; nothing when an escape is unknown.
std::optional<std::string> unquoted(std::string_view token);

/// The shortest spelling that reads back to the same bits; never looks like an
/// integer. NaNs other than the default one keep their bits: `nan(0x7ff8…1)`.
std::string real_text(double);

/// Undoes `real_text`; nothing when `token` is no number of this form.
std::optional<double> parse_real(std::string_view token);

}  // namespace perfc::text
