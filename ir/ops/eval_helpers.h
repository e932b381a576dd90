#pragma once
/// What the evaluation rules share: number formats, contents of operands, and
/// element maps. Evaluation rules are silent: what they cannot compute exactly
/// stays unknown.
#include <cstdint>
#include <optional>
#include <vector>

#include "ir/infer_context.h"

namespace perfc::rules {

using Extents = std::vector<std::int64_t>;

/// Value after storing in an integer or bool of this type: wraps to its width,
/// bool becomes 0 or 1. uint64 keeps its bits in int64. A symbol or unknown
/// stays what it is where a dim fits (32 bits or more), else becomes unknown.
SymInt store(DType, const SymInt&);
/// Value after storing in a float of this type; nullopt for formats narrower
/// than 16 bits, whose contents are not propagated.
std::optional<double> store(DType, double);

/// All extents of a static tensor that may carry contents.
std::optional<Extents> extents(const Type&);
std::int64_t count(const Extents&);
/// Row-major strides in elements.
Extents strides(const Extents&);

/// Contents of operand i when it is an integer or bool tensor of known extents:
/// unknown elements where nothing is known. Nullopt for other operands.
std::optional<std::vector<SymInt>> int_contents(const InferContext&, std::size_t i);
/// Contents of operand i when they are floats that match its extents.
const std::vector<double>* float_contents(const InferContext&, std::size_t i);

/// Sets result i's contents, stored in its dtype, when they fit its extents
/// and say anything at all.
void set_ints(InferContext&, std::size_t i, std::vector<SymInt> values);
void set_floats(InferContext&, std::size_t i, const std::vector<double>& values);

/// Source element of each result element, in row-major order of the result:
/// the sum over axes of `offsets[axis][index]`; −1 as soon as one of them is −1.
std::vector<std::int64_t> element_map(const std::vector<std::vector<std::int64_t>>& offsets);

/// Map that broadcasts a tensor of extents `from` to `to`.
std::vector<std::int64_t> broadcast_map(const Extents& from, const Extents& to);

/// Sets result `r` to the mapped elements of operand i, whatever their kind. Elements
/// mapped to −1 take `fill`'s first element.
void set_mapped(InferContext&, std::size_t r, std::size_t i, const std::vector<std::int64_t>& map,
                const Data* fill = nullptr);

}  // namespace perfc::rules
