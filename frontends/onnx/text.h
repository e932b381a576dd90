#pragma once
/// protobuf text format → wire format, for ONNX messages.
#include <string>
#include <string_view>

#include "ir/support/diagnostics.h"

namespace perfc::onnx {

/// Transcodes a ModelProto in text form. Unknown fields are skipped with a
/// warning; syntax errors are located. Nodes carry their line and column in
/// the private field `proto_text::kPlaceField`.
Result<std::string> text_to_wire(std::string_view text, Diagnostics& diags);

}  // namespace perfc::onnx
