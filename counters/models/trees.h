#pragma once
/// Ensembles of regression trees over rows of a table, several outputs at once: random
/// forests (Breiman 2001), extremely randomised trees (Geurts, Ernst, Wehenkel 2006) and
/// gradient boosting with squared loss (Friedman 2001). All share the one tree builder.
#include "features/schema.h"
#include "gnn/random.h"
#include "gnn/safetensors.h"

namespace perfc {

struct TreeOptions {
  enum class Kind : unsigned char {
    Forest,    ///< rows drawn with replacement; the best threshold of each tried column
    Extra,     ///< all rows; one random threshold for each tried column
    Boosting,  ///< each tree fits what its predecessors left over, × rate; thresholds as Forest's
  };
  Kind kind = Kind::Forest;
  std::size_t trees = 200;
  std::size_t least_leaf = 1;  ///< rows
  std::size_t deepest = 64;
  double column_share = 1;  ///< of the columns that are tried at a node
  double rate = 0.05;       ///< Boosting
};

class Trees {
 public:
  /// Rows of x and y correspond; numbers must be finite. Depends on the seed alone.
  static Trees fit(const FeatureMatrix& x, const FeatureMatrix& y, const TreeOptions&, const Random&);
  /// One number per output. The row has as many columns as those of `fit`.
  std::vector<double> predict(std::span<const double> row) const;
  FeatureMatrix predict(const FeatureMatrix& x) const;

  std::size_t columns() const { return columns_; }
  std::size_t outputs() const { return outputs_; }

  /// Tensors `prefix` + "nodes" (column or −1, threshold, left child; the right one follows it; values),
  /// "roots" and "start". `restore` refuses trees that are none: children before parents, unknown columns.
  void save(const std::string& prefix, std::vector<NamedTensor>&) const;
  static Result<Trees> restore(const std::string& prefix, const std::vector<NamedTensor>&, std::size_t columns,
                               std::size_t outputs, Diagnostics&);

 private:
  class Builder;
  struct Node {
    std::int32_t column = -1;  ///< −1: a leaf
    float threshold = 0;       ///< left: value ≤ threshold
    std::uint32_t left = 0;    ///< of the ensemble's nodes, always behind this one
  };
  std::size_t columns_ = 0, outputs_ = 0;
  double weight_ = 1;          ///< of every tree in the sum
  std::vector<double> start_;  ///< per output, added to the sum
  std::vector<std::uint32_t> roots_;
  std::vector<Node> nodes_;
  std::vector<float> values_;  ///< nodes × outputs
};

}  // namespace perfc
