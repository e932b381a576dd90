#pragma once
/// The TensorFlow front end: SavedModel and GraphDef, binary and text; see docs/tensorflow.md.
#include <vector>

#include "frontends/common/piped.h"
#include "frontends/frontend.h"

namespace perfc::tf {

bool sniff_binary(std::string_view head);
bool sniff_text(std::string_view head);
Result<Graph> import_binary(const Source&, const ImportOptions&, Diagnostics&);
Result<Graph> import_text(const Source&, const ImportOptions&, Diagnostics&);
std::vector<OpCoverage> coverage();

/// Of a SavedModel or a GraphDef.
extern const WeightFields kWeightFields;

}  // namespace perfc::tf
