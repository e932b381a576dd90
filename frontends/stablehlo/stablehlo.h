#pragma once
/// StableHLO as text (`.mlir`): what jax.jit(f).lower(…).as_text(), jax.export and torch_xla write.
#include <string_view>
#include <vector>

#include "frontends/frontend.h"

namespace perfc::stablehlo {

bool sniff(std::string_view head);
Result<Graph> import_text(const Source&, const ImportOptions&, Diagnostics&);
std::vector<OpCoverage> coverage();

}  // namespace perfc::stablehlo
