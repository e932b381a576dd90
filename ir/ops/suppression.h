#pragma once
/// The measures of a suppression of boxes, whichever operator spells it: a row names how they are read from a finished
/// call, and the kernels follow them (whitebox/launch/suppression_parts.h).
#include <optional>

#include "ir/infer_context.h"

namespace perfc::rules {

struct SuppressionGeometry {
  double images = 0, classes = 0;
  double boxes = 0;                 ///< of an image
  double box_classes = 1;           ///< boxes of each of these: 1, or a box per class
  double kept = 0;                  ///< rows that it gives, of all images
  double per_class = 0;             ///< of an image, boxes of a class that are compared at most
  std::optional<double> threshold;  ///< scores below it are left out first; none: it is not known, or there is none
  bool class_by_class = false;      ///< sorts and compares each class by itself

  double scores() const { return boxes * classes; }  ///< of an image
};

// Empty when the types of the call are not static.
std::optional<SuppressionGeometry> non_max_suppression_geometry(const CostContext&);
std::optional<SuppressionGeometry> multiclass_nms_geometry(const CostContext&);

}  // namespace perfc::rules
