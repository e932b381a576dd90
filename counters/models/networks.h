#pragma once
/// The mean of a few small networks, alike but for their random beginnings: it errs less than one of
/// them (Hansen and Salamon 1990). Smooth and local in other ways than trees and kernels are.
#include <memory>

#include "features/schema.h"
#include "gnn/safetensors.h"

namespace perfc {

/// Layers of `hidden` with ReLU between them: "hidden0", "relu0", …, "output".
std::unique_ptr<Sequential<float>> make_network(std::size_t inputs, std::size_t hidden, std::size_t hidden_layers,
                                                std::size_t outputs);

/// Lowest and highest of every column in training. Networks go on in straight lines where they saw nothing,
/// which on logarithms ends in times that no machine takes: what lies beyond counts as the edge.
struct ColumnRange {
  std::vector<double> low, high;
  static ColumnRange fit(const FeatureMatrix&);
  void apply(FeatureMatrix&) const;
};

struct NetworkOptions {
  std::size_t networks = 5, hidden_layers = 2;
  std::uint64_t steps = 1200;  ///< of training, however many rows there are
  double weight_decay = 0.05;
};

class Networks {
 public:
  /// Columns are normalised by `scales`. Rows of x and y correspond.
  static Result<Networks> fit(const FeatureMatrix& x, const FeatureMatrix& y, const std::vector<Column>&,
                              const std::vector<Normaliser::Scale>& scales, const NetworkOptions&, const Random&,
                              Diagnostics&);
  FeatureMatrix predict(FeatureMatrix x) const;

  void save(const std::string& prefix, std::vector<NamedTensor>&) const;
  static Result<Networks> restore(const std::string& prefix, const std::vector<NamedTensor>&, std::size_t columns,
                                  std::size_t hidden_layers, std::size_t outputs, Diagnostics&);

 private:
  Normaliser normaliser_;
  ColumnRange range_;  ///< of normalised columns
  std::size_t outputs_ = 0;
  std::vector<std::unique_ptr<Sequential<float>>>
      networks_;  ///< keep their layers' results: not for several threads at once
};

}  // namespace perfc
