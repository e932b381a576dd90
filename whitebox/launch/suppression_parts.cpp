#include "whitebox/launch/suppression_parts.h"

#include <algorithm>
#include <cmath>

#include "ir/dim_bounds.h"
#include "ir/eager_marks.h"
#include "whitebox/constants/selection.h"

namespace perfc {
namespace {

constexpr double kIndex = 4, kLongIndex = 8;   ///< bytes
constexpr double kCoordinates = 4, kBits = 8;  ///< of a box, of a byte
constexpr auto kCompared = static_cast<double>(kComparedBoxes);
constexpr double kReadsOfBox = 3;  ///< one after the other: where its score is from, its anchor, the box

/// Boxes that pass the first look at the scores: all of them where there is no threshold or next to none, else as many
/// as TensorRT compares at most.
double candidates(const rules::SuppressionGeometry& g) {
  const bool all = !g.threshold || *g.threshold < constants::kDenseThreshold;
  return all ? g.scores() : std::min(g.scores(), kCompared);
}

/// Of each box with all that come behind it.
double comparisons(double boxes) { return boxes * (boxes - 1) / 2 * constants::kOverlapOperations; }

}  // namespace

bool SuppressionParts::launch(NodeId id, HostCall inner) {
  const Node& n = of_.node(id);
  const auto geometry = def(n.op).suppression(CostContext(of_.g, id));
  if (!geometry || geometry->images <= 0 || geometry->scores() <= 0) return false;
  Boxes b{.id = id, .of = *geometry, .width = of_.widths.read_width(n.operands[1], n), .inner = inner};
  const bool own = n.is(op("vision.multiclass_nms")) || n.attrs.has(kPlugin);
  const Suppression by = own ? Suppression::TensorRt : def(of_.config.runtime).suppression;
  if (geometry->class_by_class) class_by_class(b);
  else if (by == Suppression::Torchvision) by_torchvision(b);
  else if (by == Suppression::OnnxRuntime) by_onnxruntime(b);
  else by_tensorrt(b);
  return true;
}

void SuppressionParts::add(Boxes& b, const Part& part, double times) {
  Kernel k = maker_.of(b.id, {});
  k.ops = {part.what};
  k.kind = part.what == of_.node(b.id).op || def(part.what).category == Category::Sort ? KernelKind::Gather
                                                                                       : KernelKind::Vector;
  k.repeat *= times;
  k.work.flops = part.flops;
  k.extents = {.m = 1, .n = part.elements, .k = 1};
  k.traffic.bytes = k.traffic.handed_bytes = part.bytes;
  k.limits.blocks = part.blocks;
  k.limits.serial_steps = part.steps;
  out_.count_call(b.begun ? b.inner : HostCall::Kernel, times);
  b.begun = true;
  out_.add(b.id, std::move(k));
}

void SuppressionParts::sort(Boxes& b, double elements, double index_bytes, double times) {
  const double pair = b.width + index_bytes, passes = std::ceil(b.width * kBits / constants::kSortedBits);
  add(b, {.what = op("arange"), .elements = elements, .bytes = elements * index_bytes}, times);
  add(b, {.what = op("topk"), .elements = elements, .bytes = elements * (b.width + 2 * passes * pair)}, times);
}

void SuppressionParts::sort_segments(Boxes& b, double segments, double elements_of_each) {
  const double all = segments * elements_of_each, pair = b.width + kIndex;
  const double passes = std::ceil(b.width * kBits / constants::kSegmentSortedBits);
  add(b, {.what = op("topk"), .elements = all, .bytes = all * (b.width + 2 * pair), .blocks = segments}, passes);
}

/// Sorted by score, every box is compared with those behind it, whose bits one thread block then walks over.
void SuppressionParts::by_torchvision(Boxes& b) {
  const rules::SuppressionGeometry& g = b.of;
  const double times = g.images * g.classes, kept = g.kept / times, box = kCoordinates * b.width;
  const double bits = std::ceil(g.boxes / constants::kOverlapsOfWord) * kLongIndex;  // of a box
  sort(b, g.boxes, kLongIndex, times);
  add(b, {.what = op("take"), .elements = g.boxes, .bytes = g.boxes * (2 * box + kLongIndex)}, times);
  add(b,
      {.what = of_.node(b.id).op,
       .elements = g.boxes,
       .bytes = g.boxes * (box + bits / 2),
       .flops = comparisons(g.boxes)},
      times);
  add(b, {.what = of_.node(b.id).op, .elements = g.boxes, .bytes = kept * bits + g.boxes, .blocks = 1, .steps = kept},
      times);
  add(b, {.what = op("compress"), .elements = g.boxes, .bytes = g.boxes * (kLongIndex + 1) + kept * kLongIndex}, times);
}

/// The same, with a count of what passes the threshold and rows (image, class, box) at the end.
void SuppressionParts::by_onnxruntime(Boxes& b) {
  const rules::SuppressionGeometry& g = b.of;
  const double times = g.images * g.classes, kept = g.kept / times, box = kCoordinates * b.width;
  const double compared = std::ceil(candidates(g) / g.classes);
  const double bits = std::ceil(compared / constants::kOverlapsOfShortWord) * kIndex;
  sort(b, g.boxes, kIndex, times);
  add(b, {.what = op("take"), .elements = g.boxes, .bytes = g.boxes * (2 * box + kIndex)}, times);
  if (g.threshold) add(b, {.what = op("count_nonzero"), .elements = g.boxes, .bytes = g.boxes * b.width}, times);
  add(b, {.what = op("full"), .elements = compared * bits / kIndex, .bytes = compared * bits}, times);
  add(b,
      {.what = of_.node(b.id).op,
       .elements = compared,
       .bytes = compared * (box + bits / 2),
       .flops = comparisons(compared)},
      times);
  add(b, {.what = op("arange"), .elements = compared, .bytes = compared * kIndex}, times);
  add(b, {.what = of_.node(b.id).op, .elements = compared, .bytes = kept * bits + compared, .blocks = 1, .steps = kept},
      times);
  add(b, {.what = op("compress"), .elements = compared, .bytes = compared * (kIndex + 1) + kept * kIndex}, times);
  add(b, {.what = op("take"), .elements = kept, .bytes = kept * 3 * kIndex}, times);
  add(b, {.what = op("concatenate"), .elements = 3 * kept, .bytes = kept * (kIndex + 3 * kLongIndex)}, times);
}

/// Scores are compared with the threshold, or all taken along where next to none is asked for; a thread block per image
/// sorts what is left and keeps its best, each behind an index, an anchor and a box.
void SuppressionParts::by_tensorrt(Boxes& b) {
  const rules::SuppressionGeometry& g = b.of;
  const double all = g.images * g.scores(), passing = candidates(g), kept = g.kept / g.images;
  const double compared = std::min(passing, kCompared), pair = b.width + kIndex;
  const double row = kCoordinates * b.width + b.width + kIndex, taken = b.width + 3 * kIndex;
  add(b, {.what = op("full"), .elements = g.kept, .bytes = g.kept * row});
  if (passing == g.scores()) {
    add(b, {.what = op("copy"), .elements = all, .bytes = 2 * all * b.width});
    add(b, {.what = op("compress"), .elements = all, .bytes = all * (b.width + taken)});
  } else {
    add(b, {.what = op("compress"), .elements = all, .bytes = all * b.width + g.images * passing * taken});
    add(b, {.what = op("arange"), .elements = 2 * g.images, .bytes = 3 * g.images * kIndex});
  }
  sort_segments(b, g.images, passing);
  add(b, {.what = of_.node(b.id).op,
          .elements = g.images * compared,
          .bytes = g.images * compared * (pair + 2 * kIndex + kCoordinates * b.width) + g.kept * row,
          .blocks = g.images,
          .steps = kReadsOfBox * std::min(kept, compared)});
}

/// Every class is sorted, compared by a thread block of its own, image after image, and what is left of an image is
/// sorted again.
void SuppressionParts::class_by_class(Boxes& b) {
  const rules::SuppressionGeometry& g = b.of;
  const double all = g.images * g.scores(), box = kCoordinates * b.width, pair = b.width + kIndex;
  const double boxes = g.images * g.boxes * g.box_classes, best = g.classes * g.per_class;
  add(b, {.what = op("copy"), .elements = kCoordinates * boxes, .bytes = 2 * boxes * box});
  if (g.box_classes > 1) add(b, {.what = op("transpose"), .elements = kCoordinates * boxes, .bytes = 2 * boxes * box});
  add(b, {.what = op("transpose"), .elements = all, .bytes = 2 * all * b.width});
  add(b, {.what = op("compress"), .elements = all, .bytes = all * (b.width + pair)});
  sort_segments(b, g.images * g.classes, g.boxes);
  add(b, {.what = of_.node(b.id).op,
          .elements = g.images * best,
          .bytes = g.images * best * (2 * pair + box),
          .blocks = g.classes,
          .steps = kReadsOfBox * std::ceil(g.kept / g.classes)});
  sort_segments(b, g.images, best);
  add(b, {.what = op("take"), .elements = g.kept, .bytes = g.kept * (2 * box + 3 * pair)});
}

}  // namespace perfc
