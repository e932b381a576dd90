#pragma once
/// Reads perfc's own text form (grammar: ir/text/printer.h).
#include <string_view>

#include "frontends/frontend.h"

namespace perfc::pir {

bool sniff(std::string_view head);
/// The graph as the text has it; with options that settle dims, its types are
/// inferred anew for those.
Result<Graph> import_text(const Source&, const ImportOptions&, Diagnostics&);

}  // namespace perfc::pir
