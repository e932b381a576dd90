#include "html/layout.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace perfc {
namespace {

constexpr int kOrderSweeps = 8, kPlaceSweeps = 12;
constexpr std::size_t kAround = 24;  ///< layers either way that say where a layer stands

using Neighbours = std::vector<std::vector<std::uint32_t>>;

/// Nodes, and a place in every layer that a routed edge passes.
class Layers {
 public:
  using Edges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

  Layers(std::size_t nodes, const Edges& edges) : nodes_(nodes), edges_(edges) {
    find_layers();
    add_places();
  }

  LayeredLayout run() {
    for (int i = 0; i < kOrderSweeps; ++i) sweep(i % 2 == 0, &Layers::order_layer);
    x_.resize(layer_.size());
    for (const auto& row : rows_)
      for (std::size_t i = 0; i < row.size(); ++i) x_[row[i]] = static_cast<double>(i) - 0.5 * (row.size() - 1);
    for (int i = 0; i < kPlaceSweeps; ++i) sweep(i % 2 == 0, &Layers::place_layer);
    stand_upright();
    return result();
  }

 private:
  void find_layers() {
    layer_.assign(nodes_, 0);
    std::vector<bool> reads(nodes_, false);
    std::vector<std::uint32_t> first_user(nodes_, 0xffffffffu);
    std::vector<std::vector<std::uint32_t>> users(nodes_);
    for (const auto& [from, to] : edges_) {
      assert(from < to);
      users[from].push_back(to);
      reads[to] = true;
    }
    for (std::uint32_t id = 0; id < nodes_; ++id)
      for (const std::uint32_t user : users[id]) layer_[user] = std::max(layer_[user], layer_[id] + 1);
    for (const auto& [from, to] : edges_) first_user[from] = std::min(first_user[from], layer_[to]);
    for (std::uint32_t id = 0; id < nodes_; ++id)
      if (!reads[id] && first_user[id] != 0xffffffffu) layer_[id] = first_user[id] - 1;
  }

  void add_places() {
    std::uint32_t last = 0;
    for (const std::uint32_t l : layer_) last = std::max(last, l);
    rows_.resize(nodes_ ? last + 1 : 0);
    for (std::uint32_t id = 0; id < nodes_; ++id) rows_[layer_[id]].push_back(id);
    above_.resize(nodes_);
    below_.resize(nodes_);
    first_place_.assign(edges_.size(), 0);
    for (std::size_t e = 0; e < edges_.size(); ++e) {
      const auto [from, to] = edges_[e];
      const std::uint32_t span = layer_[to] - layer_[from];
      if (span > kLongestRoute) continue;
      std::uint32_t before = from;
      for (std::uint32_t l = layer_[from] + 1; l < layer_[to]; ++l) {
        const auto place = static_cast<std::uint32_t>(layer_.size());
        if (before == from) first_place_[e] = place;
        layer_.push_back(l);
        rows_[l].push_back(place);
        above_.emplace_back();
        below_.emplace_back();
        join(before, place);
        before = place;
      }
      join(before, to);
    }
    order_.resize(layer_.size());
    for (const auto& row : rows_) number(row);
  }

  void join(std::uint32_t upper, std::uint32_t lower) {
    below_[upper].push_back(lower);
    above_[lower].push_back(upper);
  }
  void number(const std::vector<std::uint32_t>& row) {
    for (std::size_t i = 0; i < row.size(); ++i) order_[row[i]] = static_cast<double>(i);
  }

  /// Every layer by the one above it, or by the one below it.
  void sweep(bool down, void (Layers::*act)(std::vector<std::uint32_t>&, const Neighbours&)) {
    for (std::size_t i = 0; i < rows_.size(); ++i)
      (this->*act)(rows_[down ? i : rows_.size() - 1 - i], down ? above_ : below_);
  }

