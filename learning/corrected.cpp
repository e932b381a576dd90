#include "learning/corrected.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <mutex>
#include <set>
#include <utility>

#include "learning/network_mean.h"
#include "whitebox/constants/runs.h"

namespace perfc {
namespace {

constexpr std::array<std::string_view, kTerms> kTermNames{"matmul", "convolution", "depthwise", "vector",
                                                          "gather", "launch",      "host"};

class CorrectedPredictor;

class CorrectedPrepared final : public PreparedModel {
 public:
  /// `own`: of a precision that is corrected as the other's, which training had; none: that of `whitebox`.
  CorrectedPrepared(std::unique_ptr<WhiteboxModel> whitebox, std::unique_ptr<WhiteboxModel> own, KernelGraph graph,
                    std::vector<float> fingerprint, const CorrectedPredictor& predictor)
      : whitebox_(std::move(whitebox)), own_(std::move(own)), graph_(std::move(graph)),
        fingerprint_(std::move(fingerprint)), predictor_(predictor) {}
  Prediction on(const Device& device) const override { return on_each(std::span(&device, 1)).front(); }
  std::vector<Prediction> on_each(std::span<const Device>) const override;

 private:
  std::vector<Residuals::Estimate> residuals(std::span<const Device>) const;

  std::unique_ptr<WhiteboxModel> whitebox_, own_;
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
    auto networks = NetworkMean::read(
        weights, static_cast<std::size_t>(*nets),
        {.features = columns, .hidden = static_cast<std::size_t>(*hidden), .convolutions = p->convolutions_}, diags);
    if (!networks) return Failure{};
    p->networks_ = std::move(*networks);
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
    std::unique_ptr<WhiteboxModel> own;
    ExecConfig trained = exec;
    trained.precision = table_.like_trained(exec.precision);
    if (trained.precision != exec.precision) {
      Diagnostics said;  // of the model's own precision already
      auto like = prepare_whitebox(graph, trained, opaque_, said);
      if (!like) return Failure{};
      own = std::exchange(*whitebox, std::move(*like));
    }
    KernelGraph kernels = kernel_graph((*whitebox)->plan(), convolutions_);
    std::vector<float> at = fingerprint(kernels, trained, table_);
    return std::unique_ptr<PreparedModel>(std::make_unique<CorrectedPrepared>(
        std::move(*whitebox), std::move(own), std::move(kernels), std::move(at), *this));
  }

  const Residuals& residuals() const { return residuals_; }

  /// `residuals`: of the graph on each device, or on the one that it is a slice of. `own`: of the precision that is
  /// asked for, where that is corrected as the whitebox's.
  std::vector<Prediction> predict(const WhiteboxModel& whitebox, const WhiteboxModel* own, const KernelGraph& graph,
                                  std::span<const Residuals::Estimate> residuals,
                                  std::span<const Device> devices) const {
    std::vector<View> views;
    for (std::size_t d = 0; d < devices.size(); ++d)
      views.push_back(view_of(whitebox, graph, residuals[d], devices[d]));
    ask_networks(graph, views);
    std::vector<Prediction> out;
    for (View& v : views) {
      const Correction c = v.why_not.empty() ? correction_of(whitebox, graph, v) : Correction{};
      out.push_back(own ? like(whitebox, *own, v, c) : answer(whitebox, v, c));
    }
    return out;
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
    if (!table_.precisions.contains(p)) {
      std::vector<std::string_view> known;
      for (const Precision k : table_.precisions) known.push_back(perfc::name(k));
      return fmt::format("precision {} is not in training, only {}", perfc::name(p), fmt::join(known, ", "));
    }
    return {};
  }

