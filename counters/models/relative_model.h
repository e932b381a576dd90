#pragma once
/// Models of relative performance: counters of a workload → ln of its times on machines,
/// relative to what `CounterProblem::target` says.
///
/// To add one: derive from RelativeModel in a file of its own and add a row to
/// `relative_model_table`; `perfc counters eval` then has it.
#include <memory>

#include "counters/models/inputs.h"
#include "gnn/random.h"

namespace perfc {

/// What a split holds back: single workloads, or all of an application.
enum class SplitKind : unsigned char { Random, Application };

class RelativeModel {
 public:
  virtual ~RelativeModel() = default;
  /// Sees the times of `rows` alone. `kind`: what it will be asked for, so that validation
  /// within `rows` can hold back the same.
  virtual Status fit(const CounterProblem&, std::span<const std::size_t> rows, SplitKind, const Random&, Diagnostics&) = 0;
  /// Rows × machines. Uses the reference's times, never the machines'.
  virtual FeatureMatrix predict(const CounterProblem&, std::span<const std::size_t> rows) const = 0;
};

struct RelativeModelRow {
  std::string_view name;
  std::string_view summary;
  std::unique_ptr<RelativeModel> (*make)();
};
std::span<const RelativeModelRow> relative_model_table();
const RelativeModelRow* find_relative_model(std::string_view name);

/// Parts of rows to hold back in turn: `folds` random ones, or for applications as many
/// of whole applications (all of them, one by one, if folds is 0).
std::vector<std::vector<std::size_t>> held_back(const CounterDataset&, std::span<const std::size_t> rows, SplitKind, std::size_t folds, const Random&);
/// `rows` without `part`.
std::vector<std::size_t> without(std::span<const std::size_t> rows, std::span<const std::size_t> part);

// The rows' factories.
std::unique_ptr<RelativeModel> make_mean_model();
std::unique_ptr<RelativeModel> make_linear_model();
std::unique_ptr<RelativeModel> make_knn_model();
std::unique_ptr<RelativeModel> make_forest_model();
std::unique_ptr<RelativeModel> make_boosting_model();
std::unique_ptr<RelativeModel> make_dnn_model();
std::unique_ptr<RelativeModel> make_vae_dnn_model();
std::unique_ptr<RelativeModel> make_costs_model();
std::unique_ptr<RelativeModel> make_perfc_model();
std::unique_ptr<RelativeModel> make_stack_model();

}  // namespace perfc
