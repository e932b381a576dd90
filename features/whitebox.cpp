/// The whitebox predictor: per-kernel roofline (Williams et al., CACM 2009) with
/// launch overhead, against the time the host needs to dispatch; liveness for
/// memory; a linear power model for energy. Constants: docs/whitebox.md.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "features/kernels.h"
#include "features/memory.h"

namespace perfc {
namespace {

/// Channels that a tile of an implicit matrix product holds (cuDNN, CUTLASS: 64 to 256).
constexpr double kTileChannels = 128;
constexpr double kMib = 1024.0 * 1024.0;

double look_up(const std::map<std::string, double>& m, const char* key, double fallback) {
  const auto it = m.find(key);
  return it == m.end() ? fallback : it->second;
}

/// What a device gives each kind of kernel under one precision, looked up once.
struct Rates {
  Rates(const Device& d, Precision p) : launch_us(d.launch_us) {
    const auto share = [&](const char* key, double fallback) { return look_up(d.efficiency, key, fallback); };
    const double full = look_up(d.vector_tflops, "float32", 1) * 1e12;
    const bool int8 = p == Precision::Int8;
    vector[0] = int8 ? std::max(full, look_up(d.vector_tflops, "int8", 0) * 1e12) : full;
    vector[1] = int8 ? vector[0] : std::max(full, look_up(d.vector_tflops, "float16", 0) * 1e12);
    // Matrix units: AMP uses them for what runs in 16 bits, fp32 not at all.
    const char* unit = p == Precision::Tf32 ? "tf32" : p == Precision::Bf16 ? "bfloat16" : int8 ? "int8"
                       : p == Precision::Fp32 ? nullptr : "float16";
    for (int half = 0; half < 2; ++half) {
      const bool eligible = unit && (p != Precision::Amp || half == 1);
      matrix[half] = eligible ? std::max(vector[half], look_up(d.matrix_tflops, unit, 0) * 1e12) : vector[half];
    }
    matmul = share("matmul", 0.7);
    convolution = share("convolution", 0.7);
    depthwise = share("depthwise", 0.6);
    elementwise = share("vector", 0.85);
    layout = share("layout", 1.0);
    bandwidth = d.bandwidth_gb_s * 1e9 * share("bandwidth", 0.8);
    gather = d.bandwidth_gb_s * 1e9 * share("gather", 0.5);
  }

  double vector[2], matrix[2];               ///< FLOP/s, for 32 and 16 bits
  double matmul, convolution, depthwise, elementwise, layout;  ///< shares of peak; layout: factor on bytes
  double bandwidth, gather;                  ///< byte/s that are reached
  double launch_us;
};

struct Priced {
  double compute_us = 0;
  double memory_us = 0;
  double time_us = 0;    ///< of one launch, overhead included
  Bound bound = Bound::Memory;
};

Priced price(const Kernel& k, const Rates& r) {
  Priced p;
  const double vector = r.vector[k.half];
  const double matrix = k.aligned ? r.matrix[k.half] : vector;
  double rate = vector * r.elementwise;
  switch (k.kind) {
    case KernelKind::Matmul: rate = matrix * r.matmul; break;
    case KernelKind::Convolution:
      // Each group is a product of its own; its channels are padded to a tile.
      rate = std::max(vector * r.depthwise, matrix * r.convolution * std::min(1.0, k.channels_per_group / kTileChannels));
      break;
    case KernelKind::Depthwise: rate = vector * r.depthwise; break;
    case KernelKind::Vector:
    case KernelKind::Gather: break;
  }
  const double bytes = k.bytes * (k.channels_first_conv ? r.layout : 1.0);
  p.compute_us = (2 * k.macs / rate + k.flops / (vector * r.elementwise)) * 1e6;
  p.memory_us = bytes / (k.kind == KernelKind::Gather ? r.gather : r.bandwidth) * 1e6;
  const double work = std::max(p.compute_us, p.memory_us);
  p.time_us = work + r.launch_us;
  p.bound = work < r.launch_us ? Bound::Launch : p.compute_us > p.memory_us ? Bound::Compute : Bound::Memory;
  return p;
}

/// What a precision needs and the device lacks.
void check_precision(const Device& d, const ExecConfig& c, Prediction& out) {
  const char* unit = c.precision == Precision::Tf32 ? "tf32" : c.precision == Precision::Bf16 ? "bfloat16"
                     : c.precision == Precision::Int8 ? "int8" : nullptr;
  if (unit && !d.matrix_tflops.count(unit) && !d.vector_tflops.count(unit)) {
    out.warnings.push_back(fmt::format("{} has no {} units; priced at its float32 rate", d.name, unit));
  }
}

class PreparedWhitebox : public PreparedModel {
 public:
  PreparedWhitebox(const Graph& graph, const ExecConfig& config, Schedule plan, Prediction notes)
      : config_(config), plan_(std::move(plan)), notes_(std::move(notes)) {
    const double width = float_bytes(config.precision);
    convolves_ = std::ranges::any_of(plan_.kernels, [](const Kernel& k) { return k.kind == KernelKind::Convolution || k.kind == KernelKind::Depthwise; });
    weight_bytes_ = weight_bytes(graph, width);
    activations_ = peak_activations(graph, config.precision == Precision::Amp ? 2.0 : std::max(width, 2.0), config.mode);
  }

