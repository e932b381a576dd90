#include "counters/models/relative_model.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

#include "gnn/trainer.h"

namespace perfc {
namespace {

constexpr std::array kTable{
    RelativeModelRow{"mean", "the mean of the training rows", make_mean_model},
    RelativeModelRow{"linear", "ridge regression on counters", make_linear_model},
    RelativeModelRow{"knn", "five nearest neighbours on counters", make_knn_model},
    RelativeModelRow{"forest", "random forest on counters", make_forest_model},
    RelativeModelRow{"boosting", "gradient boosting on counters", make_boosting_model},
    RelativeModelRow{"dnn", "three hidden layers of 1024 on counters", make_dnn_model},
    RelativeModelRow{"vae-dnn", "the paper's: the same on the latent columns of a σ-VAE", make_vae_dnn_model},
    RelativeModelRow{"costs", "costs per kind of work and machine", make_costs_model},
    RelativeModelRow{"perfc", "costs, corrected by likeness as far as validation supports it", make_perfc_model},
    RelativeModelRow{"stack", "the mean of perfc and several dnn and vae-dnn, weighed by validation", make_stack_model},
};

}  // namespace

std::span<const RelativeModelRow> relative_model_table() { return kTable; }

const RelativeModelRow* find_relative_model(std::string_view name) {
  const auto found = std::find_if(kTable.begin(), kTable.end(), [&](const RelativeModelRow& r) { return r.name == name; });
  return found == kTable.end() ? nullptr : &*found;
}

std::vector<std::vector<std::size_t>> held_back(const CounterDataset& d, std::span<const std::size_t> rows, SplitKind kind, std::size_t folds,
                                                const Random& random) {
  std::map<std::string, std::vector<std::size_t>> groups;  // what stays together
  for (const std::size_t r : rows) groups[kind == SplitKind::Random ? d.workloads[r].name : d.workloads[r].application].push_back(r);
  std::vector<const std::vector<std::size_t>*> members;
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
