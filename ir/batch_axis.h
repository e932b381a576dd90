#pragma once
/// Which dim of an input counts samples, as the user says it (`--batch-axis`).
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace perfc {

/// Said of one input, or of all that nothing else was said of.
struct BatchAxis {
  std::string input;                 ///< a name, kAllInputs, or "": the only input
  std::optional<std::int64_t> axis;  ///< negative: from the last dim on; none: the input holds no samples
};
inline constexpr std::string_view kAllInputs = "all";

struct BatchPlace {
  std::optional<std::size_t> axis;  ///< none: no dim counts samples
  bool given = false;               ///< the user said so
};

/// Where an input of that name and rank has the batch: what was said of its name, else of all inputs where it has such
/// a dim, else its first dim. An axis that the named input does not have is none.
BatchPlace batch_place(const std::vector<BatchAxis>&, std::string_view input, std::size_t rank);

}  // namespace perfc