  Prediction on(const Device& device) const override {
    Prediction out = notes_;
    check_precision(device, config_, out);
    const double roofline_us = add_kernels(device, out);
    const double per_op = config_.mode == ExecMode::Eager ? device.host_us_eager : device.host_us_compiled;
    out.host_ms = plan_.host_ops * per_op / 1e3;
    out.latency_ms = std::max(out.device_ms, out.host_ms);
    add_memory(device, out);
    add_energy(roofline_us, device, out);
    add_interval(device, out);
    return out;
  }

 private:
  /// Returns the time that pure rooflines would need, without overheads.
  double add_kernels(const Device& device, Prediction& out) const {
    const Rates rates(device, config_.precision);
    double total_us = 0, roofline_us = 0;
    for (const Kernel& k : plan_.kernels) {
      const Priced p = price(k, rates);
      total_us += p.time_us * k.repeat;
      roofline_us += std::max(p.compute_us, p.memory_us) * k.repeat;
      if (!out.ops.empty() && out.ops.back().node == k.node) {
        OpEstimate& same = out.ops.back();  // casts and bodies are reported with their node
        if (p.time_us * k.repeat > same.time_us) same.bound = p.bound;
        same.time_us += p.time_us * k.repeat;
        same.flops += (2 * k.macs + k.flops) * k.repeat;
        same.bytes += k.bytes * k.repeat;
      } else {
        out.ops.push_back({k.node, p.time_us * k.repeat, p.bound, (2 * k.macs + k.flops) * k.repeat, k.bytes * k.repeat});
      }
    }
    out.device_ms = total_us / 1e3;
    return roofline_us;
  }

  /// Context, weights (both copies under AMP), live activations with what the
  /// allocator holds beside them, and the workspace that convolution algorithms
  /// take: the largest tensor, at most 256 MiB.
  void add_memory(const Device& device, Prediction& out) const {
    MemoryBreakdown& m = out.memory;
    m.context_mib = device.context_mib + device.context_mib_per_sm * device.sms + (convolves_ ? device.convolution_mib : 0);
    m.weights_mib = weight_bytes_ * (config_.precision == Precision::Amp ? 1.5 : 1.0) / kMib;
    m.activations_mib = activations_.peak_bytes * device.activation_factor / kMib;
    m.workspace_mib = convolves_ ? std::min(activations_.largest_bytes / kMib, 256.0) : 0;
    if (m.total_mib() > device.memory_mib) {
      out.warnings.push_back(fmt::format("needs {:.0f} MiB, {} has {:.0f} MiB: this will run out of memory", m.total_mib(),
                                         device.name, device.memory_mib));
    }
  }

