#pragma once
/// PMGNS, the network of DIPPM (arXiv 2303.11733, figure 3), as published: the
/// baseline of every comparison.
///
/// Three blocks of [convolution, ReLU, convolution, ReLU, dropout], sum over the
/// nodes, concatenation with the static features, three blocks of [linear, ReLU,
/// dropout], linear to the outputs, −log sigmoid. Parameters have the names of
/// the published checkpoint. "mlp" has no graph part: static features alone.
#include <array>
#include <optional>

#include "gnn/layer_table.h"
#include "gnn/models/graph_model.h"

namespace perfc {

struct PmgnsOptions {
  const ConvolutionRow* convolution = nullptr;  ///< nullptr: mlp
  std::size_t node_columns = 32;                ///< the `dippm` schema
  std::size_t static_columns = 5;               ///< `dippm_static`
  std::size_t graph_hidden = 512, linear_hidden = 512;
  std::size_t outputs = 3;
  double dropout = 0.05;
};

/// From a model's name, "pmgns-sage|gcn|gat|gin|mlp", with the paper's sizes.
std::optional<PmgnsOptions> find_pmgns(std::string_view name);
std::vector<std::string> pmgns_names();

/// The paper's training: Huber loss, Adam, one graph per batch.
inline constexpr double kPmgnsLearningRate = 2.7542287033381663e-05;
inline constexpr std::size_t kPmgnsBatch = 1;

/// Outputs, in order, with the factor that the network's numbers carry.
struct PmgnsTarget {
  std::string_view label, unit;
  double factor;
};
inline constexpr std::array<PmgnsTarget, 3> kPmgnsTargets{
    {{"latency", "ms", 1000}, {"energy", "J", 10}, {"memory", "MB", 1}}};

template <class T>
class Pmgns : public GraphModel<T> {
 public:
  explicit Pmgns(const PmgnsOptions&);
  const Matrix<T>& forward(Context&, const GraphInput<T>&) override;
  void backward(Context&, const Matrix<T>& doutput) override;
  void visit(const std::string& prefix, const ParameterVisitor<T>&) override;

 private:
  Sequential<T> graph_, head_;
  bool with_graph_;
  std::size_t graph_width_;
  Matrix<T> joined_, dpooled_;
};

}  // namespace perfc
