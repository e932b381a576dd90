// Training of the counter predictor's network (16 inputs, three hidden layers of 1024, 4 outputs) on one thread.
//
//   build/release/perfc_counters_bench BATCH [SECONDS]
//
// Prints rows per second of CPU time of the fastest step: forward, Huber's loss, backward, AdamW. bench/counters.py
// runs it beside PyTorch.
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "counters/models/networks.h"
#include "gnn/loss.h"
#include "gnn/optimizer.h"

namespace {

double cpu_s() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace perfc;
  constexpr std::size_t kInputs = 16, kHidden = 1024, kOutputs = 4;
  const std::size_t batch = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 64;
  const double seconds = argc > 2 ? std::strtod(argv[2], nullptr) : 5;
  const auto net = make_network(kInputs, kHidden, 3, kOutputs);
  initialise(parameters(*net), Random(1));
  Matrix<float> x(batch, kInputs), y(batch, kOutputs), gradient;
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(Random(2).normal(i));
  for (std::size_t i = 0; i < y.size(); ++i) y.data()[i] = static_cast<float>(Random(3).normal(i));
  Adam adam(parameters(*net), {.weight_decay = 0.01});
  ThreadPool threads(1);
  double best = std::numeric_limits<double>::infinity();
  for (const double end = cpu_s() + seconds; cpu_s() < end;) {
    const double start = cpu_s();
    Context c{.threads = threads, .mode = Mode::Training, .random = Random(4), .update = &adam};
    adam.begin(1e-3);
    evaluate({}, net->forward(c, x), y, 1 / static_cast<double>(y.size()), gradient);
    net->backward(c, gradient);
    adam.finish(threads);
    best = std::min(best, cpu_s() - start);
  }
  fmt::print("{:.1f}\n", static_cast<double>(batch) / best);
}
