/// Detection heads, as the arithmetic that they are.
#include <algorithm>
#include <cmath>

#include "frontends/paddle/table.h"

namespace perfc::paddle {
namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 31;  ///< counts read from a file

Result<std::vector<double>> reals(const Call& c, std::string_view names) {
  const Attr* a = c.attr(names);
  if (!a) return std::vector<double>{};
  if (const auto* list = std::get_if<std::vector<double>>(a)) return *list;
  if (const auto* ints = std::get_if<Ints>(a)) return std::vector<double>(ints->begin(), ints->end());
  return c.error(fmt::format("attribute '{}' must be a list of numbers", names));
}

}  // namespace

/// (X [n, anchors · (5 + classes), h, w], ImgSize) → boxes [n, anchors · h · w, 4] and scores
/// [n, anchors · h · w, classes]: a sigmoid of everything, boxes scaled, scores times confidence.
Values yolo_box(Call& c) {
  const auto x = c.tensor("X");
  const auto rank = c.rank(x);
  const std::int64_t classes = c.integer_or("class_num", 1);
  const auto anchors = c.ints("anchors");
  if (!rank || !anchors) return Failure{};
  if (*rank != 4 || anchors->size() < 2 || anchors->size() > 2000 || classes < 1 || classes > kMost)
    return c.unpriced();
  const auto n = static_cast<std::int64_t>(anchors->size() / 2);
  const std::int64_t channels = classes + (c.flag("iou_aware") ? 6 : 5);
  auto cells = c.reshape(x, {0, n, channels, -1});
  auto rows = c.emit(op("sigmoid"), {c.reshape(c.transpose(cells, {0, 1, 3, 2}), {0, -1, channels})});
  auto boxes = c.slice(rows, 2, channels - classes - 5, channels - classes - 1);
  auto confidence = c.slice(rows, 2, channels - classes - 1, channels - classes),
       scores = c.slice(rows, 2, channels - classes, channels);
  if (!boxes) return Failure{};
  const DType d = c.dtype(*boxes);
  boxes = c.emit(op("add"), {c.emit(op("multiply"), {boxes, c.number(1, d)}), c.number(0, d)});
  scores = c.emit(op("multiply"), {scores, confidence});
  if (!boxes || !scores) return Failure{};
  return std::vector<ValueId>{*boxes, *scores};
}

/// (Input [n, c, h, w], Image) → boxes and variances [h, w, priors, 4]: both only written. Priors: every
/// smallest size with each ratio (flipped ones too), and one per largest size.
Values prior_box(Call& c) {
  const auto x = c.tensor("Input");
  const auto smallest = reals(c, "min_sizes"), largest = reals(c, "max_sizes"), given = reals(c, "aspect_ratios");
  if (!x || !smallest || !largest || !given) return Failure{};
  std::vector<double> ratios{1};
  const auto add = [&](double r) {
    if (std::none_of(ratios.begin(), ratios.end(), [&](double known) { return std::abs(known - r) < 1e-6; }))
      ratios.push_back(r);
  };
  if (given->size() > 1000) return c.error(fmt::format("{} aspect ratios", given->size()));
  for (double r : *given) {
    add(r);
    if (c.flag("flip") && r != 0) add(1 / r);
  }
  const auto priors = static_cast<std::int64_t>(ratios.size() * smallest->size() + largest->size());
  auto shape = c.join({c.shape_of(x, 2, 4), c.int_constant({priors, 4})}, 0);
  auto boxes = c.full(shape, 0, c.dtype(*x)), variances = c.full(shape, 0, c.dtype(*x));
  if (!boxes || !variances) return Failure{};
  return std::vector<ValueId>{*boxes, *variances};
}

/// (PriorBox [m, 4], PriorBoxVar?, TargetBox): decoding adds to each [n, m, 4] target its prior,
/// encoding relates n targets to m priors.
Values box_coder(Call& c) {
  auto prior = c.tensor("PriorBox"), target = c.tensor("TargetBox");
  const auto rank = c.rank(target);
  if (!rank || !prior) return Failure{};
  if (c.text_or("code_type", "encode_center_size").starts_with("decode")) {
    if (*rank != 3) return c.unpriced();
    prior = c.expand_dims(prior, {c.integer_or("axis", 0) == 0 ? 0 : 1});
    return one(c.emit(op("add"), {c.emit(op("multiply"), {c.emit(op("exp"), {target}), prior}), prior}));
  }
  if (*rank != 2) return c.unpriced();
  target = c.expand_dims(target, {1});
  prior = c.expand_dims(prior, {0});
  return one(c.emit(op("log"), {c.emit(op("divide"), {c.emit(op("subtract"), {target, prior}), prior})}));
}

/// multiclass_nms, matrix_nms: (BBoxes [n, m, 4], Scores [n, classes, m]) → (class, score, box) rows, their
/// indices, and how many there are of each image. As many rows as are kept at most.
Values multiclass_nms(Call& c) {
  const auto boxes = c.tensor("BBoxes");
  auto scores = c.tensor("Scores");
  const auto rank = c.rank(boxes), score_rank = c.rank(scores);
  if (!rank || !score_rank) return Failure{};
  if (*rank != 3 || *score_rank != 3 || !c.dim(*boxes, 2).is(4)) return c.unpriced();  // LoD batches
  const auto classes = c.known_dim(*scores, 1), candidates = c.known_dim(*boxes, 1);
  if (!classes || !candidates) return Failure{};
  std::int64_t per_class = c.integer_or("nms_top_k", -1), kept = c.integer_or("keep_top_k", -1), all = 0;
  if (per_class < 0 || per_class > *candidates) per_class = *candidates;
  if (__builtin_mul_overflow(per_class, *classes, &all)) return c.error("more boxes than can be counted");
  if (kept < 0 || kept > all) kept = all;
  scores = c.transpose(scores, {0, 2, 1});
  auto found = c.emit_all(op("vision.multiclass_nms"), {c.expand_dims(boxes, {2}), scores},
                          {{"max_per_class", per_class}, {"max_total", kept}}, 4);
  if (!found) return Failure{};
  auto rows = c.emit(op("concatenate"), {c.expand_dims((*found)[2], {2}), c.expand_dims((*found)[1], {2}), (*found)[0]},
                     {{"axis", std::int64_t{2}}});
  auto out = c.reshape(rows, {-1, 6}), index = c.reshape(c.cast((*found)[2], DType::Int32), {-1, 1});
  if (!out || !index) return Failure{};
  return std::vector<ValueId>{*out, *index, (*found)[3]};
}

}  // namespace perfc::paddle