  /// A graph on a device, on the way to its prediction.
  struct View {
    const Device& device;
    Residuals::Estimate residual;
    double host_ms = 0;
    DeviceTerms terms{};
    bool has_terms = false;        ///< of its own
    std::vector<Priced> prices{};  ///< by kernel of the plan
    KernelSight sight{};
    std::string why_not{};                        ///< … the networks apply; empty: they do
    std::optional<NetworkMean::Advice> advice{};  ///< none: not asked, for nothing of it would count
    double belief() const { return belief_in_networks(residual.similarity); }
  };

  View view_of(const WhiteboxModel& whitebox, const KernelGraph& graph, const Residuals::Estimate& residual,
               const Device& device) const {
    View v{.device = device, .residual = residual, .host_ms = whitebox.host_ms(device)};
    v.prices = whitebox.priced(device);
    v.why_not = beyond(whitebox, device);
    if (!v.why_not.empty()) return v;
    const auto own = terms_.find(device.whole());
    v.has_terms = own != terms_.end();
    v.terms = v.has_terms ? own->second : everybody_;
    // What the labels' host took beyond its entry says nothing of another host, nor of one beside another device.
    if (!v.has_terms || device.host_given) v.terms[kHostTerm] = 1;
    std::vector<Priced> of_classes;
    for (const std::uint32_t first : graph.first) of_classes.push_back(v.prices[first]);
    v.sight = kernel_sight(graph, std::move(of_classes), device, whitebox.config(), table_);
    if (v.sight.unfamiliar > kMostUnfamiliar)
      v.why_not = fmt::format("{:.0f} % of the time is in kernels unlike any in training", 100 * v.sight.unfamiliar);
    return v;
  }

  static Prediction fall_back(const WhiteboxModel& whitebox, std::span<const Priced> prices, const View& v) {
    Prediction p = whitebox.on(v.device, prices);
    p.novelty.insert(p.novelty.begin(), "the whitebox answers: " + v.why_not);
    p.novelty.insert(p.novelty.end(), v.sight.novelty.begin(), v.sight.novelty.end());
    return p;
  }

  Prediction corrected(const WhiteboxModel& whitebox, std::span<const Priced> prices, const View& v,
                       const Correction& c) const {
    Prediction p = whitebox.corrected(v.device, prices, c);
    p.predictor = kCorrectedName;
    p.method = method();
    return p;
  }

  Prediction answer(const WhiteboxModel& whitebox, const View& v, const Correction& c) const {
    return v.why_not.empty() ? corrected(whitebox, v.prices, v, c) : fall_back(whitebox, v.prices, v);
  }

  /// Of a precision that training did not have: its kernels take as much more or less than the whitebox says as those
  /// do of the precision that it is corrected as. So it is no slower than that where its kernels are not.
  Prediction like(const WhiteboxModel& trained, const WhiteboxModel& own, const View& v, Correction c) const {
    const std::vector<Priced> prices = own.priced(v.device);
    if (!v.why_not.empty()) return fall_back(own, prices, v);
    const double whitebox_ms = trained.on(v.device, v.prices).device_ms,
                 corrected_ms = c.device_ms ? *c.device_ms : trained.corrected(v.device, v.prices, c).device_ms,
                 factor = whitebox_ms > 0 ? corrected_ms / whitebox_ms : 1;
    c.device_ms.reset();
    c.work.assign(own.plan().kernels.size(), factor);
    c.launch = c.work;
    c.host_ms = own.host_ms(v.device) * v.terms[kHostTerm];
    c.graph_width = std::hypot(c.graph_width, kLikePrecisionWidth);
    c.novelty.push_back(fmt::format("precision {} is corrected as {}, which is in training",
                                    perfc::name(own.config().precision), perfc::name(trained.config().precision)));
    return corrected(own, prices, v, c);
  }

