#include "learning/corrected.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <mutex>
#include <set>

#include "whitebox/constants.h"

namespace perfc {
namespace {

static_assert(kSharpness == constants::kOverlapSharpness, "the networks' join of device and host is the whitebox's");

constexpr std::array<std::string_view, kTerms> kTermNames{"matmul", "convolution", "depthwise", "vector",
                                                          "gather", "launch",      "host"};

class CorrectedPredictor;

class CorrectedPrepared final : public PreparedModel {
 public:
  CorrectedPrepared(std::unique_ptr<WhiteboxModel> whitebox, KernelGraph graph, std::vector<float> fingerprint,
                    const CorrectedPredictor& predictor)
      : whitebox_(std::move(whitebox)), graph_(std::move(graph)), fingerprint_(std::move(fingerprint)),
        predictor_(predictor) {}
  Prediction on(const Device&) const override;

 private:
  const Residuals::Estimate& residual(const std::string& owner) const;

  std::unique_ptr<WhiteboxModel> whitebox_;
  KernelGraph graph_;
  std::vector<float> fingerprint_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, Residuals::Estimate> residuals_;  ///< by device; its slices share one
  const CorrectedPredictor& predictor_;
};

class CorrectedPredictor final : public Predictor {
 public:
  static Result<std::unique_ptr<Predictor>> make(Checkpoint c, OpaquePolicy opaque, Diagnostics& diags) {
    auto p = std::unique_ptr<CorrectedPredictor>(new CorrectedPredictor(opaque));
    if (c.tables.size() != 1 || !c.tables[0].normaliser)
      return diags.error("checkpoint: wants one feature table with its normaliser");
    const std::array expected{FeatureTable{"kernels", kernel_columns(c.vocabulary), {}}};
    if (!check_tables(c, expected, diags)) return Failure{};
    const auto nets = number_setting(c, "networks", 1, 64, diags);
    const auto hidden = nets ? number_setting(c, "hidden", 1, 4096, diags) : Failure{};
    const auto convolutions = hidden ? number_setting(c, "convolutions", 0, 16, diags) : Failure{};
    if (!convolutions) return Failure{};
    for (const auto mode : {ExecMode::Eager, ExecMode::Compiled}) {
      Widths& widths = p->widths_[static_cast<std::size_t>(mode)];
      for (const auto bin : {SimilarityBin::Unlike, SimilarityBin::Related, SimilarityBin::Alike}) {
        const auto width = number_setting(c, width_setting(bin, mode), 0, 5, diags);
        if (!width) return Failure{};
        widths.of[static_cast<std::size_t>(bin)] = *width;
      }
      const auto other_device = number_setting(c, device_width_setting(mode), 0, 5, diags);
      if (!other_device) return Failure{};
      widths.other_device = *other_device;
    }
    p->convolutions_ = static_cast<std::size_t>(*convolutions);
    p->table_ = {.vocabulary = c.vocabulary, .index = vocabulary_index(c.vocabulary), .features = c.tables[0]};
    p->table_.features.columns = expected[0].columns;  // with their meanings
    const std::size_t columns = c.tables[0].columns.size();
    std::vector<NamedTensor> weights;
    auto residuals = Residuals::read(c, columns, diags);
    if (!residuals) return Failure{};
    p->residuals_ = std::move(*residuals);
    for (NamedTensor& t : c.tensors) {
      if (t.name != kLowTensor && t.name != kHighTensor) {
        weights.push_back(std::move(t));
        continue;
      }
      if (t.value.size() != columns)
        return diags.error(
            fmt::format("checkpoint: '{}' has {} numbers for {} columns", t.name, t.value.size(), columns));
      (t.name == kLowTensor ? p->table_.low : p->table_.high).assign(t.value.data(), t.value.data() + t.value.size());
    }
    if (p->table_.low.empty() || p->table_.high.empty())
      return diags.error("checkpoint: the columns' ranges are missing");
    std::vector<NamedParameter<float>> parameters;
    for (std::size_t n = 0; n < static_cast<std::size_t>(*nets); ++n) {
      p->networks_.push_back(std::make_unique<Corrected<float>>(CorrectedOptions{
          .features = columns, .hidden = static_cast<std::size_t>(*hidden), .convolutions = p->convolutions_}));
      const auto of_net = perfc::parameters<float>(*p->networks_.back(), network_prefix(n));
      parameters.insert(parameters.end(), of_net.begin(), of_net.end());
    }
    if (!load(weights, parameters, diags)) return Failure{};
    if (!p->read_terms(c, diags)) return Failure{};
    for (const auto precision : kPrecisions) {
      if (c.settings.contains(precision_setting(precision))) p->table_.precisions.insert(precision);
    }
    for (const ChipClass chip : kChipClasses) {
      if (c.settings.contains(chip_setting(chip))) p->chips_.insert(chip);
    }
    return std::unique_ptr<Predictor>(std::move(p));
  }

