#pragma once
/// What the translators of com.microsoft's operators share: checks of a node's operands and attributes, and the gated
/// activation that several of its operators have.
#include <initializer_list>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "frontends/onnx/importer.h"

namespace perfc::onnx {

/// Operands by name, in the order of the schema; "?" ends the name of one that may be missing. Of the others all are
/// there, and there are no more than these.
Status takes(const NodeContext&, std::initializer_list<std::string_view> names);
/// The node has no more outputs than this.
Status gives(const NodeContext&, std::size_t most);

/// An attribute that shapes depend on; it is an integer.
Result<std::int64_t> whole_number(const NodeContext&, std::string_view name, std::optional<std::int64_t> missing = {});

/// Two dims may be equal: they are, or one of them is not known. `what` they are begins the message.
Status agree(const NodeContext&, const Dim& a, const Dim& b, std::string_view what);
/// Dims of operand i; where its rank is not known, there is nothing to check.
Status require_dims(const NodeContext&, std::size_t i, std::string_view name, const std::vector<Dim>& dims);
/// Operands of one shape.
Status alike(const NodeContext&, std::size_t a, std::size_t b, std::string_view names);
/// An extent that must be known, small enough for sums and products of two.
Result<std::int64_t> extent_of(const NodeContext&, ValueId v, std::int64_t axis);
inline constexpr std::int64_t kAnyRank = std::numeric_limits<std::int64_t>::max();
/// The rank of operand i, which must be known, is one of these.
Result<std::int64_t> rank_of(const NodeContext&, std::size_t i, std::string_view name, std::int64_t least,
                             std::int64_t most);

/// Clamped SwiGLU: G · sigmoid(alpha · G) · (L + beta), G and L being two halves that `limit` clamps, where it is
/// above 0.
struct SwiGlu {
  explicit SwiGlu(const Attrs&);
  double alpha, beta, limit;
};
/// The two factors of which it is the product, in the kernel of that product.
Result<std::vector<ValueId>> factors(NodeContext&, const SwiGlu&, Result<ValueId> gate, Result<ValueId> up);

/// Those of the values that the node has outputs for; one that failed fails them all.
Result<std::vector<ValueId>> outputs_of(const NodeContext&, const std::vector<Result<ValueId>>& values);

/// 0, 1, … up to before `count`, a number of int64.
Result<ValueId> counted(const NodeContext&, Result<ValueId> count);
/// The extent of an axis, as a number of int64.
Result<ValueId> axis_length(const NodeContext&, ValueId, std::int64_t axis);

/// The translator of ai.onnx's operator of this name and version, of a node that has been brought into its form.
Result<std::vector<ValueId>> as_standard(Importer&, NodeContext&, std::string_view spelling, std::int64_t version);

/// An operator whose cost is not known, with a result of this type unless the file declares another.
Result<std::vector<ValueId>> unpriced(NodeContext&, Type);

}  // namespace perfc::onnx
