#pragma once
/// The OpenVINO IR front end; docs/openvino.md.
#include <string_view>
#include <vector>

#include "frontends/frontend.h"

namespace perfc::openvino {

/// An XML file whose root is <net> with a version.
bool sniff(std::string_view head);
Result<Graph> import_xml(const Source&, const ImportOptions&, Diagnostics&);
std::vector<OpCoverage> coverage();

}  // namespace perfc::openvino
