#pragma once
/// Modules in the names of nodes.
#include <string_view>
#include <vector>

namespace perfc {

/// The modules that a node's name goes through, outermost first, its own name last: "/layer1/layer1.0/conv1/Conv" of
/// ONNX exporters and "layer1.0.conv1/conv2d" of PyTorch are both layer1, 0, conv1, and what was called. Empty where
/// the name is. Views of the name.
std::vector<std::string_view> module_path(std::string_view node_name);

}  // namespace perfc
