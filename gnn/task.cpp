#include "gnn/task.h"

#include <limits>

#include <fmt/format.h>

namespace perfc {

Result<JoinedGraphs> join(std::span<const GraphSample* const> samples, Diagnostics& diags) {
  std::vector<const Adjacency*> adjacencies;
  for (const GraphSample* s : samples) adjacencies.push_back(&s->adjacency);
  Result<GraphBatch> graph = GraphBatch::join(adjacencies, diags);
  if (!graph) return Failure{};
  JoinedGraphs b{.graph = std::move(*graph)};
  if (samples.empty()) return b;
  const GraphSample& first = *samples.front();
  b.input.nodes.resize(b.graph.nodes(), first.nodes.columns());
  b.input.globals.resize(samples.size(), first.globals.size());
  b.targets.resize(samples.size(), first.targets.size());
  for (std::size_t g = 0; g < samples.size(); ++g) {
    const GraphSample& s = *samples[g];
    if (s.nodes.rows() != s.adjacency.nodes || s.nodes.columns() != first.nodes.columns() ||
        s.globals.size() != first.globals.size() || s.targets.size() != first.targets.size()) {
      return diags.error(fmt::format("graph batch: sample {} has other columns than the first", g));
    }
    std::copy_n(s.nodes.data(), s.nodes.size(), b.input.nodes.data() + b.graph.first(g) * first.nodes.columns());
    std::copy(s.globals.begin(), s.globals.end(), b.input.globals.data() + g * first.globals.size());
    std::copy(s.targets.begin(), s.targets.end(), b.targets.data() + g * first.targets.size());
  }
  return b;
}

GraphTask::GraphTask(GraphModel<float>& model, std::span<const GraphSample> training,
                     std::span<const GraphSample> validation, Loss loss, std::size_t validation_batch)
    : model_(model), training_(training), validation_(validation), loss_(std::move(loss)),
      validation_batch_(std::max<std::size_t>(validation_batch, 1)) {}

Result<double> GraphTask::add_gradients(Context& c, std::span<const std::size_t> samples, double weight,
                                        Diagnostics& diags) {
  std::vector<const GraphSample*> chosen;
  for (const std::size_t s : samples) chosen.push_back(&training_[s]);
  const Result<JoinedGraphs> batch = join(chosen, diags);
  if (!batch) return Failure{};
  c.graph = &batch->graph;
  const Matrix<float>& prediction = model_.forward(c, batch->input);
  const double scale = weight / static_cast<double>(prediction.columns());
  const double loss = evaluate(loss_, prediction, batch->targets, scale, gradient_);
  model_.backward(c, gradient_);
  c.graph = nullptr;
  return loss;
}

Result<double> GraphTask::validate(Context& c, Diagnostics& diags) {
  if (validation_.empty()) return std::numeric_limits<double>::quiet_NaN();
  double sum = 0;
  for (std::size_t begin = 0; begin < validation_.size(); begin += validation_batch_) {
    std::vector<const GraphSample*> chosen;
    for (std::size_t s = begin; s < std::min(begin + validation_batch_, validation_.size()); ++s) {
      chosen.push_back(&validation_[s]);
    }
    const Result<JoinedGraphs> batch = join(chosen, diags);
    if (!batch) return Failure{};
    c.graph = &batch->graph;
    const Matrix<float>& prediction = model_.forward(c, batch->input);
    sum += evaluate(loss_, prediction, batch->targets, 1 / static_cast<double>(prediction.columns()), gradient_);
    c.graph = nullptr;
  }
  return sum / static_cast<double>(validation_.size());
}

void RowTask::Rows::take(const Rows& all, std::span<const std::size_t> which) {
  x.resize(which.size(), all.x.columns());
  y.resize(which.size(), all.y.columns());
  for (std::size_t i = 0; i < which.size(); ++i) {
    x.row(i) = all.x.row(which[i]);
    y.row(i) = all.y.row(which[i]);
  }
}

RowTask::RowTask(Module<float>& model, const Rows& training, const Rows& validation, Loss loss)
    : model_(model), training_(training), validation_(validation), loss_(std::move(loss)) {}

Result<double> RowTask::add_gradients(Context& c, std::span<const std::size_t> samples, double weight, Diagnostics&) {
  batch_.take(training_, samples);
  const Matrix<float>& prediction = model_.forward(c, batch_.x);
  const double loss =
      evaluate(loss_, prediction, batch_.y, weight / static_cast<double>(prediction.columns()), gradient_);
  model_.backward(c, gradient_);
  return loss;
}

Result<double> RowTask::validate(Context& c, Diagnostics&) {
  if (validation_.x.rows() == 0) return std::numeric_limits<double>::quiet_NaN();
  const Matrix<float>& prediction = model_.forward(c, validation_.x);
  return evaluate(loss_, prediction, validation_.y, 1 / static_cast<double>(prediction.size()), gradient_);
}

}  // namespace perfc
