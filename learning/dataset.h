#pragma once
/// Measured labels and the graphs they belong to.
///
/// A dataset is a CSV file, one row per measurement, beside its model files:
///
///   column                     meaning
///   model                      path of the model file, relative to the CSV's folder
///   batch                      batch size; empty: the file's, or 1
///   device                     name of a device or MIG slice (perfc devices)
///   dtype, mode, layout, norms as the options of `perfc predict`; empty: its defaults; mode "onnxruntime-cpu" is that
///                              runtime
///   task                       infer or train; empty: infer
///   latency_ms                 of one batch; may be empty
///   memory_mib                 peak; may be empty
///   energy_j                   of one batch; may be empty
///   stack                      the software that ran it (perfc devices --stacks); empty: today's
///   source, licence            where the number is from, and what may be done with it
///   architecture, family       for splits and tables; empty: from the file's name, and "-";
///                              family "operator": a single operator
///   status                     "ok" or empty; other rows are results without a label ("oom"),
///                              left out with a note, and so is mode "cuda-graph"
///
/// `model` and one of the three labels must be there; other columns are left
/// unread. A dataset's splits keep each architecture on one side.
#include <array>
#include <functional>
#include <limits>
#include <map>
#include <span>

#include "pipeline/pipeline.h"

namespace perfc {

inline constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();

/// Family of labels that measure one operator, not a model: they belong to no fold
/// of the families, and intervals are not made from their errors.
inline constexpr std::string_view kOperatorFamily = "operator";

struct Label {
  SourceLoc loc;      ///< the row's line
  std::string model;  ///< path that can be opened
  std::optional<std::int64_t> batch;
  std::string device;
  ExecConfig exec;
  std::string task;  ///< "infer", "train"
  double latency_ms = kNotMeasured, memory_mib = kNotMeasured, energy_j = kNotMeasured;
  std::string source, licence;
  std::string architecture, family;
};

struct Dataset {
  std::vector<Label> labels;
  std::uint64_t hash = 0;  ///< of the CSV's text: runs on other labels differ in it
};

/// Refuses, with the line: numbers that are not positive, unknown names of
/// precisions and modes, a file without rows. Model files are not looked at.
Result<Dataset> read_dataset(const std::string& path, Diagnostics&);

/// Keeps the labels that ran in a setting; empty: any.
struct LabelFilter {
  std::string device, dtype, mode, layout, task;
  std::string without_device;
  std::int64_t least_batch = 0,
               most_batch =
                   std::numeric_limits<std::int64_t>::max();  ///< labels without a batch pass only where neither is set
};
void keep(Dataset&, const LabelFilter&);

/// "resnet50" for ".../resnet50_224.reparam.onnx": the name that splits go by
/// where the labels have no `architecture`.
std::string architecture_of(std::string_view model_path);

enum class Part : unsigned char { Training, Validation, Test };
inline constexpr std::array<std::string_view, 3> kPartNames{"training", "validation", "test"};

/// The part of each architecture.
using Split = std::map<std::string, Part>;

/// 70 / 15 / 15 % of the architectures, drawn by name: adding some moves no other.
Split random_split(const Dataset&, std::uint64_t seed);
/// From a CSV file with the columns `architecture` and `split` (training,
/// validation or test). Architectures of the dataset that it lacks are an error.
Result<Split> read_split(const std::string& path, const Dataset&, Diagnostics&);

/// Loads the graph of every label and hands it to `use` with the indices of its
/// labels; labels of the same model, batch and execution mode share one graph.
/// `use` is called once per graph, on `threads` threads at the same time. Models that
/// cannot be loaded are left out with a warning that says why, once per model;
/// returns the number of labels left out. Fails when none is left.
Result<std::size_t> for_each_graph(std::span<const Label>, std::size_t threads,
                                   const std::function<void(const Graph&, std::span<const std::size_t>)>& use,
                                   Diagnostics&);

}  // namespace perfc
