#pragma once
/// The ONNX front end. Weights are skipped, not read: the file is mapped and
/// its wire format walked, so cost depends on the number of nodes only.
#include "frontends/common/piped.h"
#include "frontends/frontend.h"

namespace perfc::onnx {

bool sniff_binary(std::string_view head);
bool sniff_text(std::string_view head);
Result<Graph> import_binary(const Source&, const ImportOptions&, Diagnostics&);
Result<Graph> import_text(const Source&, const ImportOptions&, Diagnostics&);

/// The operators of every domain that become one of ours by name (the operator
/// table) or through a translator.
std::vector<OpCoverage> coverage();

/// Of a ModelProto.
extern const WeightFields kWeightFields;

}  // namespace perfc::onnx
