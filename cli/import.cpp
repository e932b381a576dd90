#include <fmt/format.h>

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "backends/onnx/onnx.h"
#include "cli/cli.h"
#include "ir/text/printer.h"

namespace perfc::cli {
namespace {

struct ImportArguments : PredictOptions {
  std::string model, output, passes;
  bool strip_weights = false;
  PassTrace trace;

  bool writes_onnx() const { return output.ends_with(".onnx"); }
};

/// A model as the shape options want it, before any pass.
struct Read {
  Source source;
  Graph graph;
  WrittenBy written_by;
};

/// A pipe's weights are stepped over unless they are to be written.
Result<Source> open(const ImportArguments& o, Diagnostics& diags) {
  struct stat st {};
  const bool piped =
      o.model == "-" || (::stat(o.model.c_str(), &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode));
  return piped && o.writes_onnx() ? Source::open(o.model, diags) : Source::open_model(o.model, diags);
}

Result<Read> read(const ImportArguments& o, const Request& request, Diagnostics& diags) {
  auto source = open(o, diags);
  if (!source) return Failure{};
  ImportOptions import = request.import;
  import.open_batch = request.batch;
  auto graph = import_model(*source, import, diags);
  if (!graph) return Failure{};
  const WrittenBy written_by = frontend_of(*source)->written_by;
  return Read{std::move(*source), std::move(*graph), written_by};
}

int print_result(Output& out, const Result<Graph>& graph, const Diagnostics& diags) {
  print(diags);
  if (!graph) return kBadInput;
  out.write(print_graph(*graph));
  return out.commit() ? kFine : kBadInput;
}

/// The model, and its weights beside it where they do not fit in.
int write_onnx(Output& out, const ImportArguments& o, const Source& source, const Graph& graph, Diagnostics& diags) {
  namespace fs = std::filesystem;
  const auto records = onnx::tensor_records(source, diags);
  if (!records) return kBadInput;
  const backends::OnnxOptions options{
      .weights = o.strip_weights ? backends::Weights::Stripped : backends::Weights::Copied,
      .source_dir = fs::path(source.name()).parent_path() / ".",
      .output = o.output};
  const auto file = backends::to_onnx(graph, *records, options, diags);
  if (!file) return kBadInput;
  out.write(file->model);
  if (file->weights_name.empty()) return out.commit() ? kFine : kBadInput;
  const fs::path beside = fs::path(o.output).parent_path() / file->weights_name;
  auto weights = OutputFile::open(beside.string(), diags);
  const auto write = [&](int fd) {
    for (const backends::WeightPart& part : file->weights) {
      const int error = part.file.path.empty() ? write_all(fd, part.bytes) : copy_part(part.file, fd);
      if (error) return error;
    }
    return 0;
  };
  if (!weights || !weights->stage(write, diags) || !out.commit()) return kBadInput;
  return weights->publish(diags) ? kFine : kBadInput;
}

int run_import(const ImportArguments& o) {
  const auto request = to_request(o);
  if (!request) return kBadUsage;
  auto out = Output::open(o.output);
  if (!out) return kBadInput;
  Diagnostics diags(o.model == "-" ? "<stdin>" : o.model);
  auto model = read(o, *request, diags);
  return print_result(*out, model ? Result<Graph>(std::move(model->graph)) : Failure{}, diags);
}

int run_opt(ImportArguments& o) {
  auto request = to_request(o);
  if (!request) return kBadUsage;
  // Passes that are named do all they can; the pipeline is that of eager execution.
  const auto mode = o.passes.empty() ? ExecMode::Eager : ExecMode::Compiled;
  std::vector<std::string> known, passes;
  for (const PassDef& p : pass_table()) known.emplace_back(p.name);
  std::string_view rest = o.passes;
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    passes.emplace_back(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  if (o.passes == "none") passes.clear();
  if (o.strip_weights && !o.writes_onnx())
    return fail(kBadUsage, "--strip-weights: only ONNX has weights; name the output *.onnx");
  const auto counts = std::find(passes.begin(), passes.end(), "bind-trip-counts");
  if (!o.passes.empty() && !o.trip_counts.empty() && counts == passes.end())
    return fail(kBadUsage, "--trip-count: --passes has no bind-trip-counts, which reads it");
  if (o.passes.empty()) passes = default_pipeline(mode, request->fold_batch_norm);
  std::vector<std::string> checked = passes;
  if (!o.trace.print_after.empty() && o.trace.print_after != "changed" && o.trace.print_after != "all")
    checked.push_back(o.trace.print_after);
  for (const std::string& p : checked) {
    if (std::find(known.begin(), known.end(), p) != known.end()) continue;
    const std::string near = did_you_mean(p, known);
    return fail(kBadUsage,
                fmt::format("unknown pass '{}'{}; there are {}", p,
                            near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near), fmt::join(known, ", ")));
  }
  auto out = Output::open(o.output);
  if (!out) return kBadInput;
  Diagnostics diags(o.model == "-" ? "<stdin>" : o.model);
  PassOptions options{.batch = request->batch.value_or(0),
                      .batch_axes = request->import.batch_axes,
                      .trip_counts = request->trip_counts,
                      .dynamic = request->dynamic,
                      .bounds = request->bounds};
  // Dims are bound while reading, unless the list says when.
  if (!o.passes.empty() && std::find(passes.begin(), passes.end(), "bind-shapes") != passes.end()) {
    options.dims = std::exchange(request->import.dims, {});
  }
  auto model = read(o, *request, diags);
  Result<Graph> graph = Failure{};
  if (model) {
    o.trace.out = &messages();
    options.written_by = model->written_by;
    options.mode = mode;
    options.contents = o.writes_onnx() ? Contents::Kept : Contents::Types;
    graph = run_passes(std::move(model->graph), passes, options, o.trace, diags);
  }
  if (!graph || !o.writes_onnx()) return print_result(*out, graph, diags);
  const int code = write_onnx(*out, o, model->source, *graph, diags);
  print(diags);
  return code;
}

}  // namespace

Command import_command() {
  auto o = std::make_shared<ImportArguments>();
  Command c{"import", "Print a model as .pir, before any pass", [o] { return run_import(*o); }};
  c.option("model", o->model, "Model file; - reads standard input").required();
  add_shape_options(c, *o);
  c.option("-o,--output", o->output, "Write to a file instead of standard output");
  return c;
}

Command opt_command() {
  auto o = std::make_shared<ImportArguments>();
  Command c{"opt", "Run passes over a model; print the result as .pir or write it as ONNX",
            [o] { return run_opt(*o); }};
  std::string passes;
  for (const PassDef& p : pass_table()) passes += fmt::format("\n  {:<24} {}", p.name, p.summary);
  c.footer = "Passes:" + passes;
  c.option("model", o->model, "Model or .pir file; - reads standard input").required();
  add_shape_options(c, *o);
  add_loop_options(c, *o);
  o->dynamic = "refuse";  // a model that is written means what the file meant
  add_dynamic_options(c, *o);
  c.option("--passes", o->passes, "Comma-separated passes, or none [those of predict]");
  c.option("--fold-batch-norm", o->fold, "on or off, where --passes is not given [off]");
  c.option("--print-ir-after", o->trace.print_after, "A pass, changed, or all: print the graph to standard error");
  c.option("--time-passes", o->trace.time_passes, "Print the time of each pass to standard error");
  c.option("--verify-each", o->trace.verify_each, "Verify the graph after each pass");
  c.option("--strip-weights", o->strip_weights, "Of an ONNX file: weights above 1 KiB are zeros that take no room");
  c.option("-o,--output", o->output, "Write to a file instead of standard output; *.onnx: as an ONNX model");
  return c;
}

}  // namespace perfc::cli
