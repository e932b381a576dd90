#include "learning/residuals.h"

#include <fmt/format.h>

#include <algorithm>

#include "gnn/models/corrected.h"
#include "whitebox/predictor.h"

namespace perfc {
namespace {

constexpr std::string_view kResidualLength = "residuals.length";

/// Names of a mode's tensors and of a device's group in a checkpoint.
std::string residual_tensor(ExecMode mode, std::string_view what) {
  return fmt::format("residuals.{}.{}", name(mode), what);
}
std::string group_setting(std::string_view device) { return fmt::format("residuals.group.{}", device); }

/// The process of a mode; empty: nothing of this mode in training.
Result<GaussianProcess> read_process(Checkpoint& c, ExecMode mode, double length, std::size_t columns,
                                     Diagnostics& diags) {
  const auto find = [&](std::string_view what) {
    const auto at = std::find_if(c.tensors.begin(), c.tensors.end(),
                                 [&](const NamedTensor& t) { return t.name == residual_tensor(mode, what); });
    return at == c.tensors.end() ? nullptr : &at->value;
  };
  auto *points = find("points"), *weights = find("weights"), *groups = find("groups"), *scale = find("scale");
  if (!points && !weights && !groups && !scale) return GaussianProcess();
  if (!points || !weights || !groups || !scale)
    return diags.error(fmt::format("checkpoint: the residuals of mode {} are not complete", name(mode)));
  if (points->columns() != columns || scale->size() != columns || weights->size() != points->rows() ||
      groups->size() != points->rows() ||
      !std::all_of(scale->data(), scale->data() + columns, [](float v) { return v > 0; })) {
    return diags.error(fmt::format("checkpoint: '{}' has {} × {} numbers for {} weights, {} groups and {} columns",
                                   residual_tensor(mode, "points"), points->rows(), points->columns(), weights->size(),
                                   groups->size(), columns));
  }
  std::vector<int> group;
  for (std::size_t i = 0; i < groups->size(); ++i)
    group.push_back(static_cast<int>(std::clamp(groups->data()[i], -1.0F, 1e6F)));
  return GaussianProcess(length, {scale->data(), scale->data() + columns}, std::move(*points),
                         {weights->data(), weights->data() + weights->size()}, std::move(group));
}

}  // namespace

std::vector<Residuals::Estimate> Residuals::at(std::span<const float> fingerprint, std::span<const std::string> devices,
                                               ExecMode mode) const {
  const GaussianProcess& process = of_mode[static_cast<std::size_t>(mode)];
  std::vector<Estimate> out(devices.size());
  if (process.empty()) return out;
  std::vector<int> groups;
  for (const std::string& device : devices) {
    const auto known = group.find(device);
    groups.push_back(known == group.end() ? GaussianProcess::kNoGroup : known->second);
  }
  const std::vector<GaussianProcess::Estimate> found = process.at(fingerprint, groups);
  std::ranges::transform(found, out.begin(), [](const GaussianProcess::Estimate& e) -> Estimate {
    return {std::clamp(e.mean * e.similarity * e.similarity, -kMostCorrection, kMostCorrection), e.similarity};
  });
  return out;
}

Result<Residuals> Residuals::fit(const std::array<std::vector<Run>, 2>& runs, std::size_t columns,
                                 std::map<std::string, int> groups, Random random, ThreadPool& threads,
                                 Diagnostics& diags) {
  Residuals out;
  out.group = std::move(groups);
  for (const auto mode : {ExecMode::Eager, ExecMode::Compiled}) {
    const std::vector<Run>& of_mode = runs[static_cast<std::size_t>(mode)];
    Matrix<float> x(of_mode.size(), columns);
    std::vector<double> y;
    std::vector<int> group;
    for (std::size_t r = 0; r < of_mode.size(); ++r) {
      std::copy(of_mode[r].fingerprint.begin(), of_mode[r].fingerprint.end(), x.data() + r * columns);
      y.push_back(of_mode[r].log_error);
      group.push_back(of_mode[r].group);
    }
    auto process = GaussianProcess::fit(x, y, group, {}, random, threads, diags);
    if (!process) return Failure{};
    out.of_mode[static_cast<std::size_t>(mode)] = std::move(*process);
  }
  return out;
}

void Residuals::write(Checkpoint& c) const {
  c.settings[std::string(kResidualLength)] = GaussianProcessOptions{}.length;
  for (const auto& [device, of_device] : group) c.settings[group_setting(device)] = of_device;
  for (const auto mode : {ExecMode::Eager, ExecMode::Compiled}) {
    const GaussianProcess& process = of_mode[static_cast<std::size_t>(mode)];
    if (process.empty()) continue;
    const auto vector = [&](std::string_view what, const auto& values) {
      NamedTensor t{.name = residual_tensor(mode, what),
                    .kind = Parameter<float>::Kind::Vector,
                    .value = Matrix<float>(1, values.size())};
      std::transform(values.begin(), values.end(), t.value.data(), [](auto v) { return static_cast<float>(v); });
      c.tensors.push_back(std::move(t));
    };
    c.tensors.push_back({.name = residual_tensor(mode, "points"), .value = process.points()});
    vector("weights", process.weights());
    vector("groups", process.groups());
    vector("scale", process.scale());
  }
}

Result<Residuals> Residuals::read(Checkpoint& c, std::size_t columns, Diagnostics& diags) {
  Residuals out;
  const auto length = number_setting(c, std::string(kResidualLength), 1e-3, 1e3, diags);
  if (!length) return Failure{};
  for (const auto& [key, value] : c.settings) {
    if (key.starts_with(group_setting(""))) out.group[key.substr(group_setting("").size())] = static_cast<int>(value);
  }
  for (const auto mode : {ExecMode::Eager, ExecMode::Compiled}) {
    auto process = read_process(c, mode, *length, columns, diags);
    if (!process) return Failure{};
    out.of_mode[static_cast<std::size_t>(mode)] = std::move(*process);
  }
  std::erase_if(c.tensors, [](const NamedTensor& t) { return t.name.starts_with("residuals."); });
  return out;
}

double belief_in_networks(double similarity) { return std::clamp(similarity / kSimilarityBins.front(), 0.0, 1.0); }

SimilarityBin similarity_bin(double similarity) {
  return static_cast<SimilarityBin>(
      std::count_if(kSimilarityBins.begin(), kSimilarityBins.end(), [&](double from) { return similarity >= from; }));
}

}  // namespace perfc
