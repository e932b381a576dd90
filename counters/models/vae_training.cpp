#include "counters/models/vae_training.h"

#include <algorithm>
#include <limits>

#include "gnn/loss.h"

namespace perfc {
namespace {

// Sizes and lengths of training are ours; the paper tells none.
constexpr std::size_t kVaeBatch = 32;
constexpr std::uint64_t kEpochs = 200, kMostSteps = 4000;

std::uint64_t steps_per_epoch(std::size_t rows) {
  return std::max<std::uint64_t>((rows + kVaeBatch - 1) / kVaeBatch, 1);
}

enum class Start : unsigned char { Anew, AsItIs };

class VaeTask final : public TrainingTask {
 public:
  VaeTask(SigmaVae<float>& vae, Linear<float>& regression, const RowTask::Rows& rows, const VaeTraining& how,
          std::uint64_t steps)
      : vae_(vae), regression_(regression), rows_(rows), how_(how), steps_(steps) {}
  std::vector<NamedParameter<float>> parameters() override {
    auto all = perfc::parameters(vae_, "vae.");
    const auto of_regression = perfc::parameters(regression_, "regression.");
    all.insert(all.end(), of_regression.begin(), of_regression.end());
    return all;
  }
  std::size_t samples() const override { return rows_.x.rows(); }
  Result<double> validate(Context&, Diagnostics&) override { return std::numeric_limits<double>::quiet_NaN(); }

  Result<double> add_gradients(Context& c, std::span<const std::size_t> samples, double weight, Diagnostics&) override {
    batch_.take(rows_, samples);
    const double kl_weight = how_.kl.at(step_, steps_);
    const bool fed_back = static_cast<double>(step_++) >= (1 - how_.feedback) * static_cast<double>(steps_);
    const Matrix<float>& z = vae_.forward(c, batch_.x);
    double loss = 0;
    dz_.resize(z.rows(), z.columns());
    dz_.fill(0);
    if (fed_back) {
      loss += evaluate({}, regression_.forward(c, z), batch_.y, weight, dy_);
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
  const VaeTraining& how_;
  std::uint64_t steps_, step_ = 0;  ///< of the run
  RowTask::Rows batch_;
  Matrix<float> dy_, dz_;
};

}  // namespace

TrainOptions network_options(std::size_t rows, std::uint64_t epochs, std::uint64_t most_steps, const Random& random) {
  return {.epochs = std::clamp<std::uint64_t>(most_steps / steps_per_epoch(rows), 1, epochs),
          .batch = kVaeBatch,
          .seed = random.bits(0),
          .schedule = {.shape = Schedule::Shape::Cosine, .peak = 1e-3},
          .adam = {.weight_decay = 0.01}};
}

Status train_vae(SigmaVae<float>& vae, const RowTask::Rows& rows, std::span<const std::size_t> first,
                 const VaeTraining& how, const Random& random, Diagnostics& diags) {
  Linear<float> regression(vae.options().latent, rows.y.columns());
  SingleProcess alone;
  const auto run = [&](const RowTask::Rows& on, const VaeTraining& training, Start start) -> Status {
    const TrainOptions options = network_options(on.x.rows(), kEpochs, kMostSteps, random);
    VaeTask task(vae, regression, on, training, options.epochs * steps_per_epoch(on.x.rows()));
    if (start == Start::Anew) initialise(task.parameters(), random.stream("vae"));
    return train(task, options, alone, diags) ? ok() : Status(Failure{});
  };
  if (first.empty()) return run(rows, how, Start::Anew);
  VaeTraining without_feedback = how;
  without_feedback.feedback = 0;
  RowTask::Rows beginning;
  beginning.take(rows, first);
  if (!run(beginning, without_feedback, Start::Anew)) return Failure{};
  return run(rows, how, Start::AsItIs);
}

}  // namespace perfc
