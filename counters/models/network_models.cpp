/// Networks on counters: the DNN alone, and the DNN on a σ-VAE's latent columns (Nichols, Yeom
/// and Bhatele, SC22 poster).
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "counters/models/networks.h"
#include "counters/models/relative_model.h"
#include "counters/models/tensors.h"

namespace perfc {
namespace {

/// The paper's network: three hidden layers of 1024.
constexpr std::size_t kHidden = 1024, kHiddenLayers = 3;
/// Sizes and lengths of training are ours; the paper tells none.
constexpr std::size_t kLatent = 16, kVaeHidden = 128;
constexpr std::uint64_t kDirectEpochs = 60, kDirectMostSteps = 1500;

class NetworkModel final : public StoredModel {
 public:
  /// Without `vae`: the network alone.
  explicit NetworkModel(std::optional<VaeTraining> vae) : training_(std::move(vae)) {}

  Status fit(const CounterProblem& p, std::span<const std::size_t> rows, SplitKind, const Random& random,
             Diagnostics& diags) override {
    inputs_ = CounterInputs::fit(*p.data, rows, InputKind::Counters);
    FeatureMatrix x = inputs_.rows(*p.data, rows);
    normaliser_ = Normaliser::fit(x, inputs_.columns(), inputs_.scales());
    normaliser_.apply(x);
    range_ = ColumnRange::fit(x);
    RowTask::Rows training{columns(p, rows), narrowed(p.target(rows))};
    build(training.x.columns(), training.y.columns());
    if (vae_) {
      const auto first = calibrated_first(*p.data, rows, diags);
      if (!first || !train_vae(*vae_, training, *first, *training_, random, diags)) return Failure{};
      training.x = through_vae(training.x);
    }
    const RowTask::Rows none{Matrix<float>(0, training.x.columns()), Matrix<float>(0, training.y.columns())};
    RowTask task(*network_, training, none, {});
    initialise(task.parameters(), random.stream("network"));
    SingleProcess alone;
    return train(task, network_options(rows.size(), kDirectEpochs, kDirectMostSteps, random), alone, diags)
               ? ok()
               : Status(Failure{});
  }

  FeatureMatrix predict(const CounterProblem& p, std::span<const std::size_t> rows) const override {
    Matrix<float> x = columns(p, rows);
    if (vae_) x = through_vae(x);
    ThreadPool threads;
    Context c{.threads = threads};
    return widened(network_->forward(c, x));
  }

  double base(const CounterProblem& p, std::size_t row) const override {
    return p.reference ? p.base(row) : std::numeric_limits<double>::quiet_NaN();
  }

  void save(Checkpoint& checkpoint) const override {
    std::vector<NamedTensor>& tensors = checkpoint.tensors;
    tensors.push_back(vector_tensor("inputs.substitutes", inputs_.substitutes()));
    tensors.push_back(vector_tensor("inputs.masked", inputs_.mask()));
    save_normaliser("inputs.", normaliser_, tensors);
    tensors.push_back(vector_tensor("inputs.low", range_.low));
    tensors.push_back(vector_tensor("inputs.high", range_.high));
    for (NamedTensor& t : perfc::save(weights())) tensors.push_back(std::move(t));
  }

  Status restore(const CounterDataset& names, std::size_t machines, const Checkpoint& checkpoint,
                 Diagnostics& diags) override {
    const std::vector<NamedTensor>& tensors = checkpoint.tensors;
    TensorReader read(tensors, diags);
    const std::size_t counters = names.counters.size();
    const auto substitutes = read.vector("inputs.substitutes", counters), mask = read.vector("inputs.masked", counters);
    if (!read.good()) return Failure{};
    inputs_ = CounterInputs::restore(names, InputKind::Counters, substitutes, mask, {}, {});
    const std::size_t columns = inputs_.columns().size();
    const auto normaliser = read.normaliser("inputs.", columns);
    range_ = {read.vector("inputs.low", columns), read.vector("inputs.high", columns)};
    if (!normaliser || !read.good()) return Failure{};
    normaliser_ = *normaliser;
    build(columns, machines);
    std::vector<NamedTensor> own;
    std::copy_if(tensors.begin(), tensors.end(), std::back_inserter(own),
                 [](const NamedTensor& t) { return t.name.starts_with("vae.") || t.name.starts_with("network."); });
    return load(own, weights(), diags);
  }

 private:
  void build(std::size_t inputs, std::size_t outputs) {
    if (training_)
      vae_ = std::make_unique<SigmaVae<float>>(VaeOptions{.inputs = inputs, .hidden = kVaeHidden, .latent = kLatent});
    network_ = make_network(training_ ? kLatent : inputs, kHidden, kHiddenLayers, outputs);
  }
  std::vector<NamedParameter<float>> weights() const {
    auto all = parameters(*network_, "network.");
    if (!vae_) return all;
    const auto of_vae = parameters(*vae_, "vae.");
    all.insert(all.end(), of_vae.begin(), of_vae.end());
    return all;
  }

  /// Positions in `rows` of what `calibrate_first` names.
  Result<std::vector<std::size_t>> calibrated_first(const CounterDataset& d, std::span<const std::size_t> rows,
                                                    Diagnostics& diags) const {
    std::vector<std::size_t> first;
    const std::string& on = training_->calibrate_first;
    if (on.empty()) return first;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (d.workloads[rows[i]].profiled == on) first.push_back(i);
    }
    if (first.empty() || first.size() == rows.size()) {
      return diags.error(fmt::format(
          "{} of {} training workloads have '{}' in the column 'profiled': there is nothing to calibrate the decoder "
          "on first",
          first.empty() ? "none" : "all", rows.size(), on.substr(0, 80)));
    }
    return first;
  }

  Matrix<float> columns(const CounterProblem& p, std::span<const std::size_t> rows) const {
    FeatureMatrix x = inputs_.rows(*p.data, rows);
    normaliser_.apply(x);
    range_.apply(x);
    return narrowed(x);
  }
  Matrix<float> through_vae(const Matrix<float>& x) const {
    ThreadPool threads;
    Context c{.threads = threads};
    return vae_->forward(c, x);
  }

  std::optional<VaeTraining> training_;
  CounterInputs inputs_;
  Normaliser normaliser_;
  ColumnRange range_;
  std::unique_ptr<SigmaVae<float>> vae_;        ///< networks keep the results of their layers:
  std::unique_ptr<Sequential<float>> network_;  ///< not for several threads at once
};

}  // namespace

std::unique_ptr<StoredModel> make_dnn_model() { return std::make_unique<NetworkModel>(std::nullopt); }
std::unique_ptr<StoredModel> make_vae_dnn_model(const VaeTraining& how) { return std::make_unique<NetworkModel>(how); }

}  // namespace perfc
