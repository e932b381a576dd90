#pragma once
/// Graphs and labels as PMGNS reads them.
#include <memory>

#include "gnn/checkpoint.h"
#include "gnn/models/pmgns.h"
#include "gnn/task.h"
#include "learning/dataset.h"

namespace perfc {

/// How numbers enter and leave the network.
enum class Recipe : unsigned char {
  /// As published: raw magnitudes in; µs, 10 J and MB out, with Huber's loss on them.
  Published,
  /// Columns with mean 0 and deviation 1 (logarithms, one-hots apart); outputs as
  /// multiples of the training labels' geometric mean, with a loss on their ratio.
  Normalised,
};
inline constexpr std::array<std::string_view, 2> kRecipeNames{"published", "normalised"};

/// A graph's features before any normaliser.
struct PmgnsGraph {
  Adjacency adjacency;
  FeatureMatrix nodes;    ///< schema `dippm`
  FeatureMatrix globals;  ///< one row, `dippm_static_columns`
};
PmgnsGraph pmgns_graph(const Graph&);

/// The feature tables of PMGNS without normalisers: what check_tables expects.
std::vector<FeatureTable> pmgns_tables();

/// Normalises by the tables (in the order of pmgns_tables). No targets.
GraphSample pmgns_sample(const PmgnsGraph&, std::span<const FeatureTable>);

/// The measured value of an output in its unit (kPmgnsTargets); NaN: none.
double pmgns_label(const Label&, std::string_view output);

struct PmgnsData {
  std::vector<FeatureTable> tables;   ///< with normalisers where the recipe has them
  std::vector<OutputColumn> outputs;  ///< those of kPmgnsTargets with a label in the training part
  std::vector<GraphSample> training, validation;
  std::size_t left_out = 0;  ///< labels whose model cannot be loaded
};

/// Loads the graphs of the training and validation parts. Refuses labels of more than one
/// setting (device, dtype, mode, layout, task), which this network does not see.
Result<PmgnsData> pmgns_data(const Dataset&, const Split&, Recipe, std::size_t threads, Diagnostics&);

/// "rtx4090, amp, eager, nchw, infer"
std::string setting_of(const Label&);

}  // namespace perfc