  /// Of all devices together: a graph's kernels on each are more rows of the same products.
  void ask_networks(const KernelGraph& graph, std::vector<View>& views) const {
    std::vector<View*> asked;
    std::vector<GraphSample> samples;
    for (View& v : views) {
      if (!v.why_not.empty() || v.belief() == 0) continue;
      asked.push_back(&v);
      samples.push_back(kernel_sample(graph, v.sight.priced, std::move(v.sight.rows), v.host_ms, table_, v.terms));
    }
    std::vector<NetworkMean::Advice> advice = networks_->of(samples);
    for (std::size_t i = 0; i < asked.size(); ++i) asked[i]->advice = std::move(advice[i]);
  }

  Correction correction_of(const WhiteboxModel& whitebox, const KernelGraph& graph, const View& v) const {
    const double elsewhere = v.has_terms ? 1 : kBeliefElsewhere, of_graph = v.belief(), belief = of_graph * elsewhere,
                 factor = std::exp(v.residual.log_factor * elsewhere);
    Correction c{.host_ms = v.host_ms * v.terms[kHostTerm]};
    std::vector<double> work(graph.kernels.size(), factor), launch = work;
    for (std::size_t k = 0; v.advice && k < work.size(); ++k) {
      const double term = v.terms[static_cast<std::size_t>(graph.kernels[k].kind)];
      work[k] = std::pow(v.advice->work[k] * term, belief) * factor;
      launch[k] = std::pow(v.advice->launch[k] * v.terms[kLaunchTerm], belief) * factor;
    }
    for (const std::uint32_t k : graph.class_of) {
      c.work.push_back(work[k]);
      c.launch.push_back(launch[k]);
    }
    // Residuals are of runs that kept the device busy: the host's time stays. What the networks have of the device's
    // has their factors as they are.
    if (v.advice && belief >= 1) c.device_ms = v.advice->device_ms * factor;
    c.novelty = v.sight.novelty;
    const SimilarityBin bin = similarity_bin(v.residual.similarity);
    if (bin == SimilarityBin::Unlike)
      c.novelty.push_back(fmt::format(
          "no run in training is like this model at this batch size (similarity {:.2f}; 1: the same kernels, 0: none "
          "alike), so {:.0f} % of what the networks say of its kernels counts, and the interval is wide",
          v.residual.similarity, 100 * of_graph));
    const Widths& widths = widths_[static_cast<std::size_t>(whitebox.config().mode)];
    const double of_bin = widths.of[static_cast<std::size_t>(bin)];
    c.kernel_part = 1 - of_graph;
    c.graph_width = std::hypot(std::lerp(std::max(of_bin, std::log(constants::kGraphFactor)), of_bin, of_graph),
                               kUnfamiliarWidth * v.sight.unfamiliar);
    if (v.has_terms) {
      c.device_width = 0;
    } else {
      static_assert(kBeliefElsewhere == 0.5, "the next sentence says half");
      if (is_like_trained(v.device)) c.device_width = widths.other_device;
      c.novelty.push_back(
          fmt::format("device {} has no measurements in training: half of what networks say counts", v.device.whole()));
    }
    if (!v.device.parent.empty())
      c.novelty.push_back("MIG slices are not in training; the whitebox's shares of the device are");
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
  std::unique_ptr<NetworkMean> networks_;
};

std::vector<Prediction> CorrectedPrepared::on_each(std::span<const Device> devices) const {
  return predictor_.predict(*whitebox_, own_.get(), graph_, residuals(devices), devices);
}

std::vector<Residuals::Estimate> CorrectedPrepared::residuals(std::span<const Device> devices) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> unasked;
  for (const Device& d : devices) {
    if (!residuals_.contains(d.whole())) unasked.push_back(d.whole());
  }
  if (!unasked.empty()) {
    const auto found = predictor_.residuals().at(fingerprint_, unasked, whitebox_->config().mode);
    for (std::size_t i = 0; i < unasked.size(); ++i) residuals_[unasked[i]] = found[i];
  }
  std::vector<Residuals::Estimate> out;
  for (const Device& d : devices) out.push_back(residuals_.at(d.whole()));
  return out;
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
