#pragma once
/// One layer while it is translated: operands by position, attributes by name, and the means to add to the graph.
#include <fmt/format.h>

#include "frontends/common/emitter.h"
#include "frontends/openvino/importer.h"

namespace perfc::openvino {

struct Row;
using Operand = Result<ValueId>;
using Ints = std::vector<std::int64_t>;

class Call : public Emitter {
 public:
  Call(Importer& importer, Frame& frame, const Layer& layer, std::vector<ValueId> operands, const Row* row);

  Importer& importer;
  Frame& frame;
  const Layer& layer;
  const Row* row;
  std::vector<ValueId> operands;  ///< empty ids for ports that nothing feeds

  // ---- Operands
  bool has(std::size_t i) const { return i < operands.size() && operands[i]; }
  Operand tensor(std::size_t i) const;
  /// An empty id when left out.
  Operand tensor_or_none(std::size_t i) const { return has(i) ? operands[i] : ValueId{}; }
  /// Integers that must be known; `what` names the operand in messages.
  Result<Ints> ints(std::size_t i, std::string_view what) const;
  /// The same, or nothing where they are not known.
  std::optional<Ints> known_ints(std::size_t i) const;
  std::optional<double> known_real(std::size_t i) const;
  /// An int64 vector, parts of it computed.
  Operand int_vector(std::size_t i) const;

  // ---- Attributes; the fallback stands in where one is left out or reads otherwise.
  bool given(std::string_view name) const { return layer.attributes.count(name) > 0; }
  std::string_view text_or(std::string_view name, std::string_view fallback) const;
  std::int64_t integer_or(std::string_view name, std::int64_t fallback) const;
  double real_or(std::string_view name, double fallback) const;
  bool flag(std::string_view name, bool fallback = false) const;
  /// "1, 2, 3"; an entry that is no integer is an error.
  Result<Ints> list_or(std::string_view name, Ints fallback) const;
  DType dtype_or(std::string_view name, DType fallback) const;

  // ---- Results
  /// The call that stands for the layer: typed from what the file declares, where the rule leaves something open.
  Values finish(OpId op, Operands operands, Attrs attrs = {}, std::size_t results = 1) const;
  /// Type that the file declares for output i without its element type.
  Type declared_shape(std::size_t i) const;

  /// For forms that no operator of the IR stands for: the layer becomes opaque.
  Values unpriced();
  bool opaque = false;  ///< `unpriced` was asked for
};

/// One result as `Values`.
inline Values one(const Operand& v) {
  if (!v) return Failure{};
  return std::vector<ValueId>{*v};
}

}  // namespace perfc::openvino
