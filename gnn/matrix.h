#pragma once
/// `Matrix<T>`: rows × columns, row-major, one row per node, graph or sample.
///
/// Layers run in float; the gradient checks run the same code in double. Storage
/// only grows, so that a layer's buffers settle after the first batches instead
/// of being handed back to the system when the next batch has fewer nodes
/// (Eigen::Matrix::resize frees; page faults then cost more than the layer).
#include <algorithm>
#include <cstddef>
#include <new>
#include <vector>

#include <Eigen/Core>

namespace perfc {

/// Memory that begins with a cache line, so that no vector register's worth of it lies in two.
template <class T>
struct LineAllocator {
  using value_type = T;
  static constexpr std::align_val_t kLine{64};
  LineAllocator() = default;
  template <class U>
  LineAllocator(const LineAllocator<U>&) {}
  T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), kLine)); }
  void deallocate(T* p, std::size_t) { ::operator delete(p, kLine); }
  bool operator==(const LineAllocator&) const = default;
};

template <class T>
class Matrix {
 public:
  using Dense = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Row = Eigen::Map<Eigen::Array<T, 1, Eigen::Dynamic>>;
  using ConstRow = Eigen::Map<const Eigen::Array<T, 1, Eigen::Dynamic>>;

  Matrix() = default;
  Matrix(std::size_t rows, std::size_t columns) { resize(rows, columns); }

  std::size_t rows() const { return rows_; }
  std::size_t columns() const { return columns_; }
  std::size_t size() const { return rows_ * columns_; }
  bool same_shape(const Matrix& o) const { return rows_ == o.rows_ && columns_ == o.columns_; }

  /// Contents are unspecified afterwards.
  void resize(std::size_t rows, std::size_t columns) {
    if (rows * columns > values_.size()) values_.resize(rows * columns);
    rows_ = rows;
    columns_ = columns;
  }
  void fill(T value) { std::fill(data(), data() + size(), value); }

  T* data() { return values_.data(); }
  const T* data() const { return values_.data(); }
  T& operator()(std::size_t r, std::size_t c) { return values_[r * columns_ + c]; }
  T operator()(std::size_t r, std::size_t c) const { return values_[r * columns_ + c]; }

  /// Views for Eigen's arithmetic.
  Row row(std::size_t r) { return Row(data() + r * columns_, width()); }
  ConstRow row(std::size_t r) const { return ConstRow(data() + r * columns_, width()); }
  Row flat() { return Row(data(), static_cast<Eigen::Index>(size())); }
  ConstRow flat() const { return ConstRow(data(), static_cast<Eigen::Index>(size())); }

 private:
  Eigen::Index width() const { return static_cast<Eigen::Index>(columns_); }
  std::size_t rows_ = 0, columns_ = 0;
  std::vector<T, LineAllocator<T>> values_;
};

}  // namespace perfc
