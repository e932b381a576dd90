#pragma once
/// The kernels that keep the best of overlapping boxes: a pass over all scores, a sort, the boxes in its order, their
/// comparison, and what picks the rows that are kept. Which they are is the runtime's (`RuntimeDef::suppression`):
///
/// - torchvision/csrc/ops/cuda/nms_kernel.cu of pytorch/vision, since 0.21; of several images and classes one after
///   the other (torchvision/ops/boxes.py, _batched_nms_vanilla);
/// - onnxruntime/core/providers/cuda/object_detection/non_max_suppression_impl.cu, the same for each image and class;
/// - plugin/efficientNMSPlugin of NVIDIA/TensorRT, of which its own layer (INMSLayer) is the successor, and, where a
///   call says that it goes class by class, plugin/batchedNMSPlugin.
///
/// What pads to a limit (`vision.multiclass_nms`) runs as TensorRT's plugins do, whatever the runtime: the others have
/// no such kernel.
#include "ir/ops/suppression.h"
#include "whitebox/launch/kernel_maker.h"
#include "whitebox/launch/plan_writer.h"

namespace perfc {

class SuppressionParts {
 public:
  SuppressionParts(const PlannedGraph& graph, const KernelMaker& maker, PlanWriter& out)
      : of_(graph), maker_(maker), out_(out) {}

  /// The kernels of a call; the first is one of the program's calls, the others are `inner` ones. False, and nothing
  /// launched: its measures are not known.
  bool launch(NodeId, HostCall inner);

 private:
  /// One call.
  struct Boxes {
    NodeId id;
    rules::SuppressionGeometry of;
    double width = 4;  ///< bytes of a score, and of a coordinate
    HostCall inner;
    bool begun = false;
  };
  /// What one kernel of it does.
  struct Part {
    OpId what;
    double elements = 0;
    double bytes = 0;
    double flops = 0;
    double blocks = 0;  ///< thread blocks, where there are few
    double steps = 0;   ///< reads that each wait for the one before
  };
  /// `times`: one after the other.
  void add(Boxes&, const Part&, double times = 1);

  void by_torchvision(Boxes&);
  void by_onnxruntime(Boxes&);
  void by_tensorrt(Boxes&);
  void class_by_class(Boxes&);
  /// Pairs sorted by a thread block for each of `segments` (cub::DeviceSegmentedRadixSort).
  void sort_segments(Boxes&, double segments, double elements_of_each);
  /// Pairs sorted by the whole device, `times` over (cub::DeviceRadixSort).
  void sort(Boxes&, double elements, double index_bytes, double times);

  const PlannedGraph& of_;
  const KernelMaker& maker_;
  PlanWriter& out_;
};

}  // namespace perfc
