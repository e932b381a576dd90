/// Images and detection.
#include <fmt/format.h>

#include "frontends/tf/translators.h"

namespace perfc::tf {

/// (images [n, h, w, c], size [2]).
Result<Values> resize(Call& c, const OpRow& row) {
  auto x = c.tensor(0);
  auto size = c.tensor(1);
  if (!x || !size) return Failure{};
  auto sizes = c.cast(*size, DType::Int64);
  if (!sizes) return Failure{};
  const std::string_view mode = row.name == "ResizeBilinear"  ? "linear"
                                : row.name == "ResizeBicubic" ? "cubic"
                                                              : "nearest";
  auto y = c.emit(op("image.resize2d"), {*x, ValueId{}, ValueId{}, *sizes},
                  {{"axes", std::vector<std::int64_t>{1, 2}},
                   {"mode", std::string(mode)},
                   {"coordinate_transformation_mode",
                    std::string(c.int_attr("align_corners", 0) != 0 ? "align_corners" : "half_pixel")}});
  if (!y) return Failure{};
  // All but nearest neighbours give floats.
  if (mode == "nearest" || is_float(c.builder().type(*y).dtype())) return Values{Value::tensor(*y)};
  auto cast = c.cast(*y, DType::Float32);
  if (!cast) return Failure{};
  return Values{Value::tensor(*cast)};
}

/// (image [n, h, w, c], boxes [k, 4], box_ind [k], crop_size [2]).
Result<Values> crop_and_resize(Call& c, const OpRow&) {
  auto operands = c.tensors(0, 3);
  auto size = c.ints(3, "crop_size");
  if (!operands || !size) return Failure{};
  if (size->size() != 2) return c.error("crop_size needs two extents");
  auto indices = c.cast((*operands)[2], DType::Int64);
  if (!indices) return Failure{};
  return c.finish(op("vision.roi_align"), {(*operands)[0], (*operands)[1], *indices},
                  {{"output_height", (*size)[0]},
                   {"output_width", (*size)[1]},
                   {"sampling_ratio", std::int64_t{1}},
                   {"data_layout", "NHWC"}});
}

/// The bytes of an image → its pixels, as many as the image has.
Result<Values> image_decode(Call& c, const OpRow&) {
  auto x = c.tensor(0);
  if (!x) return Failure{};
  const std::int64_t channels = c.int_attr("channels", 0);
  return c.finish(op("image.decode"), {*x}, {{"pixel_format", std::string(channels == 1 ? "Grayscale" : "RGB")}});
}

/// (boxes [n, 4], scores [n], max_output_size, …) → indices of the boxes kept.
Result<Values> non_max_suppression(Call& c, const OpRow& row) {
  auto operands = c.tensors(0, 3);
  if (!operands) return Failure{};
  auto boxes = c.expand_dims((*operands)[0], {0});
  auto scores = c.expand_dims((*operands)[1], {0, 1});
  auto most = c.cast((*operands)[2], DType::Int64);
  if (!boxes || !scores || !most) return Failure{};
  auto kept = c.emit(op("vision.non_max_suppression"), {*boxes, *scores, *most});
  if (!kept) return Failure{};
  auto column = c.emit(op("strided_slice"), {*kept, c.int_constant({2}), c.int_constant({3}), c.int_constant({1})});
  if (!column) return Failure{};
  auto flat = c.squeeze(*column, {1});
  if (!flat) return Failure{};
  auto indices = c.cast(*flat, DType::Int32);
  if (!indices) return Failure{};
  if (row.name == "NonMaxSuppression" || row.name == "NonMaxSuppressionV2" || row.name == "NonMaxSuppressionV3")
    return Values{Value::tensor(*indices)};
  auto count = c.emit(op("size_of"), {*indices});
  if (!count) return Failure{};
  auto valid = c.cast(*count, DType::Int32);
  if (!valid) return Failure{};
  if (row.name == "NonMaxSuppressionV4") return Values{Value::tensor(*indices), Value::tensor(*valid)};
  auto chosen = c.emit(op("take"), {(*operands)[1], *indices}, {{"axis", std::int64_t{0}}});
  if (!chosen) return Failure{};
  return Values{Value::tensor(*indices), Value::tensor(*chosen), Value::tensor(*valid)};
}

/// (boxes [b, n, q, 4], scores [b, n, classes], max per class, max in total, …).
Result<Values> combined_non_max_suppression(Call& c, const OpRow&) {
  auto operands = c.tensors(0, 2);
  auto per_class = c.integer(2, "max_output_size_per_class");
  auto total = c.integer(3, "max_total_size");
  if (!operands || !per_class || !total) return Failure{};
  return c.finish(op("vision.multiclass_nms"), *operands, {{"max_per_class", *per_class}, {"max_total", *total}}, 4);
}

}  // namespace perfc::tf
