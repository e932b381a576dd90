#pragma once
/// Models that come through a pipe: a graph is kept, weights are stepped over, as they are in a mapped file. Of a
/// seekable file they are left out: their fields are empty, and messages around them as short as that makes them.
#include <cstdint>
#include <span>
#include <string_view>

#include "ir/support/input_file.h"

namespace perfc {

/// What a field of a protobuf message is. Other fields are kept whole.
struct WeightRule {
  std::uint8_t in;  ///< the message, by a number of the table's own
  std::uint32_t field;
  std::uint8_t is;  ///< the message that it holds, or kWeights
};
inline constexpr std::uint8_t kWeights = 0xff;
/// The largest mask that is looked at, 4,096 × 4,096 floats: so many bytes of weights that are all zero are kept.
inline constexpr std::size_t kLargestMask = std::size_t{64} << 20;

struct WeightFields {
  std::span<const WeightRule> rules;
  std::uint8_t (*root)(std::string_view head);  ///< the message that the file is
};

/// Reads one message. Where it is damaged nothing more is read: the importer will find the place. False: failed.
bool read_without_weights(PipeBytes&, const WeightFields&);

}  // namespace perfc
