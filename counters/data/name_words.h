#pragma once
/// Words of the names that profilers give regions: "Basic_PI_ATOMIC" has basic, pi, atomic.
///
/// Counters can be the same where names are not: a sum on one CPU thread is the same loop, whether a GPU does it by
/// atomics or in a tree. A word is read as a sign of what programs that bear it have in common, so one that a single
/// application bears, or all do, is none.
#include <span>
#include <string>
#include <vector>

#include "counters/data/counter_dataset.h"

namespace perfc {

/// Runs of ASCII letters, parted at changes from lower to upper case ("matMul": mat, mul) and before the last of
/// several capitals ("CRCTable": crc, table); in lower case, two letters at least, sorted, each once.
std::vector<std::string> words_of(std::string_view name);

inline constexpr std::size_t kMostWords = 200;
/// Words in the names of at least two, but not all, of the rows' applications; sorted. Of more than `kMostWords`, those
/// of the most applications.
std::vector<std::string> shared_words(const CounterDataset&, std::span<const std::size_t> rows);

}  // namespace perfc
