#pragma once
/// A directed graph drawn in layers (Sugiyama, Tagawa and Toda, IEEE Trans. SMC 11(2), 1981), so that a page shows
/// thousands of nodes as soon as it is open: longest paths make layers, barycentres their order, and each layer's
/// places are those nearest to its neighbours' that keep order and distance (isotonic regression by pooling adjacent
/// violators; Ayer et al., Ann. Math. Stat. 26(4), 1955).
#include <cstdint>
#include <utility>
#include <vector>

namespace perfc {

struct LayeredLayout {
  std::vector<double> x;               ///< of a node's middle; nodes of a layer are 1 apart or more, the least is 0
  std::vector<std::uint32_t> layer;    ///< from the top: behind every node that it reads
  std::vector<std::vector<float>> on;  ///< of an edge that passes layers: x in each of them; empty: it runs straight
  double width = 0;                    ///< largest x
  std::uint32_t layers = 0;
};

/// `edges` run from lower to higher ids; others are a program's fault. Nodes without operands stand right above their
/// first user. Edges over more than `kLongestRoute` layers run straight: routing them would take their length times
/// their number.
inline constexpr std::uint32_t kLongestRoute = 24;
LayeredLayout layered_layout(std::size_t nodes, const std::vector<std::pair<std::uint32_t, std::uint32_t>>& edges);

}  // namespace perfc
