/// Detection heads, as the arithmetic that they are.
#include <algorithm>
#include <cmath>

#include "frontends/openvino/table.h"

namespace perfc::openvino {
namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 31;  ///< counts read from a file

std::size_t entries(std::string_view list) {
  return list.empty() ? 0 : static_cast<std::size_t>(std::ranges::count(list, ',')) + 1;
}

/// Priors per place (PriorBox: every smallest size with each ratio, flipped ones too, and one per largest size).
std::int64_t priors(const Call& c) {
  if (c.layer.type == "PriorBoxClustered") return static_cast<std::int64_t>(entries(c.text_or("width", "")));
  std::vector<double> ratios{1};
  const auto add = [&](double r) {
    if (std::ranges::none_of(ratios, [&](double known) { return std::abs(known - r) < 1e-6; })) ratios.push_back(r);
  };
  std::string_view rest = c.text_or("aspect_ratio", "");
  while (!rest.empty() && ratios.size() < 1000) {
    const double r = std::strtod(std::string(next_word(rest, ',')).c_str(), nullptr);
    if (!(r > 0)) continue;
    add(r);
    if (c.flag("flip")) add(1 / r);
  }
  const std::size_t fixed = entries(c.text_or("fixed_size", "")), smallest = entries(c.text_or("min_size", ""));
  return static_cast<std::int64_t>(ratios.size() * (fixed > 0 ? fixed : smallest) + entries(c.text_or("max_size", "")));
}

}  // namespace

/// (extents of the map [2], of the image [2]) → boxes and variances [2, priors · h · w · 4], only written.
Values prior_box(Call& c) {
  const std::int64_t per_place = priors(c);
  const Data* d = c.has(0) ? c.data(c.operands[0]) : nullptr;
  if (d && d->ints() && d->size() == 2 && d->fully_known()) {
    std::int64_t n = 4;
    for (std::int64_t e : {(*d->ints())[0].value(), (*d->ints())[1].value(), per_place}) {
      if (e < 0 || __builtin_mul_overflow(n, e, &n)) return c.error("more boxes than can be counted");
    }
    return c.finish(op("full"), {c.int_constant({2, n})});
  }
  auto n = c.emit(op("prod"), {c.int_vector(0), c.int_constant({0})}, {{"keepdims", std::int64_t{1}}});
  n = c.emit(op("multiply"), {n, c.int_constant({4 * per_place})});
  return c.finish(op("full"), {c.join({c.int_constant({2}), n}, 0)});
}

/// (offsets [n, boxes · 4], scores [n, boxes · classes], priors) → [1, 1, n · kept, 7]: boxes decoded, the best of
/// every class kept.
Values detection_output(Call& c) {
  const auto offsets = c.tensor(0), confidence = c.tensor(1);
  const auto width = offsets ? c.known_dim(*offsets, 1) : Result<std::int64_t>(Failure{}),
             scores_width = confidence ? c.known_dim(*confidence, 1) : Result<std::int64_t>(Failure{});
  if (!width || !scores_width) return Failure{};
  const std::int64_t boxes = *width / 4;
  if (boxes < 1 || *width % 4 != 0 || *scores_width % boxes != 0 || !c.flag("share_location", true))
    return c.unpriced();
  const std::int64_t classes = *scores_width / boxes;
  std::int64_t per_class = c.integer_or("top_k", -1), kept = c.integer_or("keep_top_k", -1);
  if (per_class < 1 || per_class > boxes) per_class = boxes;
  if (classes > kMost || per_class > kMost) return c.error("more boxes than can be counted");
  if (kept < 1 || kept > per_class * classes) kept = per_class * classes;
  auto decoded = c.emit(op("exp"), {c.reshape(offsets, {-1, boxes, 4})});
  if (!decoded) return Failure{};
  const DType d = c.dtype(*decoded);
  decoded = c.emit(op("add"), {c.emit(op("multiply"), {decoded, c.number(1, d)}), c.number(0, d)});
  auto scores = c.reshape(confidence, {-1, boxes, classes});
  auto found = c.emit_all(op("vision.multiclass_nms"), {c.expand_dims(decoded, {2}), scores},
                          {{"max_per_class", per_class}, {"max_total", kept}}, 4);
  if (!found) return Failure{};
  auto rows = c.join(
      {c.expand_dims((*found)[2], {2}), c.expand_dims((*found)[2], {2}), c.expand_dims((*found)[1], {2}), (*found)[0]},
      2);
  return one(c.reshape(rows, {1, 1, -1, 7}));
}

