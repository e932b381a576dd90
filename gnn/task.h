#pragma once
/// What is trained: samples, a model and a loss. The trainer knows no more.
///
/// To train a model of another kind: derive from TrainingTask, keep the samples
/// in it, and call your model's forward, a loss and backward in `add_gradients`.
/// All randomness comes from the context, so that ranks and resumed runs agree.
#include <span>

#include "gnn/loss.h"
#include "gnn/models/graph_model.h"

namespace perfc {

class TrainingTask {
 public:
  virtual ~TrainingTask() = default;
  virtual std::vector<NamedParameter<float>> parameters() = 0;
  /// Number of training samples, known by index.
  virtual std::size_t samples() const = 0;
  /// Forward and backward of some samples, as rows of one batch. Adds `weight` ×
  /// their gradients (loss averaged over outputs, summed over samples) to the
  /// parameters' and returns the loss scaled the same way. `context.first_sample`
  /// is the place of the first one in the step's batch, of which other ranks may
  /// have the rest.
  virtual Result<double> add_gradients(Context&, std::span<const std::size_t> samples, double weight, Diagnostics&) = 0;
  /// `add_gradients` goes forward and backward once, through layers of which each stands in the model once: weights
  /// may then change as soon as their gradient is known (`Context::update`).
  virtual bool one_pass_per_step() const { return false; }
  /// Mean loss over the validation samples, without dropout; NaN without any.
  virtual Result<double> validate(Context&, Diagnostics&) = 0;
};

/// One graph with what is known of it.
struct GraphSample {
  Adjacency adjacency;
  Matrix<float> nodes;         ///< normalised
  std::vector<float> globals;  ///< normalised
  std::vector<float> targets;  ///< in the network's units; NaN: not known
};

/// Graphs as one batch.
struct JoinedGraphs {
  GraphBatch graph;
  GraphInput<float> input;
  Matrix<float> targets;
};
Result<JoinedGraphs> join(std::span<const GraphSample* const>, Diagnostics&);

/// A GraphModel on graph samples.
class GraphTask final : public TrainingTask {
 public:
  /// All must outlive the task. `validation_batch`: graphs per pass of `validate`.
  GraphTask(GraphModel<float>&, std::span<const GraphSample> training, std::span<const GraphSample> validation, Loss,
            std::size_t validation_batch = 64);
  std::vector<NamedParameter<float>> parameters() override { return perfc::parameters(model_); }
  std::size_t samples() const override { return training_.size(); }
  Result<double> add_gradients(Context&, std::span<const std::size_t>, double weight, Diagnostics&) override;
  Result<double> validate(Context&, Diagnostics&) override;
  bool one_pass_per_step() const override { return true; }

 private:
  GraphModel<float>& model_;
  std::span<const GraphSample> training_, validation_;
  Loss loss_;
  std::size_t validation_batch_;
  Matrix<float> gradient_;
};

/// A Module on rows of a table: no graph. Of its layers none may stand in it twice.
class RowTask final : public TrainingTask {
 public:
  struct Rows {
    Matrix<float> x, y;
    /// Becomes some rows of another, in that order.
    void take(const Rows& all, std::span<const std::size_t> which);
  };
  RowTask(Module<float>&, const Rows& training, const Rows& validation, Loss);
  std::vector<NamedParameter<float>> parameters() override { return perfc::parameters(model_); }
  std::size_t samples() const override { return training_.x.rows(); }
  Result<double> add_gradients(Context&, std::span<const std::size_t>, double weight, Diagnostics&) override;
  Result<double> validate(Context&, Diagnostics&) override;
  bool one_pass_per_step() const override { return true; }

 private:
  Module<float>& model_;
  const Rows &training_, &validation_;
  Loss loss_;
  Rows batch_;
  Matrix<float> gradient_;
};

}  // namespace perfc
