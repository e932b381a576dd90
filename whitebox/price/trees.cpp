#include "whitebox/price/trees.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

namespace perfc {
namespace {

static_assert(std::endian::native == std::endian::little);

struct TreeNode {
  std::uint16_t value;
  std::uint8_t feature;
  std::uint8_t right;
};
static_assert(sizeof(TreeNode) == 4);
constexpr std::uint8_t kLeaf = 255;

struct TreesHeader {
  char magic[4];
  std::uint32_t features, trees, nodes, values;
};
static_assert(sizeof(TreesHeader) == 20);

/// Of one thread, sums that it remembers. (our choice)
constexpr std::size_t kMostRemembered = 4096;

double walked(const char* bytes, std::span<const float> x) {
  TreesHeader header;
  std::memcpy(&header, bytes, sizeof header);
  const auto* values = reinterpret_cast<const float*>(bytes + sizeof header);
  const auto* sizes = reinterpret_cast<const std::uint16_t*>(values + header.values);
  const auto* node = reinterpret_cast<const TreeNode*>(sizes + header.trees);
  double sum = 0;
  for (const std::uint16_t size : std::span(sizes, header.trees)) {
    const TreeNode* at = node;
    while (at->feature != kLeaf) at += x[at->feature] <= values[at->value] ? 1 : at->right;
    sum += static_cast<double>(values[at->value]);
    node += size;
  }
  return sum;
}

}  // namespace

double sum_of_trees(const char* bytes, std::span<const float> x) {
  // Layers of a network are alike: a few sums are asked for many times.
  thread_local std::map<std::pair<const char*, std::vector<float>>, double> remembered;
  if (remembered.size() >= kMostRemembered) remembered.clear();
  const auto [at, is_new] = remembered.try_emplace({bytes, {x.begin(), x.end()}});
  if (is_new) at->second = walked(bytes, x);
  return at->second;
}

}  // namespace perfc