  std::string_view name() const override { return kCorrectedName; }

  Result<std::unique_ptr<PreparedModel>> prepare(const Graph& graph, const ExecConfig& exec,
                                                 Diagnostics& diags) const override {
    auto whitebox = prepare_whitebox(graph, exec, opaque_, diags);
    if (!whitebox) return Failure{};
    KernelGraph kernels = kernel_graph((*whitebox)->plan(), convolutions_);
    std::vector<float> at = fingerprint(kernels, exec, table_);
    return std::unique_ptr<PreparedModel>(
        std::make_unique<CorrectedPrepared>(std::move(*whitebox), std::move(kernels), std::move(at), *this));
  }

  Residuals::Estimate residual(std::span<const float> fingerprint, const std::string& owner, ExecMode mode) const {
    return residuals_.at(fingerprint, owner, mode);
  }

  /// `residual`: what the function of that name says of the graph on the device, or on the one that it is a slice of.
  Prediction predict(const WhiteboxModel& whitebox, const KernelGraph& graph, const Residuals::Estimate& residual,
                     const Device& device) const {
    if (const std::string why = beyond(whitebox, device); !why.empty()) return fall_back(whitebox, device, why);
    const std::string& owner = device.whole();
    const auto own = terms_.find(owner);
    DeviceTerms terms = own == terms_.end() ? everybody_ : own->second;
    // What the labels' host took beyond its entry says nothing of another host, nor of one beside another device.
    if (own == terms_.end() || device.host_given) terms[kHostTerm] = 1;
    KernelSample s = kernel_sample(graph, device, whitebox.config(), whitebox.host_ms(device), table_, terms);
    if (s.unfamiliar > kMostUnfamiliar) {
      Prediction p =
          fall_back(whitebox, device,
                    fmt::format("{:.0f} % of the time is in kernels unlike any in training", 100 * s.unfamiliar));
      p.novelty.insert(p.novelty.end(), s.novelty.begin(), s.novelty.end());
      return p;
    }
    Correction c = run(s.sample, graph);
    c.host_ms = whitebox.host_ms(device) * terms[kHostTerm];
    const double belief = belief_in_networks(residual.similarity);
    for (std::size_t i = 0; i < graph.class_of.size(); ++i) {
      const double term = terms[static_cast<std::size_t>(whitebox.plan().kernels[i].kind)];
      c.work[i] = std::pow(c.work[i] * term, belief);
      c.launch[i] = std::pow(c.launch[i] * terms[kLaunchTerm], belief);
    }
    // Residuals are of runs that kept the device busy: the host's time stays.
    const double factor = std::exp(residual.log_factor);
    if (belief < 1) c.latency_ms.reset();  // it has the networks' factors as they are
    else c.latency_ms = joined_ms(device_part_ms(*c.latency_ms, c.host_ms) * factor, c.host_ms);
    for (double& w : c.work) w *= factor;
    for (double& l : c.launch) l *= factor;
    c.novelty = std::move(s.novelty);
    const SimilarityBin bin = similarity_bin(residual.similarity);
    if (bin == SimilarityBin::Unlike)
      c.novelty.push_back(fmt::format(
          "no run in training is like this model at this batch size (similarity {:.2f}; 1: the same kernels, 0: none "
          "alike), so {:.0f} % of what the networks say of its kernels counts, and the interval is wide",
          residual.similarity, 100 * belief));
    const Widths& widths = widths_[static_cast<std::size_t>(whitebox.config().mode)];
    const double of_bin = widths.of[static_cast<std::size_t>(bin)];
    c.kernel_part = 1 - belief;
    c.graph_width = std::hypot(std::lerp(std::max(of_bin, std::log(constants::kGraphFactor)), of_bin, belief),
                               kUnfamiliarWidth * s.unfamiliar);
    const Precision precision = whitebox.config().precision;
    if (const Precision like = table_.like_trained(precision); like != precision) {
      c.graph_width = std::hypot(c.graph_width, kLikePrecisionWidth);
      c.novelty.push_back(fmt::format("precision {} is corrected as {}, which is in training", perfc::name(precision),
                                      perfc::name(like)));
    }
    if (own != terms_.end()) {
      c.device_width = 0;
    } else {
      if (is_like_trained(device)) c.device_width = widths.other_device;
      c.novelty.push_back(fmt::format("device {} has no measurements in training", owner));
    }
    if (!device.parent.empty())
      c.novelty.push_back("MIG slices are not in training; the whitebox's shares of the device are");
    Prediction p = whitebox.corrected(device, c);
    p.predictor = kCorrectedName;
    p.method = method();
    return p;
  }

