#pragma once
/// Orders of dims as `transpose` takes them: entry i is the dim that comes to place i. Every dim is there once.
#include <cstdint>
#include <vector>

namespace perfc {

inline bool is_identity(const std::vector<std::int64_t>& perm) {
  for (std::size_t i = 0; i < perm.size(); ++i) {
    if (perm[i] != static_cast<std::int64_t>(i)) return false;
  }
  return true;
}

/// The order that brings the dims back.
inline std::vector<std::int64_t> inverse(const std::vector<std::int64_t>& perm) {
  std::vector<std::int64_t> out(perm.size());
  for (std::size_t i = 0; i < perm.size(); ++i) out[static_cast<std::size_t>(perm[i])] = static_cast<std::int64_t>(i);
  return out;
}

}  // namespace perfc
