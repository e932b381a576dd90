#include "counters/models/tensors.h"

#include <fmt/format.h>

#include <algorithm>

namespace perfc {
namespace {

NamedTensor tensor(std::string name, Parameter<float>::Kind kind, std::size_t rows, std::size_t columns,
                   const std::vector<double>& values) {
  NamedTensor t{std::move(name), kind, Matrix<float>(rows, columns)};
  std::transform(values.begin(), values.end(), t.value.data(), [](double v) { return static_cast<float>(v); });
  return t;
}

}  // namespace

Matrix<float> narrowed(const FeatureMatrix& m) {
  Matrix<float> out(m.rows, m.columns);
  std::copy(m.values.begin(), m.values.end(), out.data());
  return out;
}

FeatureMatrix widened(const Matrix<float>& m) {
  return {m.rows(), m.columns(), std::vector<double>(m.data(), m.data() + m.size())};
}

NamedTensor vector_tensor(std::string name, const std::vector<double>& v) {
  return tensor(std::move(name), Parameter<float>::Kind::Vector, 1, v.size(), v);
}

NamedTensor matrix_tensor(std::string name, const FeatureMatrix& m) {
  return tensor(std::move(name), Parameter<float>::Kind::Matrix, m.rows, m.columns, m.values);
}

void save_normaliser(const std::string& prefix, const Normaliser& n, std::vector<NamedTensor>& out) {
  std::vector<double> logarithmic;
  for (const auto s : n.scales()) logarithmic.push_back(s == Normaliser::Scale::Log ? 1 : 0);
  out.push_back(vector_tensor(prefix + "logarithmic", logarithmic));
  out.push_back(vector_tensor(prefix + "means", n.means()));
  out.push_back(vector_tensor(prefix + "deviations", n.deviations()));
}

const Matrix<float>* TensorReader::find(const std::string& name) const {
  const auto found =
      std::find_if(tensors_.begin(), tensors_.end(), [&](const NamedTensor& t) { return t.name == name; });
  return found == tensors_.end() ? nullptr : &found->value;
}

FeatureMatrix TensorReader::refuse(const std::string& message) {
  if (good_) (void)diags_.error(message);
  good_ = false;
  return {};
}

FeatureMatrix TensorReader::matrix(const std::string& name, std::size_t rows, std::size_t columns) {
  const Matrix<float>* m = find(name);
  if (m && m->rows() == rows && m->columns() == columns) return widened(*m);
  return refuse(fmt::format("checkpoint: the tensor '{}' is missing or not {}x{}", name, rows, columns));
}

std::vector<double> TensorReader::vector(const std::string& name, std::size_t columns) {
  return matrix(name, 1, columns).values;
}

FeatureMatrix TensorReader::rows(const std::string& name, std::size_t columns) {
  const Matrix<float>* m = find(name);
  if (m && m->columns() == columns) return widened(*m);
  return refuse(fmt::format("checkpoint: the tensor '{}' is missing or has not {} columns", name, columns));
}

std::optional<Normaliser> TensorReader::normaliser(const std::string& prefix, std::size_t columns) {
  const auto logarithmic = vector(prefix + "logarithmic", columns), means = vector(prefix + "means", columns),
             deviations = vector(prefix + "deviations", columns);
  if (!good_) return {};
  if (std::any_of(deviations.begin(), deviations.end(), [](double d) { return !(d > 0); })) {
    refuse(fmt::format("checkpoint: the tensor '{}deviations' holds numbers that are not positive", prefix));
    return {};
  }
  std::vector<Normaliser::Scale> scales;
  scales.reserve(logarithmic.size());
  for (const double l : logarithmic) scales.push_back(l != 0 ? Normaliser::Scale::Log : Normaliser::Scale::Linear);
  return Normaliser::restore(std::vector<Column>(columns), std::move(scales), means, deviations);
}

}  // namespace perfc