 private:
  explicit CorrectedPredictor(OpaquePolicy opaque) : opaque_(opaque) {}

  /// Prediction::method.
  std::string method() const {
    std::vector<std::string> devices;
    for (const auto& [device, terms] : terms_) devices.push_back(device);
    return fmt::format("the time of each kernel by models of the hardware, corrected by networks{}{}",
                       devices.empty() ? "" : " trained on ", fmt::join(devices, ", "));
  }

  /// Whether a device is of a class of chips on which models of training ran.
  bool is_like_trained(const Device& device) const {
    const auto chip = chip_class(device, Units::Matrix);
    return chip && chips_.contains(*chip);
  }

  Status read_terms(const Checkpoint& c, Diagnostics& diags) {
    for (const auto& [key, value] : c.settings) {
      if (!key.starts_with("terms.")) continue;
      const std::size_t dot = key.rfind('.');
      const auto term = std::find(kTermNames.begin(), kTermNames.end(), key.substr(dot + 1));
      if (term == kTermNames.end() || !(value > 0))
        return diags.error(fmt::format("checkpoint: '{}' is no term of a device, or not positive", key.substr(0, 80)));
      const std::string device = dot > 6 ? key.substr(6, dot - 6) : "";
      DeviceTerms& terms = device == kEverybody ? everybody_
                                                : terms_
                                                      .try_emplace(
                                                          device,
                                                          [] {
        DeviceTerms t;
        t.fill(1);
        return t;
                                                          }())
                                                      .first->second;
      terms[static_cast<std::size_t>(term - kTermNames.begin())] = value;
    }
    return ok();
  }

  /// Why the networks do not apply at all; empty: they do.
  std::string beyond(const WhiteboxModel& whitebox, const Device& device) const {
    if (device.kind != "gpu" && !terms_.contains(device.name))
      return fmt::format("trained on GPUs only, {} is a {}", device.name, device.kind);
    if (whitebox.config().task == Task::Train) return "trained on inference only";
    if (const RuntimeDef& r = def(whitebox.config().runtime); !r.trained)
      return fmt::format("trained on PyTorch only, this is {}", r.title);
    const Precision p = whitebox.config().precision;
    if (std::ranges::any_of(whitebox.plan().kernels, [](const Kernel& k) { return k.quantised != Quantised::None; }) &&
        !quantises_layers(p))
      return "quantised models are not in training";
    if (!table_.precisions.contains(table_.like_trained(p))) {
      std::vector<std::string_view> known;
      for (const Precision k : table_.precisions) known.push_back(perfc::name(k));
      return fmt::format("precision {} is not in training, only {}", perfc::name(p), fmt::join(known, ", "));
    }
    return {};
  }

