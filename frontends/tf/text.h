#pragma once
/// Protobuf text form → wire format, for the TensorFlow messages that the reader
/// looks at. Nodes and functions carry their line and column
/// (`proto_text::kPlaceField`); fields that nobody reads are skipped.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ir/support/diagnostics.h"

namespace perfc::tf {

enum class WireForm : std::uint8_t { SavedModel, MetaGraph, Graph };
/// A SavedModel, a MetaGraphDef (tf.compat.v1.train.export_meta_graph), or a GraphDef, whichever the first field is
/// of.
struct WireModel {
  std::string bytes;
  WireForm form = WireForm::Graph;
};
Result<WireModel> text_to_wire(std::string_view text, Diagnostics& diags);

/// Of SavedModels and MetaGraphDefs, by the first field; GraphDefs have nothing that is theirs alone.
std::optional<WireForm> form_of_text(std::string_view text);

}  // namespace perfc::tf
