/// Google Benchmark of the library's stages on the files of bench/models.py:
///   build/release/perfc_bench --benchmark_filter=… ; PERFC_BENCH_MODELS names the folder.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>

#include "frontends/frontend.h"
#include "passes/pass.h"

namespace perfc {
namespace {

std::string path_of(const char* model) {
  const char* folder = std::getenv("PERFC_BENCH_MODELS");
  const std::string name(model);
  return std::string(folder ? folder : "build/bench-models") + "/" + name +
         (name.find('.') == std::string::npos ? ".onnx" : "");
}

Result<Graph> import(const std::string& path, Diagnostics& diags) {
  auto source = Source::open_model(path, diags);
  if (!source) return Failure{};
  return import_model(*source, {}, diags);
}

void import_file(benchmark::State& state, const char* model) {
  const std::string path = path_of(model);
  std::size_t nodes = 0;
  for (auto _ : state) {
    Diagnostics diags(path);
    auto graph = import(path, diags);
    if (!graph) {
      state.SkipWithError(diags.str().c_str());
      return;
    }
    nodes = graph->size();
    benchmark::DoNotOptimize(graph);
  }
  state.counters["nodes/s"] =
      benchmark::Counter(static_cast<double>(nodes), benchmark::Counter::kIsIterationInvariantRate);
}

void default_passes(benchmark::State& state, const char* model) {
  const std::string path = path_of(model);
  Diagnostics diags(path);
  auto graph = import(path, diags);
  if (!graph) {
    state.SkipWithError(diags.str().c_str());
    return;
  }
  const auto pipeline = default_pipeline(ExecMode::Compiled);
  for (auto _ : state) {
    auto out = run_passes(*graph, pipeline, {.batch = 32}, {}, diags);
    if (!out) {
      state.SkipWithError(diags.str().c_str());
      return;
    }
    benchmark::DoNotOptimize(out);
  }
}

BENCHMARK_CAPTURE(import_file, resnet50, "resnet50")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(import_file, vgg16, "vgg16")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(import_file, chain1k, "chain1k")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(import_file, chain10k, "chain10k")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(import_file, chain100k, "chain100k")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(import_file, tensorflow_text_10mb, "saved_model_10mb/saved_model.pbtxt")
    ->Unit(benchmark::kMillisecond);
/// One pass of the default pipeline, on the graph that those before it leave.
void one_pass(benchmark::State& state, const char* model, const std::string& pass) {
  const std::string path = path_of(model);
  Diagnostics diags(path);
  const PassOptions options{.batch = 32};
  auto before = default_pipeline(ExecMode::Compiled);
  before.erase(std::find(before.begin(), before.end(), pass), before.end());
  auto graph = import(path, diags);
  if (graph) graph = run_passes(std::move(*graph), before, options, {}, diags);
  if (!graph) {
    state.SkipWithError(diags.str().c_str());
    return;
  }
  const auto def =
      std::find_if(pass_table().begin(), pass_table().end(), [&](const PassDef& p) { return p.name == pass; });
  for (auto _ : state) {
    state.PauseTiming();  // a pass owns its graph: the copy is the bench's
    Graph copy = *graph;
    state.ResumeTiming();
    auto out = def->run(std::move(copy), options, diags);
    if (!out) {
      state.SkipWithError(diags.str().c_str());
      return;
    }
    benchmark::DoNotOptimize(out);
  }
  state.counters["nodes/s"] =
      benchmark::Counter(static_cast<double>(graph->size()), benchmark::Counter::kIsIterationInvariantRate);
}

void register_passes() {
  for (const std::string& pass : default_pipeline(ExecMode::Compiled)) {
    for (const char* model : {"resnet50", "chain10k"}) {
      benchmark::RegisterBenchmark(("pass/" + pass + "/" + model).c_str(), [=](benchmark::State& state) {
        one_pass(state, model, pass);
      })->Unit(benchmark::kMillisecond);
    }
  }
}

BENCHMARK_CAPTURE(default_passes, resnet50, "resnet50")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(default_passes, chain10k, "chain10k")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(default_passes, chain100k, "chain100k")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace perfc

int main(int argc, char** argv) {
  perfc::register_passes();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
