#pragma once
/// Dims as products of factors that reshapes split and merge and transposes move, so that a chain of views is known as
/// a whole: "atoms" with an extent of 2 or more each, which are split as views ask for it.
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "ir/builder.h"

namespace perfc::passes {

using Atom = std::uint32_t;
using AtomList = std::vector<Atom>;        ///< factors from the outermost; empty: an extent of 1
using AtomLayout = std::vector<AtomList>;  ///< by dim

class Atoms {
 public:
  /// A dim of its own.
  AtomList add(std::int64_t extent);
  /// The same, by the parts that atoms have been split into since.
  AtomList parts(const AtomList&) const;
  AtomLayout parts(const AtomLayout&) const;
  AtomList flat(const AtomLayout&) const;
  std::int64_t extent(const AtomList&) const;
  std::vector<std::int64_t> shape(const AtomLayout&) const;

  /// What a reshape to `shape`, which is static, makes of it; nullopt where dims mix.
  std::optional<AtomLayout> reshaped(const AtomLayout&, const Shape& shape);

 private:
  struct Part {
    std::int64_t extent;
    std::optional<std::pair<Atom, Atom>> split;  ///< outer, inner
  };
  std::vector<Part> atoms_;
};

/// Views that bring a value from one layout into another: a reshape, a transpose, a reshape; those that would change
/// nothing are empty.
struct Rearranged {
  std::vector<std::int64_t> split, perm, merged;
};

/// Between layouts of the same atoms, by their parts.
Rearranged rearranged(const Atoms&, const AtomLayout& from, const AtomLayout& to);

/// A value after these views, which are called and located as `n` is.
Result<ValueId> viewed(GraphBuilder&, ValueId, const Rearranged&, const Node& n);

}  // namespace perfc::passes
