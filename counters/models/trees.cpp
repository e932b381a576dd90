#include "counters/models/trees.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace perfc {

/// Grows one tree from a list of rows; siblings stand side by side in `nodes_`.
class Trees::Builder {
 public:
  Builder(Trees& trees, const FeatureMatrix& x, const FeatureMatrix& y, const TreeOptions& o)
      : trees_(trees), y_(y), o_(o), columns_(x.columns) {
    values_.assign(x.values.begin(), x.values.end());
    order_.resize(columns_);
    std::iota(order_.begin(), order_.end(), std::size_t{0});
  }

  void grow(std::vector<std::size_t> rows, const Random& random) {
    rows_ = std::move(rows);
    draws_ = 0;
    trees_.roots_.push_back(add_node());
    std::vector<Open> open{{trees_.roots_.back(), 0, rows_.size(), 0}};
    while (!open.empty()) {
      const Open at = open.back();
      open.pop_back();
      set_mean(at);
      const Split s = at.depth < o_.deepest ? find_split(at, random) : Split{};
      if (s.gain <= 0) continue;
      const auto middle = std::partition(rows_.begin() + static_cast<std::ptrdiff_t>(at.begin),
                                         rows_.begin() + static_cast<std::ptrdiff_t>(at.end),
                                         [&](std::size_t r) { return value(r, s.column) <= s.threshold; });
      const auto cut = static_cast<std::size_t>(middle - rows_.begin());
      const std::uint32_t left = add_node(), right = add_node();
      trees_.nodes_[at.node] = {static_cast<std::int32_t>(s.column), s.threshold, left};
      open.push_back({left, at.begin, cut, at.depth + 1});
      open.push_back({right, cut, at.end, at.depth + 1});
    }
  }

 private:
  struct Open {
    std::uint32_t node;
    std::size_t begin, end, depth;
  };
  struct Split {
    double gain = 0;
    std::size_t column = 0;
    float threshold = 0;
  };

  float value(std::size_t row, std::size_t column) const { return values_[row * columns_ + column]; }

  std::uint32_t add_node() {
    trees_.nodes_.emplace_back();
    trees_.values_.resize(trees_.nodes_.size() * trees_.outputs_, 0);
    return static_cast<std::uint32_t>(trees_.nodes_.size() - 1);
  }

  void set_mean(const Open& at) {
    for (std::size_t k = 0; k < y_.columns; ++k) {
      double sum = 0;
      for (std::size_t i = at.begin; i < at.end; ++i) sum += y_.at(rows_[i], k);
      trees_.values_[at.node * trees_.outputs_ + k] = static_cast<float>(sum / static_cast<double>(at.end - at.begin));
    }
  }

  /// Squared error that a split takes away, from the sums of the left side.
  double gain(const std::vector<double>& left, std::size_t n_left, std::size_t n) const {
    if (n_left < o_.least_leaf || n - n_left < o_.least_leaf) return 0;
    double sum = 0;
    for (std::size_t k = 0; k < left.size(); ++k) {
      const double right = total_[k] - left[k];
      sum += left[k] * left[k] / static_cast<double>(n_left) + right * right / static_cast<double>(n - n_left) -
             total_[k] * total_[k] / static_cast<double>(n);
    }
    return sum;
  }

  Split find_split(const Open& at, const Random& random) {
    const std::size_t n = at.end - at.begin;
    Split best;
    if (n < 2 * std::max<std::size_t>(o_.least_leaf, 1)) return best;
    total_.assign(y_.columns, 0);
    for (std::size_t i = at.begin; i < at.end; ++i) {
      for (std::size_t k = 0; k < y_.columns; ++k) total_[k] += y_.at(rows_[i], k);
    }
    // Columns that are constant here do not count as tried (Geurts et al., section 2).
    auto wanted = std::max<std::size_t>(
        1, static_cast<std::size_t>(std::lround(o_.column_share * static_cast<double>(columns_))));
    for (std::size_t tried = 0; tried < columns_ && wanted > 0; ++tried) {
      std::swap(order_[tried], order_[tried + random.index(draws_++, columns_ - tried)]);
      const std::size_t column = order_[tried];
      float low = value(rows_[at.begin], column), high = low;
      for (std::size_t i = at.begin; i < at.end; ++i) {
        low = std::min(low, value(rows_[i], column));
        high = std::max(high, value(rows_[i], column));
      }
      if (!(low < high)) continue;
      --wanted;
      const Split s =
          o_.kind == TreeOptions::Kind::Extra ? random_split(at, column, low, high, random) : best_split(at, column);
      if (s.gain > best.gain) best = s;
    }
    return best.gain > 1e-12 ? best : Split{};
  }

