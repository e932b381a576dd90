#pragma once
/// How TensorRT's engines join images, the feature maps between convolutions, along their channels: each part is
/// written where it belongs by the kernel that computes it, or copied there. Which, two engines of YOLO in float16 show
/// kernel by kernel (docs/whitebox.md, "TensorRT's engines").
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ir/graph.h"

namespace perfc {

class JoinedImages {
 public:
  /// `weight`: which nodes are computed from weights alone.
  JoinedImages(const Graph&, const std::vector<bool>& weight);

  /// A concatenation of images along their channels.
  bool joins(NodeId) const;
  /// By node: joins or resizes images, which no kernel does beside other work.
  std::vector<bool> alone() const;
  /// Whether a part of such a concatenation is where it belongs already: a convolution, a pooling or an elementwise
  /// kernel wrote it, and what else reads it are convolutions, for which it may lie among others' channels. A
  /// convolution that adds another image to its own does not write into a part.
  bool written_in_place(NodeId concatenation, std::size_t part) const;

 private:
  /// Whose kernel made an image before elementwise operators changed it (of several, a convolution).
  struct Maker {
    NodeId node = 0;
    bool sum = false;  ///< one of them adds another image
  };
  void find_maker(NodeId, const std::vector<bool>& weight);
  bool is_convolution(NodeId) const;
  bool is_image_kernel(NodeId) const;

  const Graph& g_;
  std::vector<Maker> maker_;                           ///< by node
  std::vector<std::uint32_t> readers_, convolutions_;  ///< by node: operands that are its results; of convolutions
};

}  // namespace perfc
