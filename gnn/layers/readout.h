#pragma once
/// From nodes to graphs.
#include <cstdint>

#include "gnn/module.h"

namespace perfc {

enum class Pool : unsigned char { Sum, Mean, Max };

/// One row per graph: the sum, mean or column-wise maximum of its nodes' rows; 0
/// for a graph without nodes. The gradient of a maximum goes to the first node
/// that has it.
template <class T>
class Readout : public Module<T> {
 public:
  explicit Readout(Pool pool) : pool_(pool) {}
  const Matrix<T>& forward(Context&, const Matrix<T>& x) override;
  const Matrix<T>& backward(Context&, const Matrix<T>& dy) override;

 private:
  Pool pool_;
  std::vector<std::uint32_t> winner_;  ///< Max: graph × column → node
  Matrix<T> y_, dx_;
};

}  // namespace perfc
