#include "pipeline/model_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "frontends/common/input_dims.h"
#include "whitebox/launch/widths.h"

namespace perfc {
namespace {

/// Every open symbol of the params, with the flag that binds it.
Status require_bound(const Graph& graph, Diagnostics& diags) {
  std::set<std::string> symbols;
  for (ValueId p : graph.params()) {
    const Type& t = graph.type(p);
    if (!t.is_tensor()) continue;
    if (!t.ranked()) {
      return diags.error(graph.node(p).loc, graph.node(p).name,
                         "the input's rank is not known; give its shape with --shape NAME=d0,d1,…");
    }
    for (const Dim& d : t.shape()) {
      if (d.symbolic()) symbols.insert(d.symbol_name());
    }
  }
  if (symbols.empty()) return ok();
  const std::string flags = dim_flags(symbols);
  return diags.error(symbols.size() == 1
                         ? fmt::format("dim {} is open; bind it with {}", *symbols.begin(), flags)
                         : fmt::format("dims {} are open; bind them with {}", fmt::join(symbols, ", "), flags));
}

/// Batch norms that a backward pass follows stay: their statistics are of the batch.
FoldBatchNorm folds_batch_norm(const Request& r) {
  const bool decided = r.fold_batch_norm != FoldBatchNorm::AsExecuted;
  return decided || r.exec.task == Task::Infer ? r.fold_batch_norm : FoldBatchNorm::No;
}

/// Makes a runtime's precision that of a file in 16 bits; ONNX Runtime's kernels on CPUs compute in float32.
void take_precision_of(const Graph& graph, Request& request) {
  if (request.dtype_from != DtypeFrom::Runtime || def(request.exec.runtime).mlas) return;
  const auto own = half_precision_of(graph);
  if (!own) return;
  request.exec.precision = *own;
  request.dtype_from = DtypeFrom::File;
}

}  // namespace

Result<ModelFile> ModelFile::open(const Request& request, Diagnostics& diags) {
  auto source = Source::open_model(request.model, diags);
  if (!source) return Failure{};
  return ModelFile(std::move(*source), diags.file());
}

Result<Graph> ModelFile::at(Request& request, Diagnostics& diags) {
  diags.in_file(name_);
  auto graph = import(request.batch.value_or(1), request.import, diags);
  if (!graph || !require_bound(*graph, diags)) return Failure{};
  take_precision_of(*graph, request);
  const PassOptions options{.batch = request.batch.value_or(0),
                            .batch_axes = request.import.batch_axes,
                            .trip_counts = request.trip_counts,
                            .dynamic = request.dynamic,
                            .bounds = request.bounds,
                            .written_by = graph->written_by().value_or(frontend_of(source_)->written_by),
                            .mode = graph_mode(request.exec)};
  const RuntimeDef& runtime = def(request.exec.runtime);
  const std::vector<std::string> passes = default_pipeline(
      options.mode, folds_batch_norm(request), FoldQuantisation{folds_quantisation(runtime, options.written_by)},
      UnrollLoops{unrolls_loops(runtime, options.written_by)});
  return run_passes(std::move(*graph), passes, options, request.trace, diags);
}

Result<Graph> ModelFile::import(std::int64_t open_batch, const ImportOptions& options, Diagnostics& diags) {
  const bool same_dims = imported_ && imported_->dims == options.dims;
  if (!same_dims || (imported_->open_batch && imported_->open_batch != open_batch)) {
    bool binds = false;
    ImportOptions asked = options;
    asked.open_batch = open_batch;
    asked.binds_open_batch = &binds;
    Diagnostics messages(name_);
    auto graph = import_model(source_, asked, messages);
    if (!graph) {
      diags.append(messages);
      return Failure{};
    }
    imported_ = Imported{binds ? std::optional(open_batch) : std::nullopt, options.dims, std::move(*graph),
                         std::move(messages)};
  }
  diags.append(imported_->messages);
  return imported_->graph;
}

Result<Graph> load_graph(Request request, Diagnostics& diags) {
  auto file = ModelFile::open(request, diags);
  return file ? file->at(request, diags) : Failure{};
}

}  // namespace perfc
