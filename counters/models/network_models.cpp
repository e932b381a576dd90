/// Networks on counters: the DNN alone, and the DNN on a σ-VAE's latent columns (Nichols, Yeom
/// and Bhatele, SC22 poster).
#include <algorithm>
#include <limits>

#include "counters/models/networks.h"
#include "counters/models/relative_model.h"
#include "counters/models/sigma_vae.h"
#include "gnn/loss.h"
#include "gnn/trainer.h"

namespace perfc {
namespace {

/// The paper's network: three hidden layers of 1024.
constexpr std::size_t kHidden = 1024, kHiddenLayers = 3, kBatch = 32;
/// Sizes and lengths of training are ours; the paper tells none.
constexpr std::size_t kLatent = 16, kVaeHidden = 128;
constexpr std::uint64_t kVaeEpochs = 200, kNetworkEpochs = 60;
/// At most: beyond a thousand rows epochs would be many steps each.
constexpr std::uint64_t kVaeSteps = 4000, kNetworkSteps = 1500;
/// Share of the VAE's epochs after which the regression's loss is fed back into it.
constexpr double kFeedBackFrom = 0.75;

std::uint64_t steps_per_epoch(std::size_t rows) { return std::max<std::uint64_t>((rows + kBatch - 1) / kBatch, 1); }
std::uint64_t epochs_of(std::size_t rows, std::uint64_t epochs, std::uint64_t steps) { return std::clamp<std::uint64_t>(steps / steps_per_epoch(rows), 1, epochs); }

Matrix<float> narrow(const FeatureMatrix& m) {
  Matrix<float> out(m.rows, m.columns);
  std::copy(m.values.begin(), m.values.end(), out.data());
  return out;
}

FeatureMatrix widen(const Matrix<float>& m) { return {m.rows(), m.columns(), std::vector<double>(m.data(), m.data() + m.size())}; }

/// Trains the VAE; late in the run also a linear regression from its latent columns, whose loss shapes them.
class VaeTask final : public TrainingTask {
 public:
  VaeTask(SigmaVae<float>& vae, Linear<float>& regression, const RowTask::Rows& rows, std::uint64_t steps) : vae_(vae), regression_(regression), rows_(rows), steps_(steps) {}
  std::vector<NamedParameter<float>> parameters() override {
    auto all = perfc::parameters(vae_, "vae.");
    const auto of_regression = perfc::parameters(regression_, "regression.");
    all.insert(all.end(), of_regression.begin(), of_regression.end());
    return all;
  }
  std::size_t samples() const override { return rows_.x.rows(); }
  Result<double> validate(Context&, Diagnostics&) override { return std::numeric_limits<double>::quiet_NaN(); }

  Result<double> add_gradients(Context& c, std::span<const std::size_t> samples, double weight, Diagnostics&) override {
    x_.resize(samples.size(), rows_.x.columns());
    y_.resize(samples.size(), rows_.y.columns());
    for (std::size_t i = 0; i < samples.size(); ++i) {
      x_.row(i) = rows_.x.row(samples[i]);
      y_.row(i) = rows_.y.row(samples[i]);
    }
    const double kl_weight = annealing_.at(step_, steps_);
    const bool fed_back = static_cast<double>(step_++) >= kFeedBackFrom * static_cast<double>(steps_);
    const Matrix<float>& z = vae_.forward(c, x_);
    double loss = 0;
    dz_.resize(z.rows(), z.columns());
    dz_.fill(0);
    if (fed_back) {
      loss += evaluate({}, regression_.forward(c, z), y_, weight, dy_);
      dz_ = regression_.backward(c, dy_);
    }
    const VaeTerms t = vae_.decode(c);
    vae_.backward(c, weight, weight * kl_weight, dz_);
    return loss + weight * static_cast<double>(samples.size()) * (t.reconstruction + kl_weight * t.kl);
  }

 private:
  SigmaVae<float>& vae_;
  Linear<float>& regression_;
  const RowTask::Rows& rows_;
  std::uint64_t steps_, step_ = 0;
  KlAnnealing annealing_;
  Matrix<float> x_, y_, dy_, dz_;
};

class NetworkModel final : public RelativeModel {
 public:
  enum class Latent : unsigned char { No, Yes };
  explicit NetworkModel(Latent latent) : latent_(latent) {}

  Status fit(const CounterProblem& p, std::span<const std::size_t> rows, SplitKind, const Random& random, Diagnostics& diags) override {
    inputs_ = CounterInputs::fit(*p.data, rows, InputKind::Counters);
    FeatureMatrix x = inputs_.rows(*p.data, rows);
    normaliser_ = Normaliser::fit(x, inputs_.columns(), inputs_.scales());
    normaliser_.apply(x);
    range_ = ColumnRange::fit(x);
    RowTask::Rows training{columns(p, rows), narrow(p.target(rows))};
    SingleProcess alone;
    if (latent_ == Latent::Yes) {
      vae_ = std::make_unique<SigmaVae<float>>(VaeOptions{.inputs = training.x.columns(), .hidden = kVaeHidden, .latent = kLatent});
      Linear<float> regression(kLatent, training.y.columns());
      const std::uint64_t epochs = epochs_of(training.x.rows(), kVaeEpochs, kVaeSteps), steps = epochs * steps_per_epoch(training.x.rows());
      VaeTask task(*vae_, regression, training, steps);
      initialise(task.parameters(), random.stream("vae"));
      if (!train(task, options(epochs, random), alone, diags)) return Failure{};
      training.x = through_vae(training.x);
    }
    network_ = make_network(training.x.columns(), kHidden, kHiddenLayers, training.y.columns());
    const RowTask::Rows none{Matrix<float>(0, training.x.columns()), Matrix<float>(0, training.y.columns())};
    RowTask task(*network_, training, none, {});
    initialise(task.parameters(), random.stream("network"));
    return train(task, options(epochs_of(training.x.rows(), kNetworkEpochs, kNetworkSteps), random), alone, diags) ? ok() : Status(Failure{});
  }

  FeatureMatrix predict(const CounterProblem& p, std::span<const std::size_t> rows) const override {
    Matrix<float> x = columns(p, rows);
    if (vae_) x = through_vae(x);
    ThreadPool threads;
    Context c{.threads = threads};
    return widen(network_->forward(c, x));
  }

 private:
  static TrainOptions options(std::uint64_t epochs, const Random& random) {
    return {.epochs = epochs, .batch = kBatch, .seed = random.bits(0), .schedule = {.shape = Schedule::Shape::Cosine, .peak = 1e-3}, .adam = {.weight_decay = 0.01}};
  }
  Matrix<float> columns(const CounterProblem& p, std::span<const std::size_t> rows) const {
    FeatureMatrix x = inputs_.rows(*p.data, rows);
    normaliser_.apply(x);
    range_.apply(x);
    return narrow(x);
  }
  Matrix<float> through_vae(const Matrix<float>& x) const {
    ThreadPool threads;
    Context c{.threads = threads};
    return vae_->forward(c, x);
  }

  Latent latent_;
  CounterInputs inputs_;
  Normaliser normaliser_;
  ColumnRange range_;
  std::unique_ptr<SigmaVae<float>> vae_;          ///< networks keep the results of their layers:
  std::unique_ptr<Sequential<float>> network_;    ///< not for several threads at once
};

}  // namespace

std::unique_ptr<RelativeModel> make_dnn_model() { return std::make_unique<NetworkModel>(NetworkModel::Latent::No); }
std::unique_ptr<RelativeModel> make_vae_dnn_model() { return std::make_unique<NetworkModel>(NetworkModel::Latent::Yes); }

}  // namespace perfc
