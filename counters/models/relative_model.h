#pragma once
/// Models of relative performance: counters of a workload → ln of its times on machines,
/// relative to what `CounterProblem::target` says.
///
/// To add one: derive from RelativeModel in a file of its own and add a row to
/// `relative_model_table`; `perfc counters eval` then has it. Derive from StoredModel for
/// `perfc counters train` and `predict` to have it too.
#include <memory>
#include <optional>

#include "counters/models/inputs.h"
#include "counters/models/vae_training.h"
#include "gnn/checkpoint.h"

namespace perfc {

/// What a split holds back: single workloads, or all of a kernel (a region of an application), of an application, or of
/// a suite.
enum class SplitKind : unsigned char { Random, Kernel, Application, Suite };
struct SplitRow {
  std::string_view name;
  SplitKind kind;
  std::string_view held_back;  ///< what, for people
};
std::span<const SplitRow> split_table();
/// Of `split_table`, by name.
SplitKind split_kind(std::string_view name);
/// Has the data what the split asks for?
Status check_split(const CounterDataset&, SplitKind, Diagnostics&);

class RelativeModel {
 public:
  virtual ~RelativeModel() = default;
  /// Sees the times of `rows` alone. `kind`: what it will be asked for, so that validation
  /// within `rows` can hold back the same.
  virtual Status fit(const CounterProblem&, std::span<const std::size_t> rows, SplitKind, const Random&,
                     Diagnostics&) = 0;
  /// Rows × machines. Uses the reference's times, never the machines'.
  virtual FeatureMatrix predict(const CounterProblem&, std::span<const std::size_t> rows) const = 0;
};

/// One that a checkpoint can hold.
class StoredModel : public RelativeModel {
 public:
  /// Adds its tensors, settings and vocabulary.
  virtual void save(Checkpoint&) const = 0;
  /// `names`: the columns of `fit`; machines: outputs.
  virtual Status restore(const CounterDataset& names, std::size_t machines, const Checkpoint&, Diagnostics&) = 0;
  /// ln of the seconds that predictions are relative to; NaN: the model does not tell.
  virtual double base(const CounterProblem&, std::size_t row) const = 0;
  /// Nine of ten held-back predictions of `fit` were no further off than this, in ln; nothing if `fit` holds nothing
  /// back.
  virtual std::optional<double> interval() const { return {}; }
  /// Words of regions' names that it reads.
  virtual std::vector<std::string> words() const { return {}; }
  /// What `fit` found, for people; may be empty.
  virtual std::string findings() const { return {}; }
};

/// What nine of ten of the predictions' errors are within.
double nine_of_ten(const FeatureMatrix& target, const FeatureMatrix& prediction);

struct RelativeModelRow {
  std::string_view name;
  std::string_view summary;
  std::unique_ptr<RelativeModel> (*make)(const VaeTraining&);
};
std::span<const RelativeModelRow> relative_model_table();
const RelativeModelRow* find_relative_model(std::string_view name);

struct StoredModelRow {
  std::string_view name;        ///< in `relative_model_table`
  std::string_view checkpoint;  ///< what its checkpoints say that they hold
  std::unique_ptr<StoredModel> (*make)(const VaeTraining&);
};
std::span<const StoredModelRow> stored_model_table();

/// Parts of rows to hold back in turn: `folds` random ones, or as many of whole kernels, applications or suites (all of
/// them, one by one, if folds is 0).
std::vector<std::vector<std::size_t>> held_back(const CounterDataset&, std::span<const std::size_t> rows, SplitKind,
                                                std::size_t folds, const Random&);
/// `rows` without `part`.
std::vector<std::size_t> without(std::span<const std::size_t> rows, std::span<const std::size_t> part);

// The rows' factories.
std::unique_ptr<RelativeModel> make_mean_model();
std::unique_ptr<RelativeModel> make_lookup_model();
std::unique_ptr<RelativeModel> make_linear_model();
std::unique_ptr<RelativeModel> make_knn_model();
std::unique_ptr<RelativeModel> make_forest_model();
std::unique_ptr<RelativeModel> make_boosting_model();
std::unique_ptr<StoredModel> make_dnn_model();
std::unique_ptr<StoredModel> make_vae_dnn_model(const VaeTraining&);
std::unique_ptr<RelativeModel> make_costs_model();
std::unique_ptr<StoredModel> make_perfc_model();

}  // namespace perfc
