/// Families that compute the same are left out together.
#include "learning/compute_groups.h"

#include <gtest/gtest.h>

#include <deque>

namespace perfc {
namespace {

/// Networks of products of given columns, on 4 images.
class Networks {
 public:
  void add(const std::string& architecture, const std::string& family, const std::vector<double>& columns,
           double batch = 4) {
    KernelGraph& g = graphs_.emplace_back();
    for (const double n : columns) {
      Kernel k;
      k.kind = KernelKind::Matmul;
      k.extents = {.m = 10 * batch, .n = n, .k = 8};
      g.kernels.push_back(k);
      g.count.push_back(1);
    }
    Kernel activation;  // what everybody has
    activation.extents = {.m = 1, .n = 1};
    g.kernels.push_back(activation);
    g.count.push_back(100);
    networks_.push_back({architecture, family, &g, batch});
  }
  std::map<std::string, std::string> groups() const { return compute_groups(networks_); }

 private:
  std::deque<KernelGraph> graphs_;
  std::vector<ComputedNetwork> networks_;
};

using Groups = std::map<std::string, std::string>;

TEST(ComputeGroups, TwinsHaveHalfOfTheirProductsInCommon) {
  Networks n;
  n.add("vit", "vision", {1, 2, 3, 4});
  n.add("deit", "distilled", {1, 2, 5, 6}, 32);  // per image
  n.add("cnn", "other", {1, 7, 8, 9});
  EXPECT_EQ(n.groups(), (Groups{{"distilled", "distilled"}, {"other", "other"}, {"vision", "distilled"}}));
}

TEST(ComputeGroups, AQuarterOfAFamilyMakesItTheSame) {
  for (const int members : {4, 5}) {
    Networks n;
    for (int i = 0; i < members; ++i) n.add("a" + std::to_string(i), "a", {1.0 + i});
    for (int i = 0; i < members; ++i) n.add("b" + std::to_string(i), "b", {100.0 + i});
    n.add("twin", "b", {1});
    EXPECT_EQ(n.groups().at("b"), members == 4 ? "a" : "b") << members;
  }
}

TEST(ComputeGroups, AreTransitiveAndCountANetworkOnce) {
  Networks n;
  n.add("x", "c", {1, 2});
  n.add("x", "c", {7, 8});  // the same architecture in another run
  n.add("y", "b", {2, 3});
  n.add("z", "a", {3, 4});
  n.add("w", "d", {7, 8});
  EXPECT_EQ(n.groups(), (Groups{{"a", "a"}, {"b", "a"}, {"c", "a"}, {"d", "d"}}));
}

}  // namespace
}  // namespace perfc
