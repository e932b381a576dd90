#pragma once
/// What the shape rules and the evaluation rules of data movement both need of
/// a call's operands. Reports when they contradict the input.
#include <cstddef>
#include <optional>
#include <vector>

#include "ir/infer_context.h"

namespace perfc::rules {

/// Input axis of each result axis of a transpose; reversed without "perm".
Result<std::vector<std::size_t>> permutation(const InferContext&, std::size_t rank);

/// Size of each result of a split along an axis of this extent. Without sizes:
/// equal chunks, the last one smaller where they do not divide (ONNX Split-18).
Result<std::vector<SymInt>> split_sizes(const InferContext&, const Dim& extent);

/// One axis of a slice: `count` elements from `start` in steps of `step`.
/// `start` is in range when the extent and the operand are known, else −1.
struct SliceRange {
  std::int64_t start = -1;
  std::int64_t step = 1;
  Dim count = Dim::unknown();
};
/// Python's slice semantics, as in ONNX Slice: negative positions count from
/// the end, positions are clamped. `step` is not 0.
SliceRange slice_range(const Dim& extent, const SymInt& start, const SymInt& end, const SymInt& step);
/// One range per axis of operand 0; null when it is unranked or the axes are unknown.
Result<std::optional<std::vector<SliceRange>>> slice_ranges(const InferContext&);

/// Elements added before and after an axis; negative ones are cut off.
struct Padding {
  SymInt begin = 0;
  SymInt end = 0;
};
/// One per axis of operand 0; null when it is unranked or the axes are unknown.
Result<std::optional<std::vector<Padding>>> paddings(const InferContext&);

}  // namespace perfc::rules
