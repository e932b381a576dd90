#pragma once
/// The ONNX front end. Weights are skipped, not read: the file is mapped and
/// its wire format walked, so cost depends on the number of nodes only.
#include "frontends/frontend.h"

namespace perfc::onnx {

bool sniff_binary(std::string_view head);
bool sniff_text(std::string_view head);
Result<Graph> import_binary(const Source&, const ImportOptions&, Diagnostics&);
Result<Graph> import_text(const Source&, const ImportOptions&, Diagnostics&);

/// ONNX operators that a translator lowers (the others stand in the operator
/// table), and what they become.
struct Coverage {
  std::string_view spelling;
  std::string_view becomes;
};
std::vector<Coverage> coverage();

}  // namespace perfc::onnx
