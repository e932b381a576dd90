#include "counters/models/networks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "counters/models/tensors.h"
#include "gnn/layers/linear.h"
#include "gnn/layers/rowwise.h"
#include "gnn/trainer.h"

namespace perfc {
namespace {

constexpr std::size_t kNetworkWidth = 64, kNetworkBatch = 32;
constexpr double kNetworkRate = 3e-3;

}  // namespace

std::unique_ptr<Sequential<float>> make_network(std::size_t inputs, std::size_t hidden, std::size_t hidden_layers,
                                                std::size_t outputs) {
  auto net = std::make_unique<Sequential<float>>();
  for (std::size_t i = 0; i < hidden_layers; ++i) {
    const auto input_gradient = i == 0 ? InputGradient::Unused : InputGradient::Wanted;
    net->add("hidden" + std::to_string(i),
             std::make_unique<Linear<float>>(i == 0 ? inputs : hidden, hidden, Bias::Yes, input_gradient));
    net->add("relu" + std::to_string(i), std::make_unique<Activation<float>>(ActivationKind::Relu));
  }
  net->add("output", std::make_unique<Linear<float>>(hidden, outputs));
  return net;
}

ColumnRange ColumnRange::fit(const FeatureMatrix& x) {
  ColumnRange range{std::vector<double>(x.columns, 1e300), std::vector<double>(x.columns, -1e300)};
  for (std::size_t i = 0; i < x.values.size(); ++i) {
    double &low = range.low[i % x.columns], &high = range.high[i % x.columns];
    low = std::min(low, x.values[i]);
    high = std::max(high, x.values[i]);
  }
  return range;
}

void ColumnRange::apply(FeatureMatrix& x) const {
  for (std::size_t i = 0; i < x.values.size(); ++i)
    x.values[i] = std::min(std::max(x.values[i], low[i % x.columns]), high[i % x.columns]);
}

Result<Networks> Networks::fit(const FeatureMatrix& x, const FeatureMatrix& y, const std::vector<Column>& columns,
                               const std::vector<Normaliser::Scale>& scales, const NetworkOptions& o,
                               const Random& random, Diagnostics& diags) {
  Networks out;
  out.outputs_ = y.columns;
  out.normaliser_ = Normaliser::fit(x, columns, scales);
  FeatureMatrix normal = x;
  out.normaliser_.apply(normal);
  out.range_ = ColumnRange::fit(normal);
  const RowTask::Rows rows{narrowed(normal), narrowed(y)},
      none{Matrix<float>(0, x.columns), Matrix<float>(0, y.columns)};
  const std::uint64_t steps_per_epoch = std::max<std::uint64_t>((x.rows + kNetworkBatch - 1) / kNetworkBatch, 1);
  for (std::size_t n = 0; n < o.networks; ++n) {
    const Random own = random.stream(n);
    auto& net = *out.networks_.emplace_back(make_network(x.columns, kNetworkWidth, o.hidden_layers, y.columns));
    RowTask task(net, rows, none, {});
    initialise(task.parameters(), own);
    SingleProcess alone;
    const TrainOptions options{.epochs = std::max<std::uint64_t>(o.steps / steps_per_epoch, 1),
                               .batch = kNetworkBatch,
                               .seed = own.bits(0),
                               .schedule = {.shape = Schedule::Shape::Cosine, .peak = kNetworkRate},
                               .adam = {.weight_decay = o.weight_decay}};
    if (!train(task, options, alone, diags)) return Failure{};
  }
  return out;
}

FeatureMatrix Networks::predict(FeatureMatrix x) const {
  normaliser_.apply(x);
  range_.apply(x);
  const Matrix<float> rows = narrowed(x);
  FeatureMatrix y{x.rows, outputs_, std::vector<double>(x.rows * outputs_, 0)};
  ThreadPool threads;
  for (const auto& net : networks_) {
    Context c{.threads = threads};
    const Matrix<float>& one = net->forward(c, rows);
    for (std::size_t i = 0; i < y.values.size(); ++i)
      y.values[i] += static_cast<double>(one.data()[i]) / static_cast<double>(networks_.size());
  }
  return y;
}

void Networks::save(const std::string& prefix, std::vector<NamedTensor>& out) const {
  save_normaliser(prefix, normaliser_, out);
  out.push_back(vector_tensor(prefix + "low", range_.low));
  out.push_back(vector_tensor(prefix + "high", range_.high));
  for (std::size_t n = 0; n < networks_.size(); ++n) {
    auto of_net = perfc::save(parameters(*networks_[n], fmt::format("{}{}.", prefix, n)));
    std::move(of_net.begin(), of_net.end(), std::back_inserter(out));
  }
}

Result<Networks> Networks::restore(const std::string& prefix, const std::vector<NamedTensor>& tensors,
                                   std::size_t columns, std::size_t hidden_layers, std::size_t outputs,
                                   Diagnostics& diags) {
  Networks out;
  out.outputs_ = outputs;
  TensorReader read(tensors, diags);
  auto normaliser = read.normaliser(prefix, columns);
  out.range_ = {read.vector(prefix + "low", columns), read.vector(prefix + "high", columns)};
  if (!normaliser || !read.good()) return Failure{};
  out.normaliser_ = std::move(*normaliser);
  for (std::size_t n = 0;; ++n) {
    const std::string name = fmt::format("{}{}.", prefix, n);
    std::vector<NamedTensor> own;
    std::copy_if(tensors.begin(), tensors.end(), std::back_inserter(own),
                 [&](const NamedTensor& t) { return t.name.starts_with(name); });
    if (own.empty() && n > 0) return out;
    auto& net = *out.networks_.emplace_back(make_network(columns, kNetworkWidth, hidden_layers, outputs));
    if (!load(own, parameters(net, name), diags)) return Failure{};
  }
}

}  // namespace perfc