  Split random_split(const Open& at, std::size_t column, float low, float high, const Random& random) {
    auto threshold = static_cast<float>(random.uniform(draws_++, low, high));
    if (!(threshold < high)) threshold = low;
    left_.assign(y_.columns, 0);
    std::size_t n_left = 0;
    for (std::size_t i = at.begin; i < at.end; ++i) {
      if (value(rows_[i], column) > threshold) continue;
      ++n_left;
      for (std::size_t k = 0; k < y_.columns; ++k) left_[k] += y_.at(rows_[i], k);
    }
    return {gain(left_, n_left, at.end - at.begin), column, threshold};
  }

  Split best_split(const Open& at, std::size_t column) {
    sorted_.assign(rows_.begin() + static_cast<std::ptrdiff_t>(at.begin),
                   rows_.begin() + static_cast<std::ptrdiff_t>(at.end));
    std::sort(sorted_.begin(), sorted_.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(value(a, column), a) < std::pair(value(b, column), b);
    });
    left_.assign(y_.columns, 0);
    Split best{0, column, 0};
    for (std::size_t i = 0; i + 1 < sorted_.size(); ++i) {
      for (std::size_t k = 0; k < y_.columns; ++k) left_[k] += y_.at(sorted_[i], k);
      const float here = value(sorted_[i], column), next = value(sorted_[i + 1], column);
      if (!(here < next)) continue;
      const double g = gain(left_, i + 1, sorted_.size());
      if (g <= best.gain) continue;
      best.gain = g;
      best.threshold = here + (next - here) / 2;
      if (!(best.threshold < next)) best.threshold = here;
    }
    return best;
  }

  Trees& trees_;
  const FeatureMatrix& y_;
  const TreeOptions& o_;
  std::size_t columns_;
  std::vector<float> values_;
  std::vector<std::size_t> rows_, order_, sorted_;
  std::vector<double> total_, left_;
  std::uint64_t draws_ = 0;
};

Trees Trees::fit(const FeatureMatrix& x, const FeatureMatrix& y, const TreeOptions& o, const Random& random) {
  Trees t;
  t.columns_ = x.columns;
  t.outputs_ = y.columns;
  t.start_.assign(y.columns, 0);
  if (x.rows == 0) return t;
  const bool boosting = o.kind == TreeOptions::Kind::Boosting;
  FeatureMatrix left = y;
  if (boosting) {
    for (std::size_t k = 0; k < y.columns; ++k) {
      for (std::size_t r = 0; r < y.rows; ++r) t.start_[k] += y.at(r, k) / static_cast<double>(y.rows);
      t.start_[k] = static_cast<float>(t.start_[k]);
      for (std::size_t r = 0; r < y.rows; ++r) left.at(r, k) -= t.start_[k];
    }
  }
  // As a checkpoint keeps them, so that saved trees say the same.
  t.weight_ = static_cast<float>(boosting ? o.rate : 1 / static_cast<double>(o.trees));
  Builder builder(t, x, left, o);
  for (std::size_t n = 0; n < o.trees; ++n) {
    const Random own = random.stream(n);
    std::vector<std::size_t> rows(x.rows);
    std::iota(rows.begin(), rows.end(), std::size_t{0});
    if (o.kind == TreeOptions::Kind::Forest) {
      for (std::size_t r = 0; r < rows.size(); ++r) rows[r] = own.stream("rows").index(r, x.rows);
    }
    builder.grow(std::move(rows), own);
    if (!boosting) continue;
    for (std::size_t r = 0; r < x.rows; ++r) {
      std::uint32_t at = t.roots_.back();
      while (t.nodes_[at].column >= 0) {
        const Node& node = t.nodes_[at];
        at = node.left + (static_cast<float>(x.at(r, static_cast<std::size_t>(node.column))) <= node.threshold ? 0 : 1);
      }
      for (std::size_t k = 0; k < y.columns; ++k) left.at(r, k) -= t.weight_ * t.values_[at * t.outputs_ + k];
    }
  }
  return t;
}

