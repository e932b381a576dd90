// Matrix products and PMGNS's layers beside OpenBLAS's SGEMM, all in the same run.
//
//   build/release/perfc_gnn_bench [THREADS] [SECONDS] [WORD]
//   build/release/perfc_gnn_bench --save FILE
//
// WORD: only the first row and those whose names hold it. --save: measures nothing, writes the network of one graph,
// its inputs and outputs as safetensors for bench/gnn.py, which measures PyTorch Geometric on the same.
// Columns: time of one pass, GFLOP/s of its matrix products (2 FLOPs per multiply–accumulate; gathering, norms and the
// optimiser count as no work), and the share of the SGEMM rate at 2048³ on as many threads. Measurements take turns and
// the fastest of each counts: others may be using the machine. One thread is measured in CPU time, several by the clock
// on the wall.
#include <fmt/format.h>
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#ifdef PERFC_OPENBLAS
#include <cblas.h>
#endif

#include "gnn/checkpoint.h"
#include "gnn/gemm.h"
#include "gnn/models/pmgns.h"
#include "gnn/optimizer.h"
#include "gnn/task.h"
#include "ir/support/output_file.h"

namespace {

using namespace perfc;

constexpr std::size_t kNodes = 199, kSquare = 2048;
constexpr double kTurn_s = 0.15;

void randomise(Matrix<float>& m, std::string_view what) {
  const Random random = Random(7).stream(what);
  for (std::size_t i = 0; i < m.size(); ++i) m.data()[i] = static_cast<float>(random.uniform(i, -1, 1));
}

/// A network of 199 operators with residual edges.
GraphSample sample(std::size_t columns, std::size_t statics) {
  GraphSample s;
  s.adjacency.nodes = kNodes;
  for (std::size_t n = 1; n < kNodes; ++n) {
    s.adjacency.edges.emplace_back(n - 1, n);
    if (n % 4 == 0) s.adjacency.edges.emplace_back(n - 4, n);
  }
  s.nodes.resize(kNodes, columns);
  randomise(s.nodes, "nodes");
  s.globals.assign(statics, 1.0f);
  s.targets.assign(3, 1.0f);
  return s;
}

struct Measurement {
  std::string name;
  double flops = 0;
  std::function<void()> run;
  double best_s = std::numeric_limits<double>::infinity();
};

double now_s(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Multiply–accumulates of PMGNS for some rows; `backward`: those of the gradients too.
double pmgns_flops(const PmgnsOptions& o, std::size_t nodes, std::size_t graphs, bool backward) {
  const auto n = static_cast<double>(nodes), g = static_cast<double>(graphs), h = static_cast<double>(o.graph_hidden);
  const double first = n * static_cast<double>(o.node_columns) * h * 2, others = 5 * n * h * h * 2;
  const double head = g * (h + static_cast<double>(o.static_columns)) * h + 2 * g * h * h + g * h * 3;
  return 2 *
         (backward ? 2 * first + 3 * others + 3 * head : first + others + head);  // nothing needs the input's gradient
}

/// PMGNS on one batch of equal graphs.
struct Network {
  Network(std::size_t graphs, ThreadPool& threads)
      : options(*find_pmgns("pmgns-sage")), model(options), threads(threads) {
    initialise(parameters<float>(model), Random(1));
    const GraphSample one = sample(options.node_columns, options.static_columns);
    const std::vector<const GraphSample*> all(graphs, &one);
    Diagnostics diags;
    batch = std::move(*join(all, diags));
    gradient.resize(graphs, options.outputs);
    gradient.fill(1e-3f);
    adam = std::make_unique<Adam>(parameters<float>(model), AdamOptions{});
  }
  const Matrix<float>& infer() {
    Context c{.threads = threads, .graph = &batch.graph};
    return model.forward(c, batch.input);
  }
  /// One step, as `train` of gnn/trainer.h goes it.
  void train() {
    Context c{
        .threads = threads, .graph = &batch.graph, .mode = Mode::Training, .random = Random(3), .update = adam.get()};
    adam->begin(1e-6);
    model.forward(c, batch.input);
    model.backward(c, gradient);
    adam->finish(threads);
  }
  PmgnsOptions options;
  Pmgns<float> model;
  ThreadPool& threads;
  JoinedGraphs batch;
  Matrix<float> gradient;
  std::unique_ptr<Adam> adam;
};

int save_network(const char* path) {
  ThreadPool threads(1);
  Network n(1, threads);
  std::vector<NamedTensor> tensors = save(parameters<float>(n.model));
  const auto add = [&](const char* name, const Matrix<float>& m) { tensors.push_back({.name = name, .value = m}); };
  add("nodes", n.batch.input.nodes);
  add("globals", n.batch.input.globals);
  add("output", n.infer());
  const std::string bytes = write_safetensors({.metadata = {}, .tensors = std::move(tensors)});
  Diagnostics diags;
  if (write_file(path, bytes, diags)) return 0;
  std::fputs(diags.str().c_str(), stderr);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "--save") return save_network(argv[2]);
  const std::size_t count = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1;
  const double seconds = argc > 2 ? std::strtod(argv[2], nullptr) : 20;
  ThreadPool threads(count);
  Matrix<float> a(kSquare, kSquare), b(kSquare, kSquare), c(kSquare, kSquare);
  randomise(a, "a");
  randomise(b, "b");
  std::vector<Measurement> all;
  const double square = 2.0 * kSquare * kSquare * kSquare;
#ifdef PERFC_OPENBLAS
  // Rows cut among the threads as perfc cuts them. Threads of its own, where it was built with any, would wait busily
  // and be counted in the CPU time of what comes next.
  openblas_set_num_threads(1);
  all.push_back({"OpenBLAS sgemm 2048", square, [&] {
                   threads.for_ranges(kSquare, 16, [&](std::size_t begin, std::size_t end) {
                     const int n = kSquare;
                     cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, static_cast<int>(end - begin), n, n, 1,
                                 a.data() + begin * kSquare, n, b.data(), n, 0, c.data() + begin * kSquare, n);
                   });
                 }});
#endif
  all.push_back({"perfc gemm 2048", square, [&] { multiply(threads, a, Transpose::No, b, Transpose::No, c); }});
  std::vector<std::unique_ptr<Network>> networks;
  for (const std::size_t graphs : {1, 64}) {
    Network& n = *networks.emplace_back(std::make_unique<Network>(graphs, threads));
    const auto flops = [&](bool backward) { return pmgns_flops(n.options, graphs * kNodes, graphs, backward); };
    all.push_back({fmt::format("inference, batch {}", graphs), flops(false), [&n] { n.infer(); }});
    all.push_back({fmt::format("training, batch {}", graphs), flops(true), [&n] { n.train(); }});
  }
  if (argc > 3)
    std::erase_if(all,
                  [&](const Measurement& m) { return &m != all.data() && m.name.find(argv[3]) == std::string::npos; });
  for (const auto& m : all) m.run();
  const clockid_t clock = count == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC;
  for (const double end = now_s(CLOCK_MONOTONIC) + seconds; now_s(CLOCK_MONOTONIC) < end;) {
    for (Measurement& m : all) {
      // Several times in a row, as in an epoch: the first finds the caches full of what the one before has left.
      for (double spent = 0; spent < kTurn_s;) {
        const double start = now_s(clock);
        m.run();
        const double taken = now_s(clock) - start;
        m.best_s = std::min(m.best_s, taken);
        spent += taken;
      }
    }
  }
  fmt::print("{} thread(s), kernel {}\n{:<22} {:>10} {:>9} {:>8}\n", count, gemm_kernel_name(), "", "ms", "GFLOP/s",
             "share");
  const double reference = all.front().flops / all.front().best_s;
  for (const Measurement& m : all) {
    const double rate = m.flops / m.best_s;
    fmt::print("{:<22} {:>10.3f} {:>9.1f} {:>7.0f}%\n", m.name, 1e3 * m.best_s, rate / 1e9, 100 * rate / reference);
  }
}
