#pragma once
/// How operands and results of control-flow calls line up with the params and
/// results of their bodies. One definition for rules, importers and rewriters.
///
///   if            operands  cond, captures…
///                 regions   then, else: (captures…) → results…
///   loop          operands  M, cond, carried…, captures…   (M and cond may be omitted)
///                 region    body: (iteration, cond, carried…, captures…) → cond, carried…, stacked…
///   scan          operands  carried…, scanned…, captures…
///                 region    body: (carried…, slices…, captures…) → carried…, stacked…
///   scan, batched operands  lengths, carried…, scanned…, captures…  (ONNX opset 8: every
///                 value has a leading batch axis that the body does not see; lengths may be omitted)
///   sequence_map  operands  sequence, sequences or tensors…, captures…
///                 region    body: (elements or tensors…, captures…) → elements…
///
/// Own operands come first, captured outer values last (attribute "captures").
#include <cstddef>
#include <span>

#include "ir/infer_context.h"

namespace perfc {

/// Where the groups of operands begin and how many there are in each.
struct ControlLayout {
  std::size_t own = 0;  ///< operands before the captures
  std::size_t captures = 0;
  std::size_t first_carried = 0;  ///< operand that starts the first carried value
  std::size_t carried = 0;
  std::size_t first_result = 0;  ///< body result that is the next value of the first carried one
  std::size_t scanned = 0;       ///< scan: sequences, after the carried values
  bool batched = false;          ///< scan of ONNX opset 8

  std::size_t first_scanned() const { return first_carried + carried; }
};

/// Layout of a call with `operands` operands. Attributes that contradict it
/// are clamped: the operators' shape rules report them.
ControlLayout control_layout(OpId, const Attrs&, std::size_t operands);

/// How often the body of a call runs, as far as the file tells. Loop: the limit,
/// when the condition holds from the start and the body keeps it so, or what the
/// body's own counter reaches. Scan: the extent of the scanned axis. If: 1.
/// Unknown otherwise.
SymInt trip_count(const Graph&, NodeId);
SymInt trip_count(OpId, const Attrs&, std::span<const InferContext::Operand>, const Graph& body);

}  // namespace perfc
