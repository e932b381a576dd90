#pragma once
/// Texts of others inside formats of ours. All take printable text.
#include <string>
#include <string_view>

namespace perfc {

/// A code span of GitHub's Markdown, in table cells too: nothing in it is markup, a mention or a cell's end.
std::string markdown_code(std::string_view);
/// The same, but what cannot be markup stays as it is: names of devices, mostly.
std::string markdown_word(std::string_view);
/// A path as a URI reference (RFC 3986): what is not unreserved is percent-encoded, but for slashes.
std::string uri_path(std::string_view);

}  // namespace perfc
