/// Plugins of TensorRT that exporters of detectors write into ONNX files: EfficientNMS, BatchedNMS, ROIAlign (their
/// READMEs and sources in NVIDIA/TensorRT, plugin/).
#include <fmt/format.h>

#include <algorithm>

#include "frontends/onnx/contrib.h"
#include "ir/eager_marks.h"

namespace perfc::onnx {
namespace {

using Values = Result<std::vector<ValueId>>;

/// Boxes as [batch, boxes, 1 or classes, 4].
Result<ValueId> boxes_of_classes(const NodeContext& c) {
  const auto rank = c.rank(c.inputs[0]);
  if (!rank) return Failure{};
  return *rank == 3 ? c.expand_dims(c.inputs[0], {2}) : Result<ValueId>(c.inputs[0]);
}

/// Scores as [batch, boxes, classes]; a last dim of one may stand behind them.
Result<ValueId> scores_of_classes(const NodeContext& c) {
  const auto rank = c.rank(c.inputs[1]);
  if (!rank) return Failure{};
  return *rank == 4 ? c.squeeze(c.inputs[1], {3}) : Result<ValueId>(c.inputs[1]);
}

/// `attrs` of vision.multiclass_nms → how many boxes are kept [batch, 1], the boxes, their scores, their classes.
Values detections(NodeContext& c, Attrs attrs) {
  const std::size_t least = 2, most = 3;
  if (c.inputs.size() < least || c.inputs.size() > most || !c.has(0) || !c.has(1))
    return c.error(fmt::format("takes boxes, scores and perhaps anchors, got {} inputs", c.inputs.size()));
  if (c.outputs() > 4) return c.error(fmt::format("has {} outputs, at most 4 exist", c.outputs()));
  attrs.set(kPlugin, std::string(c.node.op_type));
  attrs.set("iou_threshold", c.attrs.float_or("iou_threshold", c.attrs.float_or("iouThreshold", 0.5)));
  std::vector<Result<ValueId>> operands{boxes_of_classes(c), scores_of_classes(c)};
  if (c.has(2)) operands.emplace_back(c.inputs[2]);
  auto found = c.emit_all(op("vision.multiclass_nms"), operands, std::move(attrs), 4);
  if (!found) return Failure{};
  const auto count = c.expand_dims((*found)[3], {1});
  if (!count) return Failure{};
  std::vector<ValueId> out{*count, (*found)[0], (*found)[1], (*found)[2]};
  out.resize(c.outputs());
  return out;
}

/// (boxes [b, n, 4] or [b, n, classes, 4], scores [b, n, classes], anchors?).
Values efficient_nms(Importer&, NodeContext& c) {
  const auto most = whole_number(c, "max_output_boxes", 100);
  if (!most) return Failure{};
  return detections(c, {{"max_per_class", *most},
                        {"max_total", *most},
                        {"score_threshold", c.attrs.float_or("score_threshold", 0.5)},
                        {"integer_classes", std::int64_t{1}}});
}

/// (boxes [b, n, 1 or classes, 4], scores [b, n, classes]): the `topK` best of each class are compared.
Values batched_nms(Importer&, NodeContext& c) {
  const auto compared = whole_number(c, "topK"), kept = whole_number(c, "keepTopK");
  if (!compared || !kept) return Failure{};
  return detections(c, {{"max_per_class", *compared},
                        {"max_total", *kept},
                        {"score_threshold", c.attrs.float_or("scoreThreshold", 0)},
                        {"class_by_class", std::int64_t{1}}});
}

/// (boxes [b, n, 4], scores [b, n, classes]) → rows (image, class, box) of int32: `max_output_boxes_per_class` of each
/// image over all of its classes, the last row repeated.
Values efficient_nms_onnx(Importer&, NodeContext& c) {
  if (c.inputs.size() != 2 || !c.has(0) || !c.has(1))
    return c.error(fmt::format("takes boxes and scores, got {} inputs", c.inputs.size()));
  const auto most = whole_number(c, "max_output_boxes_per_class");
  if (!most) return Failure{};
  if (*most < 1) return c.error(fmt::format("max_output_boxes_per_class must be positive, is {}", *most));
  auto limit = [&](std::string_view name) {
    return c.number(c.attrs.float_or(name, 0.5), DType::Float32);  // the plugin's default
  };
  auto rows =
      c.emit(op("vision.non_max_suppression"),
             {c.inputs[0], c.transpose(c.inputs[1], {0, 2, 1}), c.number(static_cast<double>(*most), DType::Int64),
              limit("iou_threshold"), limit("score_threshold")},
             {{"center_point_box", c.attrs.int_or("center_point_box", 0)},
              {"padded_to", *most},
              {std::string(kPlugin), std::string(c.node.op_type)}});
  const InsideKernel of_suppression(c);
  auto out = c.cast(rows, DType::Int32);
  if (!out) return Failure{};
  return std::vector<ValueId>{*out};
}

/// ONNX' RoiAlign with numbers for its modes.
Values plugin_roi_align(Importer&, NodeContext& c) {
  const bool half = c.attrs.int_or("coordinate_transformation_mode", 1) != 0;
  c.attrs.set("coordinate_transformation_mode", std::string(half ? "half_pixel" : "output_half_pixel"));
  c.attrs.set("mode", std::string(c.attrs.int_or("mode", 1) != 0 ? "avg" : "max"));
  c.attrs.erase("plugin_version");
  c.attrs.erase("plugin_namespace");
  return c.finish(op("vision.roi_align"), c.inputs, c.attrs);
}

}  // namespace

std::span<const TranslatorRow> plugin_table() {
  static const std::vector<TranslatorRow> table{
      {"trt:EfficientNMS_TRT", efficient_nms, "vision.multiclass_nms"},
      {"trt:EfficientNMS_ONNX_TRT", efficient_nms_onnx, "vision.non_max_suppression"},
      {"trt:BatchedNMS_TRT", batched_nms, "vision.multiclass_nms"},
      {"trt:BatchedNMSDynamic_TRT", batched_nms, "vision.multiclass_nms"},
      {"trt:ROIAlign_TRT", plugin_roi_align, "vision.roi_align"},
  };
  return table;
}

}  // namespace perfc::onnx
