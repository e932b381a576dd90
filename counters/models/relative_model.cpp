#include "counters/models/relative_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "gnn/trainer.h"

namespace perfc {
namespace {

/// Of models that have nothing to choose.
template <class Model, auto factory>
std::unique_ptr<Model> make(const VaeTraining&) {
  return factory();
}
template <class Model>
std::unique_ptr<Model> make_vae_dnn(const VaeTraining& how) {
  return make_vae_dnn_model(how);
}

constexpr std::array kRelativeModels{
    RelativeModelRow{"mean", "the mean of the training rows", make<RelativeModel, make_mean_model>},
    RelativeModelRow{"lookup", "the mean of the training rows of the same kernel",
                     make<RelativeModel, make_lookup_model>},
    RelativeModelRow{"linear", "ridge regression on counters", make<RelativeModel, make_linear_model>},
    RelativeModelRow{"knn", "five nearest neighbours on counters", make<RelativeModel, make_knn_model>},
    RelativeModelRow{"forest", "random forest on counters", make<RelativeModel, make_forest_model>},
    RelativeModelRow{"boosting", "gradient boosting on counters", make<RelativeModel, make_boosting_model>},
    RelativeModelRow{"dnn", "three hidden layers of 1024 on counters", make<RelativeModel, make_dnn_model>},
    RelativeModelRow{"vae-dnn", "the paper's: the same on the latent columns of a σ-VAE", make_vae_dnn<RelativeModel>},
    RelativeModelRow{"costs", "costs per kind of work and machine", make<RelativeModel, make_costs_model>},
    RelativeModelRow{"perfc", "costs and what counters say beyond them", make<RelativeModel, make_perfc_model>},
};

constexpr std::array kStored{
    StoredModelRow{"perfc", "perfc-counters", make<StoredModel, make_perfc_model>},
    StoredModelRow{"dnn", "dnn-counters", make<StoredModel, make_dnn_model>},
    StoredModelRow{"vae-dnn", "vae-dnn-counters", make_vae_dnn<StoredModel>},
};

constexpr std::array kSplits{
    SplitRow{"random", SplitKind::Random, "a fifth of the workloads"},
    SplitRow{"kernel", SplitKind::Kernel, "each kernel in turn"},
    SplitRow{"application", SplitKind::Application, "each application in turn"},
    SplitRow{"suite", SplitKind::Suite, "each suite in turn"},
};

/// What stays together.
std::string group_of(const CounterDataset::Workload& w, SplitKind kind) {
  switch (kind) {
    case SplitKind::Random:
      return w.name;
    case SplitKind::Kernel:
      return w.application + "/" + w.region;
    case SplitKind::Application:
      return w.application;
    case SplitKind::Suite:
      return w.suite;
  }
  return {};
}

}  // namespace

std::span<const SplitRow> split_table() { return kSplits; }

SplitKind split_kind(std::string_view name) {
  return std::find_if(kSplits.begin(), kSplits.end(), [&](const SplitRow& r) { return r.name == name; })->kind;
}

Status check_split(const CounterDataset& d, SplitKind kind, Diagnostics& diags) {
  const bool none = std::any_of(d.workloads.begin(), d.workloads.end(), [](const auto& w) { return w.suite.empty(); });
  if (kind == SplitKind::Suite && none)
    return diags.error("the column 'suite' is missing or empty: without it no suite can be held back");
  return ok();
}

std::span<const RelativeModelRow> relative_model_table() { return kRelativeModels; }
std::span<const StoredModelRow> stored_model_table() { return kStored; }

double nine_of_ten(const FeatureMatrix& y, const FeatureMatrix& prediction) {
  std::vector<double> errors;
  for (std::size_t i = 0; i < y.values.size(); ++i) errors.push_back(std::abs(prediction.values[i] - y.values[i]));
  if (errors.empty()) return 0;
  const auto at = errors.begin() + static_cast<std::ptrdiff_t>(errors.size() * 9 / 10);
  std::nth_element(errors.begin(), at, errors.end());
  return *at;
}

const RelativeModelRow* find_relative_model(std::string_view name) {
  const auto found = std::find_if(kRelativeModels.begin(), kRelativeModels.end(),
                                  [&](const RelativeModelRow& r) { return r.name == name; });
  return found == kRelativeModels.end() ? nullptr : &*found;
}

std::vector<std::vector<std::size_t>> held_back(const CounterDataset& d, std::span<const std::size_t> rows,
                                                SplitKind kind, std::size_t folds, const Random& random) {
  std::map<std::string, std::vector<std::size_t>> groups;
  for (const std::size_t r : rows) groups[group_of(d.workloads[r], kind)].push_back(r);
  std::vector<const std::vector<std::size_t>*> members;
  members.reserve(groups.size());
  for (const auto& [name, of] : groups) members.push_back(&of);
  if (folds == 0) folds = members.size();
  std::vector<std::vector<std::size_t>> parts(std::min(folds, members.size()));
  const std::vector<std::size_t> order = shuffled(members.size(), random, 0);
  for (std::size_t i = 0; i < order.size(); ++i) {
    auto& part = parts[i % parts.size()];
    part.insert(part.end(), members[order[i]]->begin(), members[order[i]]->end());
  }
  for (auto& part : parts) std::sort(part.begin(), part.end());
  return parts;
}

std::vector<std::size_t> without(std::span<const std::size_t> rows, std::span<const std::size_t> part) {
  std::vector<std::size_t> rest;
  for (const std::size_t r : rows) {
    if (std::find(part.begin(), part.end(), r) == part.end()) rest.push_back(r);
  }
  return rest;
}

}  // namespace perfc
