/// The whitebox predictor: per-kernel roofline (Williams et al., CACM 2009) with
/// launch overhead, against the time the host needs to dispatch; a simulated allocator
/// for memory; a power model for energy. Constants: docs/whitebox.md.
#include "whitebox/whitebox.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "ir/quantised_marks.h"
#include "whitebox/constants/quantised_products.h"
#include "whitebox/constants/runs.h"
#include "whitebox/constants/training.h"
#include "whitebox/launch/training_step.h"
#include "whitebox/memory/on_device.h"
#include "whitebox/price/evidence.h"
#include "whitebox/price/grouped_product.h"
#include "whitebox/price/kernel_prices.h"
#include "whitebox/price/roofline.h"

namespace perfc {
namespace {

/// What a precision needs and the device lacks.
void check_precision(const Device& d, const ExecConfig& c, const KernelPlan& plan, Prediction& out) {
  const bool eight =
      std::ranges::any_of(plan.kernels, [](const Kernel& k) { return multiplies_eight_bits(k.quantised); });
  const char* const eight_unit = c.precision == Precision::Fp8 ? "float8" : "int8";
  const char* unit = c.precision == Precision::Tf32   ? "tf32"
                     : c.precision == Precision::Bf16 ? "bfloat16"
                     : quantises_layers(c.precision)  ? eight_unit
                                                      : nullptr;
  if ((quantises_layers(c.precision) || eight) && !d.matrix_tflops.count(eight_unit)) {
    out.warnings.push_back(
        fmt::format("{} has no {} matrix units; its products are priced in 16 bits", d.name, eight_unit));
  } else if (unit && !d.matrix_tflops.count(unit) && !d.vector_tflops.count(unit)) {
    out.warnings.push_back(fmt::format("{} has no {} units; priced at its float32 rate", d.name, unit));
  }
}

/// Refuses operators nobody knows, or says how much of the model they are.
Status judge_opaque(const Graph& graph, OpaquePolicy policy, Prediction& out, Diagnostics& diags) {
  std::size_t opaque = 0, calls = 0;
  for (const Graph* g : with_bodies(graph)) {
    for (const Node& n : g->nodes()) {
      if (n.kind != NodeKind::Call) continue;
      ++calls;
      if (!n.is(op("opaque"))) continue;
      ++opaque;
      if (policy == OpaquePolicy::Refuse) {
        (void)diags.error(n.loc, n.name,
                          fmt::format("unknown operator {}: its cost is not known; --opaque=warn predicts the rest",
                                      n.attrs.string_or("source_op", "?")));
      }
    }
  }
  if (opaque == 0) return ok();
  if (policy == OpaquePolicy::Refuse) return Failure{};
  const std::string text =
      fmt::format("{} of {} operators ({:.1f} %) are unknown and counted as copies of their operands", opaque, calls,
                  100.0 * static_cast<double>(opaque) / static_cast<double>(calls));
  out.warnings.push_back(text);
  out.novelty.push_back(text);
  return ok();
}

bool is_attention(const Kernel& k) { return !k.ops.empty() && def(k.ops.front()).category == Category::Attention; }

/// Of a device whose attention nobody said the kernel of, with the one that PyTorch before 2.11 takes there.
std::optional<Rates> other_attention(Device device, const ExecConfig& config) {
  if (device.stack.attention != StackAttention::NotSaid || !has_cudnn_attention(device)) return std::nullopt;
  if (def(config.runtime).run_us > 0) return std::nullopt;  // not PyTorch
  device.stack.attention = StackAttention::Flash;
  return Rates(device, config.precision);
}

/// Lets the interval reach to what the other attention takes, and says so.
void reach_other_attention(double flash_us, const Timeline& timeline, Prediction& out) {
  if (flash_us <= 0) return;
  const double more = timeline.ms(1 + flash_us / 1e3 / out.device_ms) / timeline.ms();
  if (more < constants::kNoticed) return;
  out.latency_hi_ms *= more;
  out.novelty.push_back(fmt::format(
      "before 2.11 PyTorch takes FlashAttention-2 here, {:.2f} times as long in all (--stack pytorch-2.10)", more));
}

void set_interval(const TimeInterval& t, Prediction& out) {
  out.latency_lo_ms = out.latency_ms / t.down;
  out.latency_hi_ms = out.latency_ms * t.up;
}

double corrected_us(const Priced& p, const Correction& c, std::size_t kernel) {
  return p.roofline_us() * c.work[kernel] + p.waiting_us() + p.launch_us * c.launch[kernel];
}

/// What a device without runs adds to a graph's width. `kernels`: KernelEvidence's.
double stranger_width(double kernels) { return std::hypot(kernels, std::log(constants::kStrangerFactor)); }

/// Says what of groups of rows (experts) only the data tell.
void describe_groups(const KernelPlan& plan, Prediction& out) {
  double groups = 0, touched = 0;
  for (const Kernel& k : plan.kernels) {
    if (!is_grouped_product(k)) continue;
    groups += k.repeat * k.extents.groups;
    touched += k.repeat * k.extents.products;
  }
  if (groups > 0)
    out.warnings.push_back(
        fmt::format("which groups (experts) rows fall to follows from data; taken at random, {:.0f} of {:.0f} matrices "
                    "are read",
                    touched, groups));
}

/// Says where PyTorch has no kernel for all groups.
void describe_loops(const Device& d, const RuntimeDef& runtime, const HostCalls& calls, Prediction& out) {
  const double products = calls.of[static_cast<std::size_t>(HostCall::Inner)];
  if (products == 0 || !runtime.autocast) return;
  out.warnings.push_back(
      fmt::format("PyTorch has no kernel for products of groups on {} under this precision: it waits for the groups' "
                  "ends and calls {:.0f} products{}",
                  d.name, products, runtime.run_us > 0 ? ", which no CUDA graph captures" : ""));
}

/// Refuses models of which int8 or fp8 would say little, and says what stays in 16 bits.
Status judge_eight_bits(const Graph& graph, const ExecConfig& config, const KernelPlan& plan, Prediction& out,
                        Diagnostics& diags) {
  if (!quantises_layers(config.precision)) return ok();
  const std::string_view dtype = name(config.precision);
  if (config.task != Task::Infer)
    return diags.error(fmt::format(
        "--dtype {} is for --task infer: what frameworks train in 8 bits is not modelled; use --dtype amp", dtype));
  double all = 0, eight = 0;
  const Kernel* largest = nullptr;  // of those in 16 bits
  for (const Kernel& k : plan.kernels) {
    all += k.work.macs * k.repeat;
    if (multiplies_eight_bits(k.quantised)) eight += k.work.macs * k.repeat;
    else if (!largest || k.work.macs * k.repeat > largest->work.macs * largest->repeat) largest = &k;
  }
  if (all > 0 && eight >= all) return ok();
  const std::string share = fmt::format("{:.1f} %", all > 0 ? 100 * eight / all : 0);
  if (all > 0 && eight >= constants::kLeastEightBits * all) {
    out.warnings.push_back(
        fmt::format("{}: {} of the products' work is dense layers in 8 bits; the rest stays in 16", dtype, share));
    return ok();
  }
  const Node* n = largest ? &graph.node(largest->node) : nullptr;
  const std::string text = fmt::format(
      "--dtype {} runs dense layers in 8 bits, {} of this model's products: PyTorch has no other 8-bit kernels on "
      "CUDA; predict it with --dtype bf16, fp16 or amp",
      dtype, share);
  return n ? diags.error(n->loc, n->name, text) : diags.error(text);
}

/// Says what of a quantised model is computed in 8 bits, and what is not.
void describe_quantised(const Graph& graph, const ExecConfig& config, const KernelPlan& plan, Prediction& out) {
  if (quantises_layers(config.precision)) return;
  bool marked = false, as_written = false;
  for (const Node& n : graph.nodes()) {
    marked = marked || n.attrs.has(kDataBits) || n.attrs.has(kWeightBits);
    as_written = as_written || (n.kind == NodeKind::Call && n.is(op("qnn.dequantize")));
  }
  const RuntimeDef& runtime = def(config.runtime);
  if (!marked && as_written && !runtime.folds_quantisation)
    out.warnings.push_back(
        fmt::format("a quantised model: {} runs its quantise and dequantise operators as kernels of their own and "
                    "multiplies floats between them",
                    runtime.title));
  if (!marked) return;
  double all = 0, eight = 0, narrow = 0;
  for (const Kernel& k : plan.kernels) {
    all += k.work.macs * k.repeat;
    if (multiplies_eight_bits(k.quantised)) eight += k.work.macs * k.repeat;
    if (k.quantised == Quantised::Weights) narrow += k.work.macs * k.repeat;
  }
  const auto share = [all](double part) { return fmt::format("{:.1f} %", all > 0 ? 100 * part / all : 0); };
  std::string text = fmt::format("a quantised model: {} of the products' work is in 8 bits", share(eight));
  if (narrow > 0) text += fmt::format(", {} reads weights of 8 bits or fewer", share(narrow));
  if (eight + narrow < all)
    text += runtime.keeps_eight_bits
                ? "; the rest is not quantised in the file"
                : fmt::format("; the rest is as in the float model, --dtype {}", name(config.precision));
  if (!runtime.keeps_eight_bits)
    text += ": PyTorch's 8-bit kernels on CUDA are dense layers (torchao), which quantise their data";
  out.warnings.push_back(std::move(text));
}

class Whitebox final : public Predictor {
 public:
  explicit Whitebox(OpaquePolicy opaque) : opaque_(opaque) {}
  std::string_view name() const override { return "whitebox"; }
  Result<std::unique_ptr<PreparedModel>> prepare(const Graph& graph, const ExecConfig& config,
                                                 Diagnostics& diags) const override {
    auto model = prepare_whitebox(graph, config, opaque_, diags);
    if (!model) return Failure{};
    return std::unique_ptr<PreparedModel>(std::move(*model));
  }

