#pragma once
/// Files that are recognisably something that perfc does not read: compressed files, archives,
/// weights without a graph, formats of other tools. The message then says what to do instead of
/// calling them damaged.
#include <optional>
#include <string_view>

namespace perfc {

/// "compressed with gzip; unpack it …": told by the bytes, whatever the name. nullopt when nothing
/// is known against the file.
std::optional<std::string_view> foreign_format(std::string_view bytes);

}  // namespace perfc
