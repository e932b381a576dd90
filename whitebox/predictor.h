#pragma once
/// Predictors: graph + device + execution settings → time, memory, energy.
/// The whitebox is one; the learned ones (gnn) implement the same interface.
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "devices/device.h"
#include "ir/graph.h"
#include "whitebox/runtime.h"
#include "whitebox/timeline.h"

namespace perfc {

enum class Layout { Nchw, Nhwc };
/// What is timed: a forward pass, one that keeps what a backward pass would need
/// (PyTorch without `torch.no_grad`), or a training step.
enum class Task { Infer, Forward, Train };
/// In which width AMP computes layer, group and RMS norms: autocast's float32, or the 16 bits of
/// timm's `--fast-norm` and of Apex.
enum class Norms { Full, Half };
/// Of a training step.
enum class Optimizer { Sgd, Momentum, Adam };
std::string_view name(ExecMode);
std::string_view name(Layout);
std::string_view name(Norms);
std::string_view name(Task);
std::string_view name(Optimizer);
std::string_view name(Pacing);

/// Of a task, if nobody says: who trains does not wait for each step.
constexpr Pacing usual_pacing(Task t) { return t == Task::Train ? Pacing::Queued : Pacing::Awaited; }

struct ExecConfig {
  Precision precision = Precision::Fp32;
  Runtime runtime = Runtime::PyTorch;
  ExecMode mode = ExecMode::Eager;  ///< the runtime's `kernels`: see `on_runtime`
  Layout layout = Layout::Nchw;
  Norms norms = Norms::Full;
  Task task = Task::Infer;
  Pacing pacing = Pacing::Awaited;
  Optimizer optimizer = Optimizer::Adam;                            ///< Train only
  CompiledAttention compiled_attention = CompiledAttention::Today;  ///< its stack's
  bool cudnn_benchmark = false;  ///< torch.backends.cudnn.benchmark: cuDNN tries its algorithms first
};

/// Its name where nobody would expect it of the task, else empty.
inline std::string_view unusual_pacing(const ExecConfig& c) {
  return c.pacing == usual_pacing(c.task) ? "" : name(c.pacing);
}

/// The same on another runtime, in its mode and layout.
ExecConfig on_runtime(ExecConfig, Runtime);
/// Whose passes simplify the graph.
ExecMode graph_mode(const ExecConfig&);

/// What limits a kernel.
enum class Bound { Compute, Memory, Launch };
std::string_view name(Bound);

/// What a precision means where frameworks differ; empty where its name says it.
inline std::string_view framework_of(Precision p) { return p == Precision::Default ? "PyTorch 1.12 or later" : ""; }

struct OpEstimate {
  NodeId node = 0;
  double time_us = 0;  ///< device time; 0 where fused into another kernel or free
  Bound bound = Bound::Memory;
  double flops = 0;
  double bytes = 0;
};

/// Parts of memory_mib; they sum to it.
struct MemoryBreakdown {
  double context_mib = 0;  ///< runtime, driver, libraries
  double weights_mib = 0;
  double gradients_mib = 0;    ///< of the weights
  double optimizer_mib = 0;    ///< state and temporaries
  double activations_mib = 0;  ///< peak of live activations, with what the allocator holds unused beside all of these
  double workspace_mib = 0;
  double allocated_mib = 0;  ///< of all but the context, the most that is in use at once
  double search_mib = 0;     ///< what cuDNN's search for algorithms shows beyond that; it makes do with what is free
  double needed_mib() const {
    return context_mib + weights_mib + gradients_mib + optimizer_mib + activations_mib + workspace_mib;
  }
  double total_mib() const { return needed_mib() + search_mib; }
};

/// Odds that a monitor sees a run at this much memory or more.
struct MemoryOdds {
  double memory_mib = 0;
  double odds = 0;
};

/// Watts on average, by what they are for (whitebox/price/power.h). Their sum is what a run would draw without a limit.
struct PowerParts {
  double idle_w = 0, kernels_w = 0, vector_w = 0, matrix_w = 0, memory_w = 0;
  double sum_w() const { return idle_w + kernels_w + vector_w + matrix_w + memory_w; }
};

struct Prediction {
  std::string predictor = "whitebox";  ///< who says so; learned ones may leave it to the whitebox
  std::string method;                  ///< for people: how it comes to its times
  double latency_ms = 0;
  double latency_lo_ms = 0;  ///< 90 % interval
  double latency_hi_ms = 0;
  double device_ms = 0;   ///< time the device is busy
  double host_ms = 0;     ///< time the host needs to dispatch …
  double host_calls = 0;  ///< … so many calls (eager) or kernels (compiled)
  MemoryBreakdown memory;
  double memory_lo_mib = 0;  ///< 90 % interval
  double memory_hi_mib = 0;
  std::vector<MemoryOdds> memory_odds;  ///< of what lies above needed_mib, most first; with cudnn_benchmark only
  double energy_j = 0;
  double energy_lo_j = 0;  ///< 90 % interval
  double energy_hi_j = 0;
  double power_w = 0;
  PowerParts power;             ///< what the power is for; more than `power_w` where the limit holds it
  std::vector<OpEstimate> ops;  ///< in execution order
  bool host_bound() const { return host_ms > device_ms; }
  double host_us_per_call() const { return host_calls > 0 ? host_ms * 1e3 / host_calls : 0; }
  std::vector<std::string> novelty;  ///< what the predictor is unfamiliar with
  std::vector<std::string> warnings;
};

/// A graph made ready for one execution setting: what does not depend on the
/// device is done once, then priced on as many devices as wanted. Holds no
/// reference to the graph.
class PreparedModel {
 public:
  virtual ~PreparedModel() = default;
  virtual Prediction on(const Device&) const = 0;
  /// `on` each of them, in their order; for all at once where that is less work.
  virtual std::vector<Prediction> on_each(std::span<const Device> devices) const {
    std::vector<Prediction> out;
    for (const Device& d : devices) out.push_back(on(d));
    return out;
  }
};

class Predictor {
 public:
  virtual ~Predictor() = default;
  virtual std::string_view name() const = 0;
  /// Fails (with a located error) on types that are not static and on opaque nodes.
  virtual Result<std::unique_ptr<PreparedModel>> prepare(const Graph&, const ExecConfig&, Diagnostics&) const = 0;
};

/// What to do with operators nobody knows.
enum class OpaquePolicy { Refuse, Warn };
std::unique_ptr<Predictor> make_whitebox(OpaquePolicy = OpaquePolicy::Refuse);

}  // namespace perfc
