#include "passes/batch_dim.h"

#include <algorithm>

namespace perfc::passes {
namespace {

/// Elements that lie outside of the batch: extents before its dim times the
/// factors before it within.
std::optional<std::int64_t> elements_outside(const Shape& shape, BatchDim batch) {
  std::int64_t product = batch.outer;
  for (std::size_t i = 0; i < batch.axis; ++i) {
    if (!shape[i].known() || __builtin_mul_overflow(product, shape[i].value(), &product)) return std::nullopt;
  }
  return product;
}

}  // namespace

std::optional<std::int64_t> BatchChange::scale(std::int64_t extent) const {
  std::int64_t scaled = 0;
  if (from <= 0 || extent % from != 0 || __builtin_mul_overflow(extent / from, to, &scaled)) return std::nullopt;
  return scaled;
}

std::optional<BatchDim> place_batch(const Shape& before, BatchDim batch, const Shape& after,
                                    const BatchChange& change) {
  const auto outside = elements_outside(before, batch);
  if (!outside || *outside <= 0) return std::nullopt;

  enum Preference { MajorInFeatures, Another, Within, Major, Alone };
  std::optional<BatchDim> best;
  Preference best_preference = MajorInFeatures;
  std::int64_t prefix = 1;  // elements outside of dim x
  // Up to dim x: where the batch had a dim of its own, and was not merged with what the reshape takes apart.
  bool as_before = before[batch.axis].is(change.from);
  for (std::size_t x = 0; x < after.size(); ++x) {
    if (!after[x].known() || prefix <= 0 || prefix > *outside) break;
    const std::int64_t extent = after[x].value();
    as_before = as_before && x < batch.axis && before[x].known() && before[x].value() == extent;
    const std::int64_t outer = *outside / prefix;
    std::int64_t occupied = 0;  // of this dim, up to and including the batch
    const bool fits = *outside % prefix == 0 && !__builtin_mul_overflow(outer, change.from, &occupied) &&
                      occupied > 0 && extent % occupied == 0;
    if (fits && extent > 0) {
      const bool features = x + 1 == after.size() && x > 0 && extent != change.from;
      const Preference preference = as_before               ? Another
                                    : outer != 1            ? Within
                                    : extent == change.from ? Alone
                                    : features              ? MajorInFeatures
                                                            : Major;
      const bool where_inputs_have_it = preference == Alone && best_preference == Alone && x == change.axis;
      if (!best || preference > best_preference || where_inputs_have_it) {
        best = BatchDim{x, outer};
        best_preference = preference;
      }
    }
    if (__builtin_mul_overflow(prefix, extent, &prefix)) break;
  }
  return best;
}

std::int64_t outer_factor(const Shape& before, BatchDim batch, const Shape& after, std::size_t axis) {
  const auto outside = elements_outside(before, batch);
  const auto prefix = elements_outside(after, {axis, 1});
  if (!outside || !prefix || *prefix <= 0 || *outside % *prefix != 0) return 1;
  return std::max<std::int64_t>(*outside / *prefix, 1);
}

}  // namespace perfc::passes
