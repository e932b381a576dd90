#pragma once
/// Tables of numbers to tensors of a checkpoint and back. Reading refuses, by name, what is missing or has
/// another shape; the first refusal is reported.
#include "features/schema.h"
#include "gnn/checkpoint.h"

namespace perfc {

/// Tables in the numbers that networks work with, and back.
Matrix<float> narrowed(const FeatureMatrix&);
FeatureMatrix widened(const Matrix<float>&);

NamedTensor vector_tensor(std::string name, const std::vector<double>&);
/// Rows × columns.
NamedTensor matrix_tensor(std::string name, const FeatureMatrix&);
/// `prefix` + "logarithmic", "means", "deviations".
void save_normaliser(const std::string& prefix, const Normaliser&, std::vector<NamedTensor>&);

class TensorReader {
 public:
  TensorReader(const std::vector<NamedTensor>& tensors, Diagnostics& diags) : tensors_(tensors), diags_(diags) {}
  std::vector<double> vector(const std::string& name, std::size_t columns);
  FeatureMatrix matrix(const std::string& name, std::size_t rows, std::size_t columns);
  /// Any number of rows.
  FeatureMatrix rows(const std::string& name, std::size_t columns);
  /// Columns have no names. Refuses deviations that are not positive.
  std::optional<Normaliser> normaliser(const std::string& prefix, std::size_t columns);
  bool good() const { return good_; }

 private:
  const Matrix<float>* find(const std::string& name) const;
  FeatureMatrix refuse(const std::string& message);
  const std::vector<NamedTensor>& tensors_;
  Diagnostics& diags_;
  bool good_ = true;
};

}  // namespace perfc
