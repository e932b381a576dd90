#pragma once
/// Constants that are no parameters: positions, the mean of the data, a scale of ones that was never
/// trained. They are stored and read as weights are; only what counts parameters leaves them out.
#include "ir/builder.h"

namespace perfc {

/// Attribute that marks such a constant; `table` in the text form.
inline constexpr std::string_view kTable = "table";

ValueId add_table(GraphBuilder&, Literal literal, std::string name, SourceLoc loc);

}  // namespace perfc