  static Prediction fall_back(const WhiteboxModel& whitebox, const Device& device, const std::string& why) {
    Prediction p = whitebox.on(device);
    p.novelty.insert(p.novelty.begin(), "the whitebox answers: " + why);
    return p;
  }

  /// Mean of the networks, in logarithms.
  Correction run(const GraphSample& sample, const KernelGraph& graph) const {
    const std::lock_guard lock(mutex_);
    Diagnostics diags;
    const GraphSample* one[] = {&sample};
    const auto batch = join(one, diags);
    Correction c;
    if (!batch) return c;
    Context context{.threads = threads_, .graph = &batch->graph};
    double log_us = 0;
    std::vector<double> work(graph.kernels.size(), 0), launch(graph.kernels.size(), 0);
    for (const auto& network : networks_) {
      log_us += std::log(std::max<double>(network->forward(context, batch->input)(0, 0), 1e-9));
      for (std::size_t k = 0; k < work.size(); ++k) {
        work[k] += std::log(network->factors()(k, 0));
        launch[k] += std::log(network->factors()(k, 1));
      }
    }
    const auto nets = static_cast<double>(networks_.size());
    c.latency_ms = std::exp(log_us / nets) / 1e3;
    for (const std::uint32_t k : graph.class_of) {
      c.work.push_back(std::exp(work[k] / nets));
      c.launch.push_back(std::exp(launch[k] / nets));
    }
    return c;
  }

  OpaquePolicy opaque_;
  std::size_t convolutions_ = 0;
  struct Widths {
    std::array<double, kSimilarityBinNames.size()> of{};
    double other_device = 0;
  };
  std::array<Widths, 2> widths_{};  ///< by mode
  Residuals residuals_;
  KernelTable table_;
  std::map<std::string, DeviceTerms> terms_;
  DeviceTerms everybody_ = [] {
    DeviceTerms t;
    t.fill(1);
    return t;
  }();
  std::set<ChipClass> chips_;
  mutable std::mutex mutex_;  ///< networks keep the results of their layers
  mutable ThreadPool threads_{1};
  std::vector<std::unique_ptr<Corrected<float>>> networks_;
};

Prediction CorrectedPrepared::on(const Device& device) const {
  return predictor_.predict(*whitebox_, graph_, residual(device.whole()), device);
}

const Residuals::Estimate& CorrectedPrepared::residual(const std::string& owner) const {
  const std::lock_guard lock(mutex_);
  const auto [at, unasked] = residuals_.try_emplace(owner);
  if (unasked) at->second = predictor_.residual(fingerprint_, owner, whitebox_->config().mode);
  return at->second;
}

}  // namespace

std::string width_setting(SimilarityBin bin, ExecMode mode) {
  return fmt::format("interval.{}.{}", kSimilarityBinNames[static_cast<std::size_t>(bin)], name(mode));
}
std::string device_width_setting(ExecMode mode) { return fmt::format("interval.other_device.{}", name(mode)); }
std::string precision_setting(Precision p) { return fmt::format("trained.{}", name(p)); }
std::string chip_setting(ChipClass chip) { return fmt::format("trained.chip.{}", name(chip)); }
std::string network_prefix(std::size_t index) { return fmt::format("net.{}.", index); }
std::string term_setting(std::string_view device, std::size_t term) {
  return fmt::format("terms.{}.{}", device, kTermNames[term]);
}

Result<std::unique_ptr<Predictor>> open_corrected(Checkpoint c, OpaquePolicy opaque, Diagnostics& diags) {
  return CorrectedPredictor::make(std::move(c), opaque, diags);
}

}  // namespace perfc
