#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/cli.h"
#include "ir/text/printer.h"

namespace perfc::cli {
namespace {

struct ImportArguments : PredictOptions {
  std::string model, output, passes;
  PassTrace trace;
};

/// A model as the shape options want it, before any pass.
struct Read {
  Graph graph;
  WrittenBy written_by;
};

Result<Read> read(const ImportArguments& o, const Request& request, Diagnostics& diags) {
  auto source = Source::open_model(o.model, diags);
  if (!source) return Failure{};
  ImportOptions import = request.import;
  import.open_batch = request.batch;
  auto graph = import_model(*source, import, diags);
  if (!graph) return Failure{};
  return Read{std::move(*graph), frontend_of(*source)->written_by};
}

int print_result(Output& out, const Result<Graph>& graph, const Diagnostics& diags) {
  print(diags);
  if (!graph) return kBadInput;
  out.write(print_graph(*graph));
  return out.commit() ? kFine : kBadInput;
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
  PassOptions options{.batch = request->batch.value_or(0)};
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
    graph = run_passes(std::move(model->graph), passes, options, o.trace, diags);
  }
  return print_result(*out, graph, diags);
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
  Command c{"opt", "Run passes over a model and print the result as .pir", [o] { return run_opt(*o); }};
  std::string passes;
  for (const PassDef& p : pass_table()) passes += fmt::format("\n  {:<24} {}", p.name, p.summary);
  c.footer = "Passes:" + passes;
  c.option("model", o->model, "Model or .pir file; - reads standard input").required();
  add_shape_options(c, *o);
  c.option("--passes", o->passes, "Comma-separated passes [those of predict]");
  c.option("--fold-batch-norm", o->fold, "on or off, where --passes is not given [off]");
  c.option("--print-ir-after", o->trace.print_after, "A pass, changed, or all: print the graph to standard error");
  c.option("--time-passes", o->trace.time_passes, "Print the time of each pass to standard error");
  c.option("--verify-each", o->trace.verify_each, "Verify the graph after each pass");
  c.option("-o,--output", o->output, "Write to a file instead of standard output");
  return c;
}

}  // namespace perfc::cli
