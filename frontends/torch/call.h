#pragma once
/// One operation while it is translated: its arguments by the names of the
/// operator's schema, and the means to add to the graph.
#include <fmt/format.h>

#include <span>
#include <utility>

#include "frontends/common/emitter.h"
#include "frontends/torch/importer.h"

namespace perfc::torch {

struct AtenRow;
using Values = Result<std::vector<Value>>;

class Call : public Emitter {
 public:
  Call(Importer& importer, Frame& frame, const Operation& operation);

  Importer& importer;
  Frame& frame;
  const Operation& operation;
  const AtenRow* row = nullptr;
  std::vector<Value> args;  ///< in the order of the row's parameters, or as written
  bool in_place = false;    ///< the operator's name ends in '_': its first argument is written

  std::size_t outputs() const { return operation.outputs.size(); }

  // ---- Arguments, by name in the schema. Readers report what is missing or of another kind.
  const Value& arg(std::string_view parameter) const;
  bool given(std::string_view parameter) const;  ///< there, and not None
  Result<ValueId> tensor(std::string_view parameter);
  /// Empty when the argument is None or left out.
  Result<ValueId> tensor_or_none(std::string_view parameter);
  /// Tensors of a list.
  Result<std::vector<ValueId>> tensors(std::string_view parameter);
  Result<std::int64_t> integer(std::string_view parameter);
  Result<std::int64_t> integer_or(std::string_view parameter, std::int64_t fallback);
  Result<double> real(std::string_view parameter);
  Result<double> real_or(std::string_view parameter, double fallback);
  Result<bool> flag_or(std::string_view parameter, bool fallback);
  std::string text_or(std::string_view parameter, std::string_view fallback) const;
  /// Known integers of a list; a single int stands for itself.
  Result<std::vector<std::int64_t>> ints(std::string_view parameter);
  /// The same of a list whose numbers may follow from data.
  Result<std::vector<SymInt>> symbolic_ints(std::string_view parameter);
  /// The same, repeated to `count` when there is one only, `fallback` when left out or empty.
  Result<std::vector<std::int64_t>> spread(std::string_view parameter, std::size_t count, std::int64_t fallback);
  /// Element type; `fallback` when None or left out.
  Result<DType> dtype_or(std::string_view parameter, DType fallback);
  /// int64 vector operand of a list of ints, parts of it computed.
  Result<ValueId> int_vector(std::string_view parameter);
  Result<ValueId> int_vector(const std::vector<Value>& items);
  /// Axis in [0, rank).
  Result<std::size_t> axis(std::string_view parameter, std::size_t rank);
  Result<std::size_t> axis(std::int64_t given, std::size_t rank);
  Result<std::vector<std::int64_t>> axes(const std::vector<std::int64_t>& given, std::size_t rank);

  // ---- Types
  /// A copy: adding to the graph moves what the builder holds.
  Type type(ValueId v) const { return Emitter::type(v); }
  /// Rank of a tensor that must be known.
  Result<std::size_t> rank(ValueId v);
  /// The dim must be known: named in the message by `what`.
  Result<std::int64_t> known_dim(ValueId v, std::size_t axis, std::string_view what);

  // ---- Graph
  /// The call that stands for the operation: what the file declares completes its types.
  Values finish(OpId op, std::vector<ValueId> operands, Attrs attrs = {}, std::size_t results = 1);
  /// `cast` as part of the kernel that reads it, as torch promotes operands.
  Result<ValueId> promote(ValueId v, DType dtype);
  /// A scalar as an int64 (float64, bool) vector of one element; as a 0-d tensor.
  Result<ValueId> vector_of(const Scalar& s);
  Result<ValueId> scalar_tensor(const Scalar& s, DType dtype);
  /// A 0-d or one-element tensor as a number.
  Scalar scalar_of(ValueId v, DType dtype);
  /// A dim as a number that follows the tensor.
  Scalar size_of(ValueId v, std::size_t axis);

  // ---- Results
  /// A tensor of its own; an in-place operator writes it to its first argument.
  Values result(ValueId v);
  Values results(const std::vector<ValueId>& vs);
  /// One list of tensors.
  Values list(const std::vector<ValueId>& vs);
  static Value fresh(ValueId v);
  /// `op` looks at `self`, whose memory the result shares.
  Result<Value> view(const TensorRef& self, OpId op, std::vector<ValueId> operands, Attrs attrs = {});
  Values view_result(std::string_view self, OpId op, std::vector<ValueId> operands, Attrs attrs = {});
  Result<ValueId> read(const TensorRef& t);
  /// `value` replaces what the tensor, and whatever shares its memory, holds: the kernel that
  /// computes it writes it there.
  Status write(const TensorRef& t, ValueId value);
  /// The same, by a kernel of its own.
  Status replace(const TensorRef& t, ValueId value);

 private:
  Result<ValueId> value_of(const TensorRef& t);
  /// Where the last of some views lies in what the `first` of them looks at.
  struct Placement {
    struct Range {
      std::int64_t axis = 0;
      ValueId start = {}, end = {}, step = {};  ///< vectors of one element …
      ValueId index = {};                       ///< … or the number of the only entry, whose axis the view leaves out
    };
    std::size_t first = 0;  ///< the end of the views: they are no slice
    std::vector<Range> ranges;
  };
  /// Of as many of the views that end with the one before `end` as are a slice together.
  Placement placement(const std::vector<ViewStep>& views, std::size_t end, const std::vector<ValueId>& chain) const;
  bool place_step(const ViewStep& step, std::vector<std::int64_t>& axis_of, Placement& place) const;
  Result<ValueId> joined(const std::vector<ValueId>& numbers);
  Result<ValueId> set_slice(const Placement& place, ValueId base, ValueId part);
  Result<ValueId> scatter(const ViewStep& step, ValueId base, ValueId part);
  Result<ValueId> scatter_rows(ValueId base, std::int64_t axis, ValueId rows, ValueId part);
};

/// Result<ValueId> as Values.
Values single(Call& c, Result<ValueId> v);
/// The same in the element type that `parameter` asks for; the call's kernel writes it.
Values single_as(Call& c, Result<ValueId> v, std::string_view parameter = "dtype");

}  // namespace perfc::torch
