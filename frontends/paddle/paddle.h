#pragma once
/// The PaddlePaddle front end: ProgramDesc (`.pdmodel`, `__model__`) and PIR's JSON; see docs/paddle.md.
#include <vector>

#include "frontends/frontend.h"

namespace perfc::paddle {

bool sniff_program(std::string_view head);
bool sniff_pir(std::string_view head);
Result<Graph> import_program(const Source&, const ImportOptions&, Diagnostics&);
Result<Graph> import_pir(const Source&, const ImportOptions&, Diagnostics&);
std::vector<OpCoverage> coverage();

}  // namespace perfc::paddle
