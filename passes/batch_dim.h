#pragma once
/// Where the batch sits in a shape, and where a reshape puts it.
///
/// A dim may hold the batch alone or merged with others: windows of images
/// (N·64), heads (N·H), or tokens of sequence-major models (L·N). Row-major
/// order then tells where the batch went: a reshape keeps every element's
/// position, so the product of the extents outside of the batch stays the same.
#include <cstdint>
#include <optional>

#include "ir/types.h"
#include "passes/pass.h"

namespace perfc::passes {

/// The wanted change: `from` samples become `to`.
struct BatchChange {
  std::int64_t from = 1;
  std::int64_t to = 1;
  std::size_t axis = 0;  ///< where the inputs have it; decides between dims of 1 that could all be the batch
  Contents contents = Contents::Types;

  /// `extent` with its batch factor exchanged; nothing when it has none or the
  /// product does not fit.
  std::optional<std::int64_t> scale(std::int64_t extent) const;
  double ratio() const { return static_cast<double>(to) / static_cast<double>(from); }
};

/// The dim that holds the batch, and the product of the factors that stand
/// before it within that dim: 1 in N·64, 64 in 64·N.
struct BatchDim {
  std::size_t axis = 0;
  std::int64_t outer = 1;
  friend bool operator==(const BatchDim&, const BatchDim&) = default;
};

/// The dim of `after` that holds the batch when a static shape with its batch
/// at `batch` is reshaped. With `change.from` = 1 the batch is invisible and
/// may fit in several places; then a dim of 1 of its own is preferred, of
/// several the one at `change.axis` or else the first, then
/// the major place in a dim that is not the last one (features), then the
/// minor place after the dim before, then a dim that stood before a batch of
/// its own already. Nothing when the shapes do not nest.
std::optional<BatchDim> place_batch(const Shape& before, BatchDim batch, const Shape& after, const BatchChange& change);

/// Factor in front of the batch inside `axis` after a reshape that is known
/// to have put it there; 1 when the shapes do not nest.
std::int64_t outer_factor(const Shape& before, BatchDim batch, const Shape& after, std::size_t axis);

}  // namespace perfc::passes