  static double mean(const std::vector<std::uint32_t>& of, const std::vector<double>& value, double otherwise) {
    if (of.empty()) return otherwise;
    double sum = 0;
    for (const std::uint32_t v : of) sum += value[v];
    return sum / static_cast<double>(of.size());
  }

  void order_layer(std::vector<std::uint32_t>& row, const Neighbours& towards) {
    std::vector<std::pair<double, std::uint32_t>> by;
    by.reserve(row.size());
    for (const std::uint32_t v : row) by.emplace_back(mean(towards[v], order_, order_[v]), v);
    std::ranges::stable_sort(by, {}, &std::pair<double, std::uint32_t>::first);
    for (std::size_t i = 0; i < row.size(); ++i) row[i] = by[i].second;
    number(row);
  }

  /// Least squares to the neighbours' mean, 1 apart: shifted by their number in the row, places must not fall, so runs
  /// that would are pooled at their mean.
  void place_layer(std::vector<std::uint32_t>& row, const Neighbours& towards) {
    struct Pool {
      double sum;
      std::size_t count;
      double mean() const { return sum / static_cast<double>(count); }
    };
    std::vector<Pool> pools;
    for (std::size_t i = 0; i < row.size(); ++i) {
      pools.push_back({mean(towards[row[i]], x_, x_[row[i]]) - static_cast<double>(i), 1});
      while (pools.size() > 1 && pools[pools.size() - 2].mean() > pools.back().mean()) {
        const Pool last = pools.back();
        pools.pop_back();
        pools.back().sum += last.sum;
        pools.back().count += last.count;
      }
    }
    std::size_t i = 0;
    for (const Pool& p : pools)
      for (std::size_t k = 0; k < p.count; ++k, ++i) x_[row[i]] = p.mean() + static_cast<double>(i);
  }

  /// Blocks whose skips all lie at one side lean, and a thousand of them would drift away: each layer moves by where
  /// the layers around it are on average.
  void stand_upright() {
    std::vector<double> sums{0};  // of the middles of layers
    for (const auto& row : rows_) sums.push_back(sums.back() + (x_[row.front()] + x_[row.back()]) / 2);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const std::size_t begin = i < kAround ? 0 : i - kAround, end = std::min(i + kAround + 1, rows_.size());
      const double around = (sums[end] - sums[begin]) / static_cast<double>(end - begin);
      for (const std::uint32_t v : rows_[i]) x_[v] -= around;
    }
  }

  LayeredLayout result() const {
    LayeredLayout out;
    out.layers = static_cast<std::uint32_t>(rows_.size());
    const double least = x_.empty() ? 0 : *std::ranges::min_element(x_);
    for (std::size_t id = 0; id < nodes_; ++id) out.x.push_back(x_[id] - least);
    out.layer.assign(layer_.begin(), layer_.begin() + static_cast<std::ptrdiff_t>(nodes_));
    out.on.resize(edges_.size());
    out.width = x_.empty() ? 0 : *std::ranges::max_element(x_) - least;
    for (std::size_t e = 0; e < edges_.size(); ++e) {
      if (first_place_[e] == 0) continue;
      const std::uint32_t passed = layer_[edges_[e].second] - layer_[edges_[e].first] - 1;
      for (std::uint32_t k = 0; k < passed; ++k)
        out.on[e].push_back(static_cast<float>(x_[first_place_[e] + k] - least));
    }
    return out;
  }

  std::size_t nodes_;
  const Edges& edges_;
  std::vector<std::uint32_t> layer_;  ///< of nodes, then of places
  std::vector<std::vector<std::uint32_t>> rows_;
  Neighbours above_, below_;
  std::vector<std::uint32_t> first_place_;  ///< of an edge; 0: it has none, for places come behind nodes
  std::vector<double> order_, x_;
};

}  // namespace

LayeredLayout layered_layout(std::size_t nodes, const std::vector<std::pair<std::uint32_t, std::uint32_t>>& edges) {
  return Layers(nodes, edges).run();
}

}  // namespace perfc
