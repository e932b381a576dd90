#pragma once
/// How a translator adds to the graph, whatever the source: one set of verbs for all front ends.
///
/// What a translator sees of a call (`onnx::NodeContext`, `tf::Call`, `paddle::Call`, `torch::Call`) is an emitter
/// that also reads arguments. Readers are named after what they give, everywhere the same: `tensor`, `tensors`,
/// `integer`, `ints` (known numbers), `int_vector` (an operand, parts of it computed). Constants are `…constant` and
/// `number…`. `finish` adds the call that stands for the whole operation; all others add calls beside it.
///
/// Operands may have failed: the call fails then, and nothing is added, so that calls nest.
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/builder.h"

namespace perfc {

/// Operands of a call, of which each may have failed.
class Operands {
 public:
  Operands(std::initializer_list<Result<ValueId>> all) { take({all.begin(), all.size()}); }
  Operands(const std::vector<Result<ValueId>>& all) { take(all); }
  Operands(std::vector<ValueId> all) : ids_(std::move(all)) {}

  bool failed() const { return failed_; }
  std::vector<ValueId>& ids() { return ids_; }

 private:
  void take(std::span<const Result<ValueId>> all);

  std::vector<ValueId> ids_;
  bool failed_ = false;
};

class Emitter {
 public:
  using Ints = std::vector<std::int64_t>;

  /// `spelling` is the operator as the file writes it, `from` the source line that it came from, if known.
  Emitter(GraphBuilder& builder, SourceLoc loc, std::string name, std::string spelling, std::string_view from = {})
      : loc(std::move(loc)), name(std::move(name)), spelling(std::move(spelling)), from_(from), builder_(&builder) {}

  SourceLoc loc;
  std::string name;      ///< of the nodes that are added
  std::string spelling;  ///< begins every message

  GraphBuilder& builder() const { return *builder_; }
  Failure error(std::string_view message) const;
  void warning(std::string_view message) const;

  // ---- Types
  /// Valid until the next call is added.
  const Type& type(ValueId v) const { return builder_->type(v); }
  DType dtype(ValueId v) const { return type(v).dtype(); }
  const Data* data(ValueId v) const { return builder_->data(v); }
  /// Unknown where there is no such axis; negative axes count from the end.
  Dim dim(ValueId v, std::int64_t axis) const;
  /// Failures are reported: what is asked for must be known when importing.
  Result<std::int64_t> rank(Result<ValueId> v) const;
  Result<std::int64_t> known_dim(ValueId v, std::int64_t axis) const;
  /// Axis in [0, rank); of a number, 0 and −1 are in range.
  Result<std::int64_t> axis(std::int64_t given, std::int64_t rank) const;

  // ---- Calls
  Result<ValueId> emit(OpId op, Operands operands, Attrs attrs = {}) const;
  /// As many results as asked for.
  Result<std::vector<ValueId>> emit_all(OpId op, Operands operands, Attrs attrs, std::size_t results) const;
  /// A cast, or v itself where it has the element type; `Undefined` stands for that of v.
  Result<ValueId> cast(Result<ValueId> v, DType to) const;
  Result<ValueId> reshape(Result<ValueId> v, const Ints& shape) const;
  Result<ValueId> transpose(Result<ValueId> v, Ints perm) const;
  Result<ValueId> expand_dims(Result<ValueId> v, const Ints& axes) const;
  Result<ValueId> squeeze(Result<ValueId> v, const Ints& axes) const;
  /// Without `step`, the call has no operand for it.
  Result<ValueId> slice(Result<ValueId> v, std::int64_t axis, std::int64_t start, std::int64_t end,
                        std::optional<std::int64_t> step = {}) const;
  /// Parts one after the other along an axis; a single one as it is.
  Result<ValueId> join(const std::vector<Result<ValueId>>& parts, std::int64_t axis) const;
  /// The shape as an int64 vector; of it the dims from `start` to before `end`.
  Result<ValueId> shape_of(Result<ValueId> v) const;
  Result<ValueId> shape_of(Result<ValueId> v, std::int64_t start, std::int64_t end) const;
  /// All of it; the rank must be known.
  Result<ValueId> whole_shape(ValueId v) const;
  /// Scaled dot-product attention of (batch, heads, steps, width), in groups where keys have fewer heads than queries.
  /// `mask` may be an empty id.
  Result<ValueId> attention(Result<ValueId> q, Result<ValueId> k, Result<ValueId> v, Result<ValueId> mask,
                            Attrs attrs = {}) const;
  /// 1 - erf; of a negated operand 1 + erf, as Keras writes the exact GELU.
  Result<ValueId> erfc(Result<ValueId> x) const;
  /// A complex number of each pair of real ones.
  Result<ValueId> complex(Result<ValueId> real, Result<ValueId> imaginary) const;
  /// One number in every element.
  Result<ValueId> full(Result<ValueId> shape, double value, DType dtype, Attrs attrs = {}) const;

  // ---- Constants
  ValueId constant(Literal literal) const { return builder_->constant(std::move(literal), {}, loc); }
  /// An int64 vector.
  ValueId int_constant(const Ints& values) const { return constant(int64_vector(values)); }
  /// 0-d. Of integers, not a number is an unknown one.
  ValueId number(double value, DType dtype) const;
  /// 0-d, of the element type of v.
  ValueId number_like(ValueId v, double value) const { return number(value, dtype(v)); }
  /// One number per channel: a scale or shift of normalisations that hold none of their own.
  ValueId uniform(double value, const Dim& length, DType dtype) const;

 protected:
  /// Calls that are added from now on and read this value do so behind a cast to the type that it has.
  void read_recast(ValueId v) { recast_.push_back(v); }
  /// With what is to be noted of a call with these operands (ir/eager_marks.h).
  Attrs marked(Attrs, const std::vector<ValueId>& operands) const;

 private:
  friend class InsideKernel;

  std::string_view from_;
  GraphBuilder* builder_;
  std::vector<ValueId> recast_;
  bool inside_ = false;  ///< calls that are added now are part of another one's kernel (ir/eager_marks.h)
};

/// Calls that are added while it lives, or until it is told that they end, are part of another one's kernel.
class InsideKernel {
 public:
  explicit InsideKernel(Emitter& e) : emitter_(e), before_(std::exchange(e.inside_, true)) {}
  ~InsideKernel() { end(); }
  InsideKernel(const InsideKernel&) = delete;
  InsideKernel& operator=(const InsideKernel&) = delete;

  void end() { emitter_.inside_ = before_; }

 private:
  Emitter& emitter_;
  const bool before_;
};

}  // namespace perfc
