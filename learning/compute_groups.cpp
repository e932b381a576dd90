#include "learning/compute_groups.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <vector>

namespace perfc {
namespace {

/// Kind, rows per image, columns, depth, window.
using Shape = std::tuple<KernelKind, std::int64_t, std::int64_t, std::int64_t, std::int64_t>;
/// How often a network computes each.
using Shapes = std::map<Shape, double>;

Shapes shapes_of(const ComputedNetwork& n) {
  Shapes out;
  for (std::size_t k = 0; k < n.graph->kernels.size(); ++k) {
    const Kernel& kernel = n.graph->kernels[k];
    if (kernel.kind == KernelKind::Vector || kernel.kind == KernelKind::Gather) continue;
    const Extents& e = kernel.extents;
    const double rows = e.products * e.m / std::max(n.batch, 1.0);
    out[{kernel.kind, std::llround(rows), std::llround(e.n), std::llround(e.k), std::llround(e.window)}] +=
        n.graph->count[k];
  }
  return out;
}

struct Network {
  std::string family;
  double shapes = 0;
};

/// Networks with a shape, each with how often it computes it.
using Computers = std::map<Shape, std::vector<std::pair<std::size_t, double>>>;

/// By pair of families, networks of the first that have a twin in the second.
std::map<std::pair<std::string, std::string>, std::set<std::size_t>> twins(const std::vector<Network>& networks,
                                                                           const Computers& computers) {
  std::vector<std::map<std::size_t, double>> common(networks.size());  // by the later of two networks
  for (const auto& [shape, of] : computers) {
    for (std::size_t b = 0; b < of.size(); ++b) {
      for (std::size_t a = 0; a < b; ++a) common[of[b].first][of[a].first] += std::min(of[a].second, of[b].second);
    }
  }
  std::map<std::pair<std::string, std::string>, std::set<std::size_t>> out;
  for (std::size_t b = 0; b < networks.size(); ++b) {
    for (const auto& [a, equal] : common[b]) {
      const auto &first = networks[a], &second = networks[b];
      if (first.family == second.family || equal < kTwinShare * std::max(first.shapes, second.shapes)) continue;
      out[{first.family, second.family}].insert(a);
      out[{second.family, first.family}].insert(b);
    }
  }
  return out;
}

}  // namespace

std::map<std::string, std::string> compute_groups(std::span<const ComputedNetwork> all) {
  std::set<std::string> seen;
  std::vector<Network> networks;
  Computers computers;
  std::map<std::string, std::string> group;
  std::map<std::string, double> members;
  for (const ComputedNetwork& n : all) {
    if (!seen.insert(n.architecture).second) continue;
    Network network{.family = n.family};
    for (const auto& [shape, count] : shapes_of(n)) {
      network.shapes += count;
      computers[shape].emplace_back(networks.size(), count);
    }
    networks.push_back(network);
    group.emplace(n.family, n.family);
    ++members[n.family];
  }
  for (const auto& [families, with_twin] : twins(networks, computers)) {
    const auto& [family, other] = families;
    if (static_cast<double>(with_twin.size()) < kTwinnedFamily * members[family]) continue;
    const std::string from = std::max(group[family], group[other]), to = std::min(group[family], group[other]);
    for (auto& [name, of] : group) {
      if (of == from) of = to;
    }
  }
  return group;
}

}  // namespace perfc