/// (boxes, scores, most per class?, …) → indices [n, 3], rows [n, 3], how many: n is data.
Values non_max_suppression(Call& c) {
  const auto boxes = c.cast(c.tensor(0), DType::Float32), scores = c.cast(c.tensor(1), DType::Float32);
  auto most = c.has(2) ? c.reshape(c.cast(c.tensor(2), DType::Int64), {1}) : Operand(c.int_constant({INT32_MAX}));
  auto kept = c.finish(op("vision.non_max_suppression"), {boxes, scores, most});
  if (!kept) return Failure{};
  if (c.layer.outputs.size() == 1) return kept;
  auto rows = c.cast(kept->front(), DType::Float32), count = c.shape_of(kept->front(), 0, 1);
  if (!rows || !count) return Failure{};
  return std::vector<ValueId>{kept->front(), *rows, *count};
}

/// MulticlassNms, MatrixNms: (boxes [n, m, 4], scores [n, classes, m]) → rows [k, 6], indices [k, 1], how many [n].
Values multiclass_nms(Call& c) {
  const auto boxes = c.tensor(0), given = c.tensor(1);
  if (!boxes || !given || c.has(2)) return c.unpriced();
  const auto classes = c.known_dim(*given, 1), candidates = c.known_dim(*given, 2);
  if (!classes || !candidates) return Failure{};
  std::int64_t per_class = c.integer_or("nms_top_k", -1), kept = c.integer_or("keep_top_k", -1), all = 0;
  if (per_class < 0 || per_class > *candidates) per_class = *candidates;
  if (__builtin_mul_overflow(per_class, *classes, &all)) return c.error("more boxes than can be counted");
  if (kept < 0 || kept > all) kept = all;
  auto found = c.emit_all(op("vision.multiclass_nms"), {c.expand_dims(boxes, {2}), c.transpose(given, {0, 2, 1})},
                          {{"max_per_class", per_class}, {"max_total", kept}}, 4);
  if (!found) return Failure{};
  auto rows = c.join({c.expand_dims((*found)[2], {2}), c.expand_dims((*found)[1], {2}), (*found)[0]}, 2);
  auto out = c.reshape(rows, {-1, 6}), index = c.reshape(c.cast((*found)[2], DType::Int64), {-1, 1});
  if (!out || !index) return Failure{};
  return std::vector<ValueId>{*out, *index, (*found)[3]};
}

/// Logistic of what YOLO's maps hold; do_softmax flattens them (axis to end_axis).
Values region_yolo(Call& c) {
  auto y = c.emit(op("sigmoid"), {c.tensor(0)});
  if (!c.flag("do_softmax", true)) return one(y);
  const auto rank = c.rank(y);
  if (!rank) return Failure{};
  const auto first = c.axis(c.integer_or("axis", 1), *rank), last = c.axis(c.integer_or("end_axis", -1), *rank);
  if (!first || !last) return Failure{};
  if (*first > *last) return c.error("end_axis stands before axis");
  y = c.emit(op("nn.softmax"), {y}, {{"axis", *first}});
  std::vector<Operand> shape{c.int_constant({-1})};
  if (*first > 0) shape.insert(shape.begin(), c.shape_of(y, 0, *first));
  if (*last + 1 < *rank) shape.push_back(c.shape_of(y, *last + 1, *rank));
  return c.finish(op("reshape"), {y, c.join(shape, 0)});
}

Values reorg_yolo(Call& c) {
  auto strides = c.list_or("stride", {1});
  if (!strides) return Failure{};
  return c.finish(op("space_to_depth"), {c.tensor(0)}, {{"blocksize", strides->empty() ? 1 : strides->front()}});
}

}  // namespace perfc::openvino
