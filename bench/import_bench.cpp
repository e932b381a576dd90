/// Google Benchmark of the library's stages on the files of bench/models.py:
///   build/release/perfc_bench --benchmark_filter=… ; PERFC_BENCH_MODELS names the folder.
#include <benchmark/benchmark.h>

#include <cstdlib>

#include "frontends/frontend.h"
#include "passes/pass.h"

namespace perfc {
namespace {

std::string path_of(const char* model) {
  const char* folder = std::getenv("PERFC_BENCH_MODELS");
  return std::string(folder ? folder : "build/bench-models") + "/" + model + ".onnx";
}

Result<Graph> import(const std::string& path, Diagnostics& diags) {
  auto source = Source::open(path, diags);
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
  state.counters["nodes/s"] = benchmark::Counter(static_cast<double>(nodes), benchmark::Counter::kIsIterationInvariantRate);
}

void default_passes(benchmark::State& state, const char* model) {
  const std::string path = path_of(model);
  Diagnostics diags(path);
  auto graph = import(path, diags);
  if (!graph) {
    state.SkipWithError(diags.str().c_str());
    return;
  }
  const auto pipeline = default_pipeline(FoldBatchNorm::Yes);
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
BENCHMARK_CAPTURE(default_passes, resnet50, "resnet50")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(default_passes, chain10k, "chain10k")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace perfc

BENCHMARK_MAIN();
