#pragma once
/// Which values ONNX Runtime's CPU provider keeps in blocks of channels, as MLAS' convolutions take and give them
/// (onnxruntime/core/optimizer/nchwc_transformer.cc).
#include "whitebox/launch/planned_graph.h"

namespace perfc {

struct BlockedLayout {
  std::vector<bool> takes;  ///< by node: it reads blocks, and gives them
  std::vector<bool> dense;  ///< by node: a convolution of few channels, which reads them as they lie and gives blocks

  bool gives(NodeId id) const { return takes[id] || dense[id]; }
};
BlockedLayout blocked_layout(const PlannedGraph&);

}  // namespace perfc
