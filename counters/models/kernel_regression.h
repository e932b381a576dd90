#pragma once
/// Regression by likeness: Matérn-3/2 kernel over normalised columns, ridge on its weights
/// (the mean of a Gaussian process; Rasmussen and Williams 2006, equations 2.25 and 4.17).
/// Smooth where trees are steps.
#include "features/schema.h"
#include "gnn/safetensors.h"

namespace perfc {

class KernelRegression {
 public:
  /// Columns are normalised by `scales`. Rows of x and y correspond.
  static KernelRegression fit(const FeatureMatrix& x, const FeatureMatrix& y, const std::vector<Column>&,
                              const std::vector<Normaliser::Scale>& scales);
  FeatureMatrix predict(FeatureMatrix x) const;

  void save(const std::string& prefix, std::vector<NamedTensor>&) const;
  static Result<KernelRegression> restore(const std::string& prefix, const std::vector<NamedTensor>&,
                                          std::size_t columns, std::size_t outputs, Diagnostics&);

 private:
  std::vector<double> similarity(std::span<const double> row) const;
  Normaliser normaliser_;
  FeatureMatrix rows_;        ///< of training, normalised
  FeatureMatrix weights_;     ///< training rows × outputs
  std::vector<double> mean_;  ///< per output
};

}  // namespace perfc
