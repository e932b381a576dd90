#pragma once
/// Which params decide what a value holds.
#include <string>
#include <vector>

#include "ir/builder.h"

namespace perfc {

/// Scalars and vectors of a graph whose contents a value is computed from, shapes aside: sampling rates, lengths,
/// flags. Those are what a person can say (`--value`); pictures are not. In order of their place in the graph; none
/// where the value is computed from more than some thousand others.
std::vector<ValueId> settings_behind(const Graph&, ValueId);
std::vector<ValueId> settings_behind(const GraphBuilder&, ValueId);

/// "; what the input rate holds decides, say it with --value rate=…", of settings with a name; "" where there are none.
std::string value_flags(const Graph&, const std::vector<ValueId>& decided_by);
std::string value_flags(const std::vector<std::string>& names);

}  // namespace perfc
