#pragma once
/// Reads the text form `.pir` (grammar: ir/text/printer.h).
///
/// The graph is rebuilt through `GraphBuilder`: types are inferred anew, and
/// the annotated ones count as declared by the source. An annotation may leave
/// things open, or be left out; one that contradicts what is inferred is an
/// error, and so is an operator that the table does not have. Messages carry
/// line and column. After an error in one statement the others are still
/// checked, except those that need its value; a syntax error ends the reading.
#include <string_view>

#include "ir/graph.h"

namespace perfc {

/// Regions and container types nested deeper than this are refused.
inline constexpr std::size_t kMaxTextDepth = 128;

Result<Graph> parse_graph(std::string_view text, Diagnostics&);

}  // namespace perfc
