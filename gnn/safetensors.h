#pragma once
/// The safetensors container: 8 bytes of little-endian header length, a JSON
/// header {"name": {"dtype", "shape", "data_offsets": [begin, end]}, …,
/// "__metadata__": {string: string}}, then the data without gaps.
/// https://huggingface.co/docs/safetensors; Python's `safetensors` reads what is
/// written here. float32 and two dims at most: all that layers have.
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "gnn/module.h"
#include "ir/support/diagnostics.h"

namespace perfc {

struct NamedTensor {
  std::string name;
  Parameter<float>::Kind kind = Parameter<float>::Kind::Matrix;
  Matrix<float> value;
};

struct Tensors {
  std::map<std::string, std::string> metadata;
  std::vector<NamedTensor> tensors;  ///< in file order

  const NamedTensor* find(std::string_view name) const;
};

/// The bytes of a file. The same tensors and metadata give the same bytes.
std::string write_safetensors(const Tensors&);

/// Reads a file's bytes. Anything but a whole, gapless file of finite float32
/// numbers is refused with what is wrong and where: a header beyond the file or
/// 16 MiB, JSON nested deeper than 8 or with repeated names, another dtype,
/// offsets that overlap, leave the data or disagree with the shape.
Result<Tensors> parse_safetensors(std::string_view bytes, Diagnostics&);

/// Largest file that is read, in bytes.
inline constexpr std::uint64_t kLargestCheckpoint = std::uint64_t{1} << 31;
Result<Tensors> read_safetensors(const std::string& path, Diagnostics&);

}  // namespace perfc
