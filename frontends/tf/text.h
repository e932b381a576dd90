#pragma once
/// Protobuf text form → wire format, for the TensorFlow messages that the reader
/// looks at. Nodes and functions carry their line and column
/// (`proto_text::kPlaceField`); fields that nobody reads are skipped.
#include <string>
#include <string_view>

#include "ir/support/diagnostics.h"

namespace perfc::tf {

/// A SavedModel, or a GraphDef, whichever the first field belongs to.
struct WireModel {
  std::string bytes;
  bool saved_model = false;
};
Result<WireModel> text_to_wire(std::string_view text, Diagnostics& diags);

/// Is the first field of this text one of SavedModel's?
bool begins_saved_model(std::string_view text);

}  // namespace perfc::tf
