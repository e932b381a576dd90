#pragma once
/// Boosted trees in the program, as studies/kernels/trees.py writes them.
///
/// Little endian: "PFT2"; u32 number of features, trees, nodes and values; the values, float32; u16 nodes of each tree;
/// nodes in preorder, each a u16 value (a threshold; a leaf's own), a u8 feature (a leaf: 255) and a u8 number of nodes
/// from here to the right child. A feature not above the threshold goes left.
#include <span>

namespace perfc {

/// `bytes`: such a file, aligned to 4. Precondition: `x` has as many features as it says, and none is NaN.
double sum_of_trees(const char* bytes, std::span<const float> x);

}  // namespace perfc
