#pragma once
/// Workloads as rows of finite numbers, as models read them.
#include "counters/data/counter_dataset.h"

namespace perfc {

/// Which columns a model reads.
enum class InputKind : unsigned char {
  Counters,         ///< what the profiler counted
  CountersAndWork,  ///< and ln of every amount of work and of every two amounts' ratio
  All,              ///< and, 0 or 1, the words that regions' names share (name_words.h)
};

/// Columns, and what stands for missing values; fitted on training rows. A missing
/// counter reads as the training rows' mean, and a column of its own says that it is
/// missing, where training rows have any such.
class CounterInputs {
 public:
  static CounterInputs fit(const CounterDataset&, std::span<const std::size_t> rows, InputKind);
  FeatureMatrix rows(const CounterDataset&, std::span<const std::size_t> rows) const;
  const std::vector<Column>& columns() const { return columns_; }
  /// Counters that are never negative and exceed 1000: by their logarithm.
  const std::vector<Normaliser::Scale>& scales() const { return scales_; }

  /// Names and numbers for a checkpoint: per counter its substitute, per kind of work
  /// what ln stands for none; the words.
  const std::vector<double>& substitutes() const { return substitutes_; }
  const std::vector<double>& none() const { return none_; }
  const std::vector<std::string>& words() const { return words_; }
  /// Per counter, 1 if a column says where it is missing.
  std::vector<double> mask() const;
  static CounterInputs restore(const CounterDataset& names, InputKind, std::vector<double> substitutes,
                               std::span<const double> mask, std::vector<double> none, std::vector<std::string> words);

 private:
  void name_columns(const CounterDataset&, std::span<const std::size_t> rows);
  InputKind kind_ = InputKind::Counters;
  std::vector<Column> columns_;
  std::vector<Normaliser::Scale> scales_;
  std::vector<double> substitutes_, none_;
  std::vector<std::string> words_;
  std::vector<std::size_t> masked_;  ///< counters with a column that says that they are missing
};

/// Rows and columns of amounts of work.
FeatureMatrix work_rows(const CounterDataset&, std::span<const std::size_t> rows);

}  // namespace perfc
