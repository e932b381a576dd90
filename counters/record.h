#pragma once
/// The counters of one run as the predictor sees them: Table I of Nichols, Yeom
/// and Bhatele ("Predicting Cross-Platform Relative Performance with Deep
/// Generative Models", SC22 poster) as named columns. A counter that was not
/// measured is missing, which is neither zero nor any other number.
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "features/schema.h"

namespace perfc {

/// Index of a column in this program. Files and checkpoints store names.
enum class Counter : std::size_t {
  Instructions,
  IntegerRatio,
  FloatRatio,
  MemoryRatio,
  ControlRatio,
  IndependentRatio,
  CacheMissRatio,
  BranchMissRatio,
  PageLevels,
  PageFaults,
  CpuToGpuBandwidth,
  GpuToCpuBandwidth,
  Threads,
  WarpBlocks,
  IoBytes,
  FileDescriptors,
};
inline constexpr std::size_t kCounterCount = 16;

/// Name, unit and meaning of every column, in the order of `Counter`.
const std::vector<Column>& counter_columns();

/// How each column is to be normalised: what spans magnitudes, logarithmically.
const std::vector<Normaliser::Scale>& counter_scales();

/// The column of a name of `counter_columns`.
std::optional<Counter> find_counter(std::string_view name);

/// One value or none per column.
class CounterRecord {
 public:
  std::optional<double> operator[](Counter c) const { return values_[static_cast<std::size_t>(c)]; }
  /// All columns in order, for filling rows and masks.
  const std::array<std::optional<double>, kCounterCount>& values() const { return values_; }
  /// Numbers that are negative or not finite measure nothing: the column stays missing, false.
  bool set(Counter, double value);
  /// Columns that have a value.
  std::size_t known() const;

 private:
  std::array<std::optional<double>, kCounterCount> values_;
};

}  // namespace perfc
