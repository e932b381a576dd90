#pragma once
/// One operation while it is translated: operands and attributes by the names of
/// its schema, and the means to add to the graph.
///
/// Names may be alternatives, "Shape|ShapeTensor|shape": ProgramDesc and PIR, old
/// and new versions of an operator spell them differently, and what one has as an
/// attribute is an operand of the other. The first that is there counts.
#include <fmt/format.h>

#include "frontends/common/emitter.h"
#include "frontends/paddle/importer.h"

namespace perfc::paddle {

struct PaddleRow;
using Operand = Result<ValueId>;
using Ints = std::vector<std::int64_t>;

class Call : public Emitter {
 public:
  Call(Importer& importer, Frame& frame, const Operation& operation, const PaddleRow* row);

  Importer& importer;
  Frame& frame;
  const Operation& operation;
  const PaddleRow* row;

  /// Looks the operands up; false when one of them failed before or is unknown.
  Status resolve();

  // ---- Arguments. Readers report what is missing or of another kind.
  /// The values of an operand; null when it is left out.
  const std::vector<ValueId>* operands(std::string_view names) const;
  const Attr* attr(std::string_view names) const;
  bool given(std::string_view names) const;
  Operand tensor(std::string_view names);
  /// An empty id when left out.
  Operand tensor_or_none(std::string_view names);
  Values tensors(std::string_view names);
  std::int64_t integer_or(std::string_view names, std::int64_t fallback) const;
  double real_or(std::string_view names, double fallback) const;
  bool flag(std::string_view names, bool fallback = false) const;
  std::string_view text_or(std::string_view names, std::string_view fallback) const;
  /// Integers that must be known: a list, a number, or contents of operands.
  Result<Ints> ints(std::string_view names) const;
  Result<Ints> ints_or(std::string_view names, Ints fallback) const;
  Result<std::int64_t> integer(std::string_view names) const;
  /// A number that must be known, as an attribute or as contents of an operand.
  Result<double> real(std::string_view names, double fallback) const;
  DType dtype_or(std::string_view names, DType fallback) const;
  /// int64 vector of a shape or of axes, parts of it computed at run time.
  Operand int_vector(std::string_view names);
  /// Values of all operands, lists in a row.
  std::vector<ValueId> all_operands() const;

  // ---- Results
  /// Names of all outputs, left-out ones included.
  std::vector<std::string_view> outputs() const;
  /// The output that a column of the row means: by name, or (Pir) by position.
  const Slot* output(std::string_view names, std::size_t position) const;
  /// Values that an output stands for: of a list, what the file declares.
  std::size_t results_of(const Slot&) const;
  /// The same of the list among the outputs.
  std::size_t list_results() const;
  /// Tensor arrays are bound by the operators that make and change them.
  void bind_list(std::string_view name, std::vector<ValueId> items);
  std::vector<ValueId> list_named(std::string_view name) const;

  // ---- Types
  /// Axis in [0, rank), of an attribute or operand that must be known.
  Result<std::int64_t> one_axis(std::string_view names, std::int64_t rank, std::int64_t fallback) const;

  /// For forms that no operator of the IR stands for: the operation becomes opaque.
  Values unpriced();
  bool opaque = false;  ///< `unpriced` was asked for

 private:
  std::vector<std::pair<std::string_view, std::vector<ValueId>>> operands_;
};

/// Rows that name an IR operator: operands and attributes as the row says.
Values one_to_one(Call&);

/// One result as `Values`.
inline Values one(const Operand& v) {
  if (!v) return Failure{};
  return std::vector<ValueId>{*v};
}

}  // namespace perfc::paddle
