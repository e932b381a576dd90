#include "frontends/pir/pir.h"

#include <algorithm>

#include "frontends/common/input_dims.h"
#include "ir/rewriter.h"
#include "ir/text/parser.h"

namespace perfc::pir {
namespace {

/// The graph with its params settled by `dims` and everything else to match.
Result<Graph> with_dims(const Graph& graph, InputDims& dims, Diagnostics& diags) {
  std::vector<ModelInput> inputs;
  for (ValueId p : graph.params()) inputs.push_back({graph.node(p).name, graph.type(p), graph.node(p).loc});
  if (!dims.apply(inputs, diags)) return Failure{};

  Rewriter rewriter(graph, diags);
  for (std::size_t i = 0; i < inputs.size(); ++i) rewriter.retype_param(i, {inputs[i].type, inputs[i].data});
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node& n = graph.node(id);
    if (n.kind != NodeKind::Call || dims.overridden()) {
      if (!rewriter.copy(id)) return Failure{};
      continue;
    }
    std::vector<Type> declared;
    for (const ResultInfo& r : n.results) declared.push_back(dims.bind(r.type));
    if (!rewriter.copy_declared(id, rewriter.operands(id), n.attrs, std::move(declared))) return Failure{};
  }
  return rewriter.finish();
}

}  // namespace

bool sniff(std::string_view head) {
  while (!head.empty()) {
    const std::size_t end = std::min(head.find('\n'), head.size());
    const std::string_view line = head.substr(0, end);
    const std::size_t start = line.find_first_not_of(" \t\r");
    if (start != std::string_view::npos && !line.substr(start).starts_with("//")) {
      return line.substr(start).starts_with("#[version");
    }
    head.remove_prefix(std::min(end + 1, head.size()));
  }
  return false;
}

Result<Graph> import_text(const Source& source, const ImportOptions& options, Diagnostics& diags) {
  auto graph = parse_graph(source.bytes(), diags);
  if (!graph || (options.dims.empty() && options.shapes.empty() && options.values.empty() &&
                 options.batch_axes.empty() && !options.open_batch))
    return graph;
  InputDims dims(options);
  return with_dims(*graph, dims, diags);
}

}  // namespace perfc::pir
