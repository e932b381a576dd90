#pragma once
/// What is known of constants beside their contents. Tables are those that are no parameters: positions, the mean of
/// the data, a scale of ones that was never trained. They are stored and read as weights are; only what counts
/// parameters leaves them out.
#include "ir/builder.h"

namespace perfc {

/// Attribute that marks such a constant; `table` in the text form.
inline constexpr std::string_view kTable = "table";

ValueId add_table(GraphBuilder&, Literal literal, std::string name, SourceLoc loc);

/// Attribute of a weight whose elements are all 0, of which nobody keeps as many; `zeros` in the text form.
inline constexpr std::string_view kZeros = "zeros";

ValueId add_zeros(GraphBuilder&, Type type, std::string name, SourceLoc loc);
/// Is a constant known to be 0 throughout, marked so or by its contents?
bool is_zeros(const Node&);

}  // namespace perfc
