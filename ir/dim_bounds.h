#pragma once
/// Dims that the data decides when a model runs: how many boxes a suppression keeps, how many elements are not zero.
/// A graph has them unknown or named. A rule of the operator (`OpDef::bound`) says how large they can be, and an
/// attribute of the call, which the pass bound-dims sets for a prediction, fixes them.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/attrs.h"

namespace perfc {

/// What an operator's rule says of one open dim.
struct DimBound {
  std::int64_t least = 0;       ///< less takes another path: 1 of whatever there can be
  std::int64_t typical = 0;     ///< what it usually is
  std::int64_t most = 0;        ///< it is never larger
  std::string_view by;          ///< of what `most` is the number: "elements of the operand"
  std::string_view usual = {};  ///< why `typical` is less; empty: it is `most`
  bool selects = false;         ///< what is counted passed a test, each by itself
};

/// Boxes of an image that a suppression compares, where a threshold decides which: what TensorRT's EfficientNMS takes
/// of them at most (plugin/efficientNMSPlugin/efficientNMSParameters.h, numSelectedBoxes).
inline constexpr std::int64_t kComparedBoxes = 4096;

/// Attributes of a call: "bound", the extents as triples (result, axis, extent), and "bound_by", where they are from.
/// Inference gives them to dims that would stay open; what it knows by itself stands.
inline constexpr std::string_view kBound = "bound", kBoundBy = "bound_by";

/// Which extent the pass bound-dims gives a dim.
enum class DynamicDims : std::uint8_t {
  Refuse,   ///< none: it stays open, and predictors refuse the model
  Least,    ///< DimBound::least
  Typical,  ///< DimBound::typical
  Upper,    ///< DimBound::most
};
inline constexpr std::array<std::string_view, 4> kDynamicDims{"refuse", "least", "typical", "upper"};

}  // namespace perfc