 private:
  OpaquePolicy opaque_;
};

}  // namespace

WhiteboxModel::WhiteboxModel(const Graph& graph, const ExecConfig& config, KernelPlan plan, Prediction notes)
    : config_(config), plan_(std::move(plan)), alike_(first_alike(plan_)), notes_(std::move(notes)) {
  needs_ = NeedsOnDevices(graph, config);
}

Prediction WhiteboxModel::on(const Device& device, std::span<const Priced> prices) const {
  Prediction out = notes_;
  out.method = "the time of each kernel by models of the hardware, which no network corrects";
  check_precision(device, config_, plan_, out);
  describe_loops(device, def(config_.runtime), calls_of_groups(device), out);
  const Load load = add_kernels(device, prices, nullptr, out);
  out.host_ms = host_ms(device);
  out.host_calls = dispatched(device);
  const Timeline timeline = this->timeline(device, load.times_us, out.host_ms);
  out.latency_ms = timeline.ms();
  add_memory(needs_.on(device), device, out);
  add_interval(load, timeline, device, out);
  reach_other_attention(load.flash_us, timeline, out);
  add_energy(load, device, out);
  return out;
}

Prediction WhiteboxModel::corrected(const Device& device, std::span<const Priced> prices, const Correction& c) const {
  Prediction out = notes_;
  check_precision(device, config_, plan_, out);
  describe_loops(device, def(config_.runtime), calls_of_groups(device), out);
  Load load = add_kernels(device, prices, &c, out);
  out.host_ms = c.host_ms;
  if (c.device_ms && out.device_ms > 0) {
    for (double& us : load.times_us) us *= *c.device_ms / out.device_ms;
  }
  const Timeline timeline = this->timeline(device, load.times_us, c.host_ms);
  out.latency_ms = timeline.ms();
  out.host_calls = dispatched(device);
  const double device_width = c.device_width ? std::hypot(*c.device_width, c.kernel_part * load.kernel_width)
                                             : stranger_width(load.kernel_width);
  const double width = std::hypot(c.graph_width, device_width * remaining_width(device.calibrated_labels));
  set_interval(time_interval(timeline, std::exp(width), device.host.interval), out);
  out.novelty.insert(out.novelty.end(), c.novelty.begin(), c.novelty.end());
  reach_other_attention(load.flash_us, timeline, out);
  add_memory(needs_.on(device), device, out);
  add_energy(load, device, out);
  return out;
}

std::vector<Priced> WhiteboxModel::priced(const Device& device) const {
  const KernelPrices prices(device, plan_, config_);
  std::vector<Priced> out;
  out.reserve(plan_.kernels.size());
  for (std::size_t i = 0; i < plan_.kernels.size(); ++i)
    out.push_back(alike_[i] == i ? prices.of(plan_.kernels[i]) : out[alike_[i]]);
  return out;
}

double WhiteboxModel::host_ms(const Device& device) const {
  const double us = dispatch_us(device, plan_.host_calls, launches());
  if (def(config_.runtime).run_us > 0) return us / 1e3;
  const bool recorded = config_.task == Task::Train && config_.mode == ExecMode::Eager;
  const double call = recorded ? constants::kTrainingCalls : 1;
  // Calls within a library's call cost the same from a compiler's wrapper.
  return (us + device.host.us(calls_of_groups(device), ExecMode::Eager)) / 1e3 * call;
}

double WhiteboxModel::dispatch_us(const Device& device, const HostCalls& calls, double launches) const {
  const RuntimeDef& runtime = def(config_.runtime);
  return runtime.run_us > 0 ? runtime.run_us + runtime.kernel_us * launches : device.host.us(calls, config_.mode);
}

HostCalls WhiteboxModel::calls_of_groups(const Device& device) const {
  const Rates rates(device, config_.precision);
  return rates.grouped_kernel ? HostCalls{} : perfc::calls_of_groups(plan_);
}

double WhiteboxModel::launches() const {
  double out = 0;
  for (const Kernel& k : plan_.kernels) out += k.repeat;
  return out;
}

/// What the host dispatches: calls, kernels, or a graph.
double WhiteboxModel::dispatched(const Device& device) const {
  const RuntimeDef& runtime = def(config_.runtime);
  if (runtime.run_us == 0) return plan_.host_calls.total() + calls_of_groups(device).total();
  return runtime.kernel_us > 0 ? launches() : 1;
}

WhiteboxModel::Load WhiteboxModel::add_kernels(const Device& device, std::span<const Priced> prices,
                                               const Correction* c, Prediction& out) const {
  const Rates rates(device, config_.precision);
  KernelEvidence evidence(device, rates);
  double total_us = 0;
  Load load;
  const std::optional<Rates> flash = other_attention(device, config_);
  for (std::size_t i = 0; i < plan_.kernels.size(); ++i) {
    const Kernel& k = plan_.kernels[i];
    const Priced& p = prices[i];
    const double time_us = c ? corrected_us(p, *c, i) : p.time_us;
    total_us += time_us * k.repeat;
    load.times_us.push_back(time_us);
    evidence.add(k, time_us * k.repeat);
    load.power.add(k, p, rates, time_us * k.repeat);
    if (flash && k.half && is_attention(k))
      load.flash_us += std::max(price(k, *flash).time_us - p.time_us, 0.0) * k.repeat;
    if (!out.ops.empty() && out.ops.back().node == k.node) {
      OpEstimate& same = out.ops.back();  // casts and bodies are reported with their node
      if (time_us * k.repeat > same.time_us) same.bound = p.bound;
      same.time_us += time_us * k.repeat;
      same.flops += (2 * k.work.macs + k.work.flops) * k.repeat;
      same.bytes += k.traffic.bytes * k.repeat;
    } else {
      out.ops.push_back({k.node, time_us * k.repeat, p.bound, (2 * k.work.macs + k.work.flops) * k.repeat,
                         k.traffic.bytes * k.repeat});
    }
  }
  out.device_ms = total_us / 1e3;
  load.kernel_width = evidence.width();
  return load;
}

/// By the factor that 90 % of powers lie within of GPUs left out (studies/fit_power.py).
void WhiteboxModel::add_energy(const Load& load, const Device& device, Prediction& out) const {
  if (out.latency_ms <= 0) return;
  out.power = power_parts(load.power, device, out.latency_ms);
  out.power_w = held_power_w(out.power.sum_w(), device);
  out.energy_j = out.power_w * out.latency_ms / 1e3;
  // Errors of time and power are independent: their logarithms add in squares.
  const double factor =
      std::exp(std::hypot(std::log(out.latency_hi_ms / out.latency_ms), std::log(constants::kPowerInterval)));
  out.energy_lo_j = out.energy_j / factor;
  out.energy_hi_j = out.energy_j * factor;
}

/// 90 % interval: what was measured on the device (studies/timm_whitebox.py); where nobody looked, what is known of the
/// kernels.
void WhiteboxModel::add_interval(const Load& load, const Timeline& timeline, const Device& device,
                                 Prediction& out) const {
  const std::string precision(perfc::name(config_.precision));
  const double device_width = stranger_width(load.kernel_width) * remaining_width(device.calibrated_labels);
  const double runtime_width = std::log(def(config_.runtime).interval);
  double factor = std::exp(std::hypot(std::log(constants::kGraphFactor), device_width));
  if (def(config_.runtime).mlas) {
    if (device.calibrated_labels == 0)
      out.novelty.push_back(fmt::format("device {} was not calibrated with measurements", device.whole()));
    factor = std::exp(device_width);
  } else if (device.interval.empty()) {
    out.novelty.push_back(fmt::format("device {} was not calibrated with measurements", device.whole()));
  } else if (const auto found = device.interval.find(precision); found != device.interval.end()) {
    factor = found->second;
  } else {
    std::vector<std::string> known;
    for (const auto& [p, f] : device.interval) known.push_back(p);
    out.novelty.push_back(fmt::format("precision {} was not calibrated, only {}", precision, fmt::join(known, ", ")));
  }
  factor = std::exp(std::hypot(std::log(factor), runtime_width));
  set_interval(time_interval(timeline, factor, device.host.interval), out);
}

Timeline WhiteboxModel::timeline(const Device& device, std::span<const double> times_us, double host_ms) const {
  // Calls that only this device makes, a training step's longer ones and a network's term are spread over all.
  const double all = dispatch_us(device, plan_.host_calls, launches()), spread = all > 0 ? host_ms / all : 0;
  std::vector<Dispatched> kernels;
  kernels.reserve(times_us.size());
  double launched = 0;
  for (std::size_t i = 0; i < times_us.size(); ++i) {
    const double repeat = plan_.kernels[i].repeat;
    launched += repeat;
    kernels.push_back({dispatch_us(device, plan_.dispatched[i], launched) * spread, times_us[i] / 1e3, repeat});
  }
  // Nobody dispatches beside a CPU's own work.
  return Timeline::of(kernels, host_ms, def(config_.runtime).mlas ? Pacing::Queued : config_.pacing);
}

Result<std::unique_ptr<WhiteboxModel>> prepare_whitebox(const Graph& graph, const ExecConfig& config,
                                                        OpaquePolicy opaque, Diagnostics& diags) {
  Prediction notes;
  if (const RuntimeDef& r = def(config.runtime); !r.trained)
    notes.novelty.push_back(
        fmt::format("{}: {} (docs/whitebox.md); memory is PyTorch's, for nobody measured its own", r.title,
                    r.mlas      ? "its kernels were measured on one CPU"
                    : r.session ? "what it launches is from its sources, held against a few published runs"
                                : "what it launches is from its documents, held against a few published runs"));
  if (!judge_opaque(graph, opaque, notes, diags)) return Failure{};
  auto plan = plan_kernels(graph, config, diags);
  if (!plan || !judge_eight_bits(graph, config, *plan, notes, diags)) return Failure{};
  describe_quantised(graph, config, *plan, notes);
  describe_groups(*plan, notes);
  if (config.task == Task::Train) add_training_step(graph, config, *plan);
  notes.warnings.insert(notes.warnings.end(), plan->warnings.begin(), plan->warnings.end());
  return std::make_unique<WhiteboxModel>(graph, config, std::move(*plan), std::move(notes));
}

ExecConfig on_runtime(ExecConfig c, Runtime r) {
  c.runtime = r;
  c.mode = def(r).kernels;
  if (def(r).own_layout) c.layout = Layout::Nhwc;
  return c;
}

ExecMode graph_mode(const ExecConfig& c) {
  return def(c.runtime).graph == ExecMode::Compiled ? ExecMode::Compiled : c.mode;
}

std::string_view name(ExecMode m) { return m == ExecMode::Eager ? "eager" : "compiled"; }
std::string_view name(Layout l) { return l == Layout::Nchw ? "nchw" : "nhwc"; }
std::string_view name(Norms n) { return n == Norms::Full ? "full" : "half"; }
std::string_view name(Task t) { return t == Task::Infer ? "infer" : t == Task::Forward ? "forward" : "train"; }
std::string_view name(Optimizer o) {
  return o == Optimizer::Sgd ? "sgd" : o == Optimizer::Momentum ? "momentum" : "adam";
}
std::string_view name(Pacing p) { return p == Pacing::Awaited ? "awaited" : "queued"; }
std::string_view name(Bound b) { return b == Bound::Compute ? "compute" : b == Bound::Memory ? "memory" : "launch"; }

std::unique_ptr<Predictor> make_whitebox(OpaquePolicy policy) { return std::make_unique<Whitebox>(policy); }

}  // namespace perfc
