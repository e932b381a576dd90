/// Names of nodes as paths of modules.
#include "ir/module_path.h"

#include <gtest/gtest.h>

namespace perfc {
namespace {

using Path = std::vector<std::string_view>;

TEST(ModulePath, ReadsEveryExportersNames) {
  EXPECT_EQ(module_path("/layer1/layer1.0/conv1/Conv"), (Path{"layer1", "0", "conv1", "Conv"}));  // torch.onnx.export
  EXPECT_EQ(module_path("layer1.0.conv1/conv2d"), (Path{"layer1", "0", "conv1", "conv2d"}));      // TorchScript, .pt2
  EXPECT_EQ(module_path("model/block_1/conv/Conv2D"), (Path{"model", "block_1", "conv", "Conv2D"}));  // TensorFlow
}

TEST(ModulePath, HasNoEmptySegments) {
  EXPECT_EQ(module_path("//a..b/"), (Path{"a", "b"}));
  EXPECT_EQ(module_path(""), Path{});
  EXPECT_EQ(module_path("./."), Path{});
}

TEST(ModulePath, KeepsNamesThatOnlyBeginAlike) {
  EXPECT_EQ(module_path("layer1/layer10/conv"), (Path{"layer1", "layer10", "conv"}));
  EXPECT_EQ(module_path("a/b/a.c"), (Path{"a", "b", "a", "c"}));
}

}  // namespace
}  // namespace perfc
