#include "frontends/tf/tf.h"

#include <algorithm>

#include "frontends/tf/importer.h"
#include "frontends/tf/text.h"

namespace perfc::tf {
namespace {

Failure damaged(Bytes file, const Damage& d, Diagnostics& diags) {
  SourceLoc loc;
  if (d.at && d.at >= file.data() && d.at <= file.data() + file.size()) loc.offset = d.at - file.data();
  return diags.error(loc, {},
                     std::string("damaged or truncated file: cannot decode ") + (d.what ? d.what : "a message") +
                         "; export the model again");
}

/// The meta graph for serving, else the first.
Result<Graph> import_saved_model(Bytes bytes, const ImportOptions& options, Diagnostics& diags) {
  Damage damage;
  const auto model = decode_saved_model(bytes, damage);
  if (!model) return damaged(bytes, damage, diags);
  const MetaGraphView* chosen = nullptr;
  for (const MetaGraphView& m : *model) {
    const bool serving = std::find(m.tags.begin(), m.tags.end(), "serve") != m.tags.end();
    if (!chosen || (serving && std::find(chosen->tags.begin(), chosen->tags.end(), "serve") == chosen->tags.end()))
      chosen = &m;
  }
  if (!chosen) return diags.error("the SavedModel holds no meta graph");
  return Importer(bytes, *chosen, options, diags).run();
}

Result<Graph> import_meta_graph(Bytes bytes, const ImportOptions& options, Diagnostics& diags) {
  Damage damage;
  const auto meta = decode_meta_graph(bytes, damage);
  if (!meta) return damaged(bytes, damage, diags);
  if (!meta->graph || meta->graph->nodes.empty()) return diags.error("not a TensorFlow model: it holds no node");
  return Importer(bytes, *meta, options, diags).run();
}

Result<Graph> import_graph(Bytes bytes, const ImportOptions& options, Diagnostics& diags) {
  Damage damage;
  MetaGraphView meta;
  meta.graph = decode_graph(bytes, damage);
  if (!meta.graph) return damaged(bytes, damage, diags);
  if (meta.graph->nodes.empty()) return diags.error("not a TensorFlow model: it holds no node");
  return Importer(bytes, meta, options, diags).run();
}

}  // namespace

bool sniff_binary(std::string_view head) { return looks_like_saved_model(head) || looks_like_graph(head); }

bool sniff_text(std::string_view head) {
  if (form_of_text(head)) return true;
  return head.find("node {") != std::string_view::npos && head.find("op:") != std::string_view::npos &&
         head.find("op_type:") == std::string_view::npos;
}

Result<Graph> import_binary(const Source& source, const ImportOptions& options, Diagnostics& diags) {
  const Bytes bytes = source.bytes();
  return looks_like_saved_model(bytes) ? import_saved_model(bytes, options, diags)
                                       : import_graph(bytes, options, diags);
}

Result<Graph> import_text(const Source& source, const ImportOptions& options, Diagnostics& diags) {
  // Binary models under a text file's name exist.
  if (sniff_binary(source.bytes())) {
    diags.warning("the file's name promises protobuf text, but it is binary; read as such");
    return import_binary(source, options, diags);
  }
  auto wire = text_to_wire(source.bytes(), diags);
  if (!wire) return Failure{};
  switch (wire->form) {
    case WireForm::SavedModel:
      return import_saved_model(wire->bytes, options, diags);
    case WireForm::MetaGraph:
      return import_meta_graph(wire->bytes, options, diags);
    case WireForm::Graph:
      return import_graph(wire->bytes, options, diags);
  }
  return Failure{};
}

std::vector<OpCoverage> coverage() {
  std::vector<OpCoverage> out;
  for (const OpRow& row : op_table()) out.push_back({std::string(row.name), std::string(row.ir)});
  std::ranges::sort(out, {}, &OpCoverage::source);
  return out;
}

}  // namespace perfc::tf
