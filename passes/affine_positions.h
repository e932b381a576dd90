#pragma once
#include <optional>
#include <vector>

#include "ir/graph.h"

/// What is known of index arithmetic: tensors whose elements are a start and a step along each axis, and the masks that
/// comparisons of them are.
namespace perfc::passes {

class AffinePositions {
 public:
  /// Elements are start + Σ steps[axis] · index[axis]; along axes of one element the step is 0.
  struct Affine {
    std::int64_t start = 0;
    std::vector<std::int64_t> steps;
    bool is_constant() const;
  };
  /// Which keys a mask of (…, queries, keys) lets a query see.
  enum class Sees : std::uint8_t {
    Unknown,
    All,     ///< every one, by a comparison of positions
    Filled,  ///< every one, because a program filled it so
    Past,    ///< those up to its own place
    /// Past, and-ed with a comparison that lets every one through: nobody writes that but a program that would have
    /// looked at the data first.
    PastAndAll
  };

  explicit AffinePositions(const Graph&);

  Sees sees(ValueId v) const { return v && v.result == 0 ? sees_[v.node] : Sees::Unknown; }
  bool known(NodeId id) const { return affine_[id] || sees_[id] != Sees::Unknown; }

 private:
  const Affine* affine(const Node&, std::size_t operand) const;
  std::optional<std::vector<std::int64_t>> ints(const Node&, std::size_t operand) const;
  void call(NodeId, const Node&);
  void view(NodeId, const Node&);
  void added(NodeId, const Node&, std::int64_t scale);  ///< scale · operand 1
  void comparison(NodeId, const Node&);
  std::optional<Affine> concatenated(const Node&) const;
  std::optional<Affine> taken(const Node&) const;
  std::optional<Affine> gathered(const Node&) const;

  const Graph& g_;
  std::vector<std::optional<Affine>> affine_;
  std::vector<Sees> sees_;
};

}  // namespace perfc::passes