  /// Idle power all the time; above it, half of the range while any kernel
  /// runs and the other half in proportion to how busy the units are.
  void add_energy(double roofline_us, const Device& device, Prediction& out) const {
    if (out.latency_ms <= 0) return;
    const double busy = std::min(1.0, out.device_ms / out.latency_ms);
    const double load = std::min(1.0, roofline_us / 1e3 / out.latency_ms);
    out.power_w = device.idle_w + (device.tdp_w - device.idle_w) * (0.4 * busy + 0.6 * load);
    out.energy_j = out.power_w * out.latency_ms / 1e3;
  }

  /// 90 % interval as a factor: what calibration found on families that it did
  /// not fit (data/calibration.md), wider where it never looked.
  void add_interval(const Device& device, Prediction& out) const {
    constexpr double kOtherPrecision = 1.5, kOtherDevice = 2.0;
    const std::string precision(perfc::name(config_.precision));
    double factor = kOtherDevice;
    if (device.interval.empty()) {
      out.novelty.push_back(fmt::format("device {} was not calibrated with measurements", device.parent.empty() ? device.name : device.parent));
    } else if (const auto found = device.interval.find(precision); found != device.interval.end()) {
      factor = found->second;
    } else {
      factor = kOtherPrecision;
      std::vector<std::string> known;
      for (const auto& [p, f] : device.interval) known.push_back(p);
      out.novelty.push_back(fmt::format("precision {} was not calibrated, only {}", precision, fmt::join(known, ", ")));
    }
    out.latency_lo_ms = out.latency_ms / factor;
    out.latency_hi_ms = out.latency_ms * factor;
  }

  ExecConfig config_;
  Schedule plan_;
  Prediction notes_;                ///< what is to be said whatever the device
  bool convolves_ = false;
  double weight_bytes_ = 0;
  ActivationMemory activations_;
};

class Whitebox : public Predictor {
 public:
  explicit Whitebox(OpaquePolicy opaque) : opaque_(opaque) {}
  std::string_view name() const override { return "whitebox"; }

  Result<std::unique_ptr<PreparedModel>> prepare(const Graph& graph, const ExecConfig& config, Diagnostics& diags) const override {
    Prediction notes;
    if (!judge_opaque(graph, notes, diags)) return Failure{};
    auto plan = schedule(graph, config, diags);
    if (!plan) return Failure{};
    notes.warnings.insert(notes.warnings.end(), plan->warnings.begin(), plan->warnings.end());
    return std::unique_ptr<PreparedModel>(std::make_unique<PreparedWhitebox>(graph, config, std::move(*plan), std::move(notes)));
  }

 private:
  Status judge_opaque(const Graph& graph, Prediction& out, Diagnostics& diags) const {
    std::size_t opaque = 0, calls = 0;
    for (const Graph* g : with_bodies(graph)) {
      for (const Node& n : g->nodes()) {
        if (n.kind != NodeKind::Call) continue;
        ++calls;
        if (!n.is(op("opaque"))) continue;
        ++opaque;
        if (opaque_ == OpaquePolicy::Refuse) {
          (void)diags.error(n.loc, n.name, fmt::format("unknown operator {}: its cost is not known; --opaque=warn predicts the rest",
                                                 n.attrs.string_or("source_op", "?")));
        }
      }
    }
    if (opaque == 0) return ok();
    if (opaque_ == OpaquePolicy::Refuse) return Failure{};
    const std::string text = fmt::format("{} of {} operators ({:.1f} %) are unknown and counted as copies of their operands", opaque, calls,
                                         100.0 * static_cast<double>(opaque) / static_cast<double>(calls));
    out.warnings.push_back(text);
    out.novelty.push_back(text);
    return ok();
  }

  OpaquePolicy opaque_;
};

}  // namespace

std::string_view name(ExecMode m) { return m == ExecMode::Eager ? "eager" : "compiled"; }
std::string_view name(Layout l) { return l == Layout::Nchw ? "nchw" : "nhwc"; }
std::string_view name(Task) { return "infer"; }
std::string_view name(Bound b) {
  return b == Bound::Compute ? "compute" : b == Bound::Memory ? "memory" : "launch";
}

std::unique_ptr<Predictor> make_whitebox(OpaquePolicy policy) { return std::make_unique<Whitebox>(policy); }

}  // namespace perfc
