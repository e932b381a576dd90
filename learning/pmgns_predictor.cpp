#include "learning/pmgns_predictor.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "learning/pmgns_data.h"
#include "whitebox/memory/memory.h"
#include "whitebox/whitebox.h"

namespace perfc {
namespace {

constexpr double kMibPerMb = 1 / 1.048576;
constexpr double kMsPerS = 1000;

/// What PMGNS says of one graph; negative: not one of its outputs.
struct PmgnsAnswer {
  double latency_ms = -1, memory_mib = -1, energy_j = -1;
  double interval_factor = 1;
  double weights_mib = 0;
  std::string model, setting;
};

class PmgnsPrepared final : public PreparedModel {
 public:
  PmgnsPrepared(std::unique_ptr<PreparedModel> whitebox, PmgnsAnswer answer)
      : whitebox_(std::move(whitebox)), answer_(std::move(answer)) {}

  Prediction on(const Device& device) const override {
    Prediction p = whitebox_->on(device);
    p.predictor = answer_.model;
    p.method = "a graph network on the whole model, as DIPPM's (docs/gnn.md)";
    if (answer_.latency_ms >= 0) {
      p.latency_ms = answer_.latency_ms;
      p.latency_lo_ms = answer_.latency_ms / answer_.interval_factor;
      p.latency_hi_ms = answer_.latency_ms * answer_.interval_factor;
    }
    if (answer_.memory_mib >= 0) {
      const double weights = std::min(answer_.weights_mib, answer_.memory_mib), before_mib = p.memory.needed_mib();
      p.memory = {.weights_mib = weights, .activations_mib = answer_.memory_mib - weights};
      p.memory_lo_mib *= before_mib > 0 ? answer_.memory_mib / before_mib : 0;
      p.memory_hi_mib *= before_mib > 0 ? answer_.memory_mib / before_mib : 0;
    }
    const double before_j = p.energy_j;
    if (answer_.energy_j >= 0) p.energy_j = answer_.energy_j;
    else if (answer_.latency_ms >= 0) p.energy_j = p.power_w * p.latency_ms / kMsPerS;
    if (p.latency_ms > 0) p.power_w = p.energy_j / (p.latency_ms / kMsPerS);
    p.energy_lo_j *= before_j > 0 ? p.energy_j / before_j : 0;
    p.energy_hi_j *= before_j > 0 ? p.energy_j / before_j : 0;
    p.novelty.push_back(fmt::format("PMGNS sees no device and no setting: it answers for {}", answer_.setting));
    return p;
  }

 private:
  std::unique_ptr<PreparedModel> whitebox_;
  PmgnsAnswer answer_;
};

class PmgnsPredictor final : public Predictor {
 public:
  static Result<std::unique_ptr<Predictor>> make(Checkpoint c, OpaquePolicy opaque, Diagnostics& diags) {
    if (!check_tables(c, pmgns_tables(), diags)) return Failure{};
    auto network = find_pmgns(c.model);
    if (!network)
      return diags.error(
          fmt::format("unknown model '{}'; there are {}", c.model.substr(0, 80), fmt::join(pmgns_names(), ", ")));
    for (const OutputColumn& o : c.outputs) {
      const bool known = std::any_of(kPmgnsTargets.begin(), kPmgnsTargets.end(),
                                     [&](const PmgnsTarget& t) { return t.label == o.name && t.unit == o.unit; });
      if (!known || !(o.factor > 0))
        return diags.error(
            fmt::format("output '{}' ({}) is none of PMGNS", o.name.substr(0, 80), o.unit.substr(0, 80)));
    }
    if (!size_of(c, "graph_hidden", network->graph_hidden, diags) ||
        !size_of(c, "linear_hidden", network->linear_hidden, diags))
      return Failure{};
    network->outputs = c.outputs.size();
    auto p = std::unique_ptr<PmgnsPredictor>(new PmgnsPredictor(std::move(c), *network, opaque));
    if (!load(p->checkpoint_.tensors, parameters<float>(p->model_), diags)) return Failure{};
    p->checkpoint_.tensors.clear();
    return std::unique_ptr<Predictor>(std::move(p));
  }

  std::string_view name() const override { return checkpoint_.model; }

  Result<std::unique_ptr<PreparedModel>> prepare(const Graph& graph, const ExecConfig& exec,
                                                 Diagnostics& diags) const override {
    auto whitebox = whitebox_->prepare(graph, exec, diags);
    if (!whitebox) return Failure{};
    const GraphSample sample = pmgns_sample(pmgns_graph(graph), checkpoint_.tables);
    std::vector<double> outputs;
    {
      const std::lock_guard lock(mutex_);
      outputs = run(model_, sample, threads_);
    }
    PmgnsAnswer a{.weights_mib = weight_bytes(graph, 4.0) / (1024.0 * 1024.0)};
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const OutputColumn& o = checkpoint_.outputs[i];
      const double value = outputs[i] / o.factor;
      if (o.name == "latency") a.latency_ms = value;
      if (o.name == "memory") a.memory_mib = value * kMibPerMb;
      if (o.name == "energy") a.energy_j = value;
    }
    const auto factor = checkpoint_.settings.find("latency_interval_factor");
    a.interval_factor = factor == checkpoint_.settings.end() ? 1 : std::max(factor->second, 1.0);
    const auto setting = checkpoint_.provenance.find("setting");
    a.model = checkpoint_.model;
    a.setting = setting == checkpoint_.provenance.end() ? "that of its training" : setting->second;
    return std::unique_ptr<PreparedModel>(std::make_unique<PmgnsPrepared>(std::move(*whitebox), std::move(a)));
  }

 private:
  PmgnsPredictor(Checkpoint c, const PmgnsOptions& network, OpaquePolicy opaque)
      : checkpoint_(std::move(c)), model_(network), whitebox_(make_whitebox(opaque)) {}

  /// A layer width of the settings, bounded before anything is allocated.
  static Status size_of(const Checkpoint& c, const std::string& key, std::size_t& out, Diagnostics& diags) {
    constexpr double kLargest = 8192;
    const auto found = c.settings.find(key);
    const double v = found == c.settings.end() ? 0 : found->second;
    if (!(v >= 1 && v <= kLargest) || v != static_cast<double>(static_cast<std::size_t>(v))) {
      return diags.error(fmt::format("checkpoint: setting '{}' is not a whole number from 1 to {}", key, kLargest));
    }
    out = static_cast<std::size_t>(v);
    return ok();
  }

  Checkpoint checkpoint_;
  mutable std::mutex mutex_;  ///< a network keeps the results of its layers
  mutable Pmgns<float> model_;
  mutable ThreadPool threads_{1};
  std::unique_ptr<Predictor> whitebox_;
};

}  // namespace

std::vector<double> run(Pmgns<float>& model, const GraphSample& sample, ThreadPool& threads) {
  Diagnostics diags;
  const GraphSample* one[] = {&sample};
  const auto batch = join(one, diags);
  if (!batch) return {};
  Context context{.threads = threads, .graph = &batch->graph};
  const Matrix<float>& y = model.forward(context, batch->input);
  return {y.data(), y.data() + y.size()};
}

Result<std::unique_ptr<Predictor>> open_pmgns(Checkpoint checkpoint, OpaquePolicy opaque, Diagnostics& diags) {
  return PmgnsPredictor::make(std::move(checkpoint), opaque, diags);
}

}  // namespace perfc