std::vector<double> Trees::predict(std::span<const double> row) const {
  std::vector<double> sum(outputs_, 0);
  for (std::uint32_t at : roots_) {
    while (nodes_[at].column >= 0) {
      const Node& node = nodes_[at];
      at = node.left + (static_cast<float>(row[static_cast<std::size_t>(node.column)]) <= node.threshold ? 0 : 1);
    }
    for (std::size_t k = 0; k < outputs_; ++k) sum[k] += values_[at * outputs_ + k];
  }
  for (std::size_t k = 0; k < outputs_; ++k) sum[k] = start_[k] + weight_ * sum[k];
  return sum;
}

FeatureMatrix Trees::predict(const FeatureMatrix& x) const {
  FeatureMatrix y{x.rows, outputs_, {}};
  for (std::size_t r = 0; r < x.rows; ++r) {
    const auto row = predict(std::span(x.values).subspan(r * x.columns, x.columns));
    y.values.insert(y.values.end(), row.begin(), row.end());
  }
  return y;
}

void Trees::save(const std::string& prefix, std::vector<NamedTensor>& out) const {
  NamedTensor nodes{prefix + "nodes", Parameter<float>::Kind::Matrix, Matrix<float>(nodes_.size(), 3 + outputs_)};
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    nodes.value(n, 0) = static_cast<float>(nodes_[n].column);
    nodes.value(n, 1) = nodes_[n].threshold;
    nodes.value(n, 2) = static_cast<float>(nodes_[n].left);
    for (std::size_t k = 0; k < outputs_; ++k) nodes.value(n, 3 + k) = values_[n * outputs_ + k];
  }
  NamedTensor roots{prefix + "roots", Parameter<float>::Kind::Vector, Matrix<float>(1, roots_.size())};
  for (std::size_t r = 0; r < roots_.size(); ++r) roots.value(0, r) = static_cast<float>(roots_[r]);
  NamedTensor start{prefix + "start", Parameter<float>::Kind::Vector, Matrix<float>(1, 1 + outputs_)};
  start.value(0, 0) = static_cast<float>(weight_);
  for (std::size_t k = 0; k < outputs_; ++k) start.value(0, 1 + k) = static_cast<float>(start_[k]);
  out.push_back(std::move(nodes));
  out.push_back(std::move(roots));
  out.push_back(std::move(start));
}

Result<Trees> Trees::restore(const std::string& prefix, const std::vector<NamedTensor>& tensors, std::size_t columns,
                             std::size_t outputs, Diagnostics& diags) {
  const auto find = [&](const char* name) {
    const auto t =
        std::find_if(tensors.begin(), tensors.end(), [&](const NamedTensor& n) { return n.name == prefix + name; });
    return t == tensors.end() ? nullptr : &t->value;
  };
  const Matrix<float>*nodes = find("nodes"), *roots = find("roots"), *start = find("start");
  if (!nodes || !roots || !start)
    return diags.error(fmt::format("checkpoint: the trees '{}' are not complete", prefix));
  // Floats hold whole numbers up to 2^24 exactly.
  if (nodes->columns() != 3 + outputs || start->size() != 1 + outputs || nodes->rows() >= (std::size_t{1} << 24)) {
    return diags.error(fmt::format("checkpoint: the trees '{}' have the wrong shape", prefix));
  }
  Trees t;
  t.columns_ = columns;
  t.outputs_ = outputs;
  t.weight_ = start->data()[0];
  t.start_.assign(start->data() + 1, start->data() + start->size());
  const auto count = static_cast<float>(nodes->rows());
  for (std::size_t r = 0; r < roots->size(); ++r) {
    const float root = roots->data()[r];
    if (!(root >= 0 && root < count))
      return diags.error(fmt::format("checkpoint: root {} of '{}' is no node", r, prefix));
    t.roots_.push_back(static_cast<std::uint32_t>(root));
  }
  for (std::size_t n = 0; n < nodes->rows(); ++n) {
    const float column = (*nodes)(n, 0), left = (*nodes)(n, 2);
    const bool leaf = column == -1;
    if (!leaf &&
        !(column >= 0 && column < static_cast<float>(columns) && left > static_cast<float>(n) && left + 1 < count)) {
      return diags.error(fmt::format("checkpoint: node {} of '{}' is none of a tree", n, prefix));
    }
    t.nodes_.push_back(
        {static_cast<std::int32_t>(column), (*nodes)(n, 1), leaf ? 0 : static_cast<std::uint32_t>(left)});
    for (std::size_t k = 0; k < outputs; ++k) t.values_.push_back((*nodes)(n, 3 + k));
  }
  return t;
}

}  // namespace perfc
