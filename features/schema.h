#pragma once
/// Feature schemas: columns by name, with unit and meaning, and the matrices
/// that follow them. Graph features and counter features use the same types,
/// so that one normaliser and one checkpoint format serve both.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/infer_context.h"

namespace perfc {

struct Column {
  std::string name;
  std::string unit;  ///< "1" for counts, ratios and one-hots
  std::string meaning;
};

/// Rows × columns, row-major.
struct FeatureMatrix {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<double> values;
  double& at(std::size_t r, std::size_t c) { return values[r * columns + c]; }
  double at(std::size_t r, std::size_t c) const { return values[r * columns + c]; }
};

/// One row per call of the filtered graph, in execution (post) order.
struct NodeSchema {
  std::string_view name;  ///< "dippm", "perfc-op"
  std::string_view summary;
  const std::vector<Column>& (*columns)();
  void (*fill)(const Graph&, NodeId, std::span<double> row);
};
std::span<const NodeSchema> schemas();
const NodeSchema* find_schema(std::string_view name);

/// A matrix with its schema and, per row, the node it describes.
struct NodeFeatures {
  const NodeSchema* schema = nullptr;
  FeatureMatrix matrix;
  std::vector<NodeId> nodes;
  std::vector<std::string> labels;  ///< "op name", for people
};
NodeFeatures extract(const Graph&, const NodeSchema&);

/// Data-flow edges between the rows of `extract`: (from, to) row indices,
/// sorted, without repeats.
std::vector<std::pair<std::size_t, std::size_t>> data_flow_edges(const Graph&);

/// DIPPM's static features (arXiv 2303.11733, section 3.3): batch, MACs / 1e9,
/// number of nn.conv2d, nn.dense and nn.relu. MACs as TVM's
/// relay.analysis.get_total_mac_number counts: convolutions, dense, batch_matmul.
std::vector<Column> dippm_static_columns();
std::vector<double> dippm_static(const Graph&);

/// Shifts and scales columns to mean 0 and deviation 1, after log1p where the
/// column spans magnitudes. Fitted on training rows only.
class Normaliser {
 public:
  enum class Scale { Linear, Log };
  static Normaliser fit(const FeatureMatrix&, std::vector<Column>, const std::vector<Scale>&);
  /// From saved values, one of each per column; deviations must be positive.
  static Normaliser restore(std::vector<Column>, std::vector<Scale>, std::vector<double> mean,
                            std::vector<double> deviation);
  /// Refuses a matrix with another number of columns.
  bool apply(FeatureMatrix&) const;
  const std::vector<Column>& columns() const { return columns_; }
  const std::vector<Scale>& scales() const { return scale_; }
  const std::vector<double>& means() const { return mean_; }
  const std::vector<double>& deviations() const { return deviation_; }

 private:
  std::vector<Column> columns_;
  std::vector<Scale> scale_;
  std::vector<double> mean_, deviation_;
};

std::string to_csv(const NodeFeatures&);
std::string static_csv(const Graph&);
std::string adjacency_csv(const Graph&);

}  // namespace perfc
