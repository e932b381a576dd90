#include "learning/network_mean.h"

#include <algorithm>
#include <cmath>

#include "learning/corrected.h"

namespace perfc {
namespace {

/// Rows that pass through the networks together, unless one sample has more: as many as the caches hold.
constexpr std::size_t kRowsTogether = 256;

}  // namespace

Result<std::unique_ptr<NetworkMean>> NetworkMean::read(const std::vector<NamedTensor>& tensors, std::size_t networks,
                                                       const CorrectedOptions& options, Diagnostics& diags) {
  auto out = std::unique_ptr<NetworkMean>(new NetworkMean(options));
  const auto of_network = parameters<float>(*out->network_);
  std::vector<NamedParameter<float>> all;
  out->members_.resize(networks);
  for (std::size_t n = 0; n < networks; ++n) {
    out->members_[n].resize(of_network.size());
    for (std::size_t i = 0; i < of_network.size(); ++i) {
      Parameter<float>& own = out->members_[n][i];
      const Parameter<float>& like = *of_network[i].parameter;
      own.kind = like.kind;
      own.value.resize(like.value.rows(), like.value.columns());
      all.push_back({network_prefix(n) + of_network[i].name, &own});
    }
  }
  if (!load(tensors, all, diags)) return Failure{};
  return out;
}

std::vector<NetworkMean::Advice> NetworkMean::of(std::span<const GraphSample> samples) const {
  std::vector<Advice> out(samples.size());
  const std::lock_guard lock(mutex_);
  for (std::size_t begin = 0, end = 0; begin < samples.size(); begin = end) {
    std::size_t rows = samples[end++].adjacency.nodes;
    for (; end < samples.size() && rows + samples[end].adjacency.nodes <= kRowsTogether; ++end)
      rows += samples[end].adjacency.nodes;
    add(samples.subspan(begin, end - begin), std::span(out).subspan(begin, end - begin));
  }
  return out;
}

void NetworkMean::add(std::span<const GraphSample> samples, std::span<Advice> out) const {
  std::vector<const GraphSample*> together;
  for (const GraphSample& s : samples) together.push_back(&s);
  Diagnostics diags;
  const auto batch = join(together, diags);
  for (std::size_t g = 0; g < samples.size(); ++g) {
    out[g].work.assign(samples[g].adjacency.nodes, 0);
    out[g].launch = out[g].work;
  }
  if (!batch) return;  // more kernels than any model has
  Context context{.threads = threads_, .graph = &batch->graph};
  const auto own = parameters<float>(*network_);
  const auto exchange = [&](std::vector<Parameter<float>>& member) {
    for (std::size_t i = 0; i < own.size(); ++i) std::swap(own[i].parameter->value, member[i].value);
  };
  for (auto& member : members_) {
    exchange(member);
    network_->forward(context, batch->input);
    const Matrix<float>& factors = network_->factors();
    for (std::size_t g = 0; g < samples.size(); ++g) {
      Advice& a = out[g];
      const std::size_t first = batch->graph.first(g);
      a.device_ms += std::log(std::max<double>(network_->device_us()[g], 1e-9));
      for (std::size_t k = 0; k < a.work.size(); ++k) {
        a.work[k] += std::log(factors(first + k, 0));
        a.launch[k] += std::log(factors(first + k, 1));
      }
    }
    exchange(member);
  }
  const auto nets = static_cast<double>(members_.size());
  for (Advice& a : out) {
    a.device_ms = std::exp(a.device_ms / nets) / 1e3;
    for (double& w : a.work) w = std::exp(w / nets);
    for (double& l : a.launch) l = std::exp(l / nets);
  }
}

}  // namespace perfc
