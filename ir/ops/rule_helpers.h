#pragma once
/// What the shape rules share: checks with good messages, arithmetic on dims
/// that may be symbolic or unknown, broadcasting, sliding windows.
///
/// Checks report at the call and fail; callers pass the failure on. What is not
/// known (unranked, dtype undefined, unknown dim) passes every check: a rule
/// refuses what contradicts the operator, never what it cannot see.
/// `role` is the operand's name in the operator's definition: "weight", "axes".
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "ir/infer_context.h"

namespace perfc::rules {

// ---- Arithmetic on partly known integers. Overflow gives unknown.

/// x + 0 and 0 + x are x, whatever x is; otherwise both must be known.
SymInt operator+(const SymInt& a, const SymInt& b);
/// x − 0 is x, x − x is 0 for a symbol x.
SymInt operator-(const SymInt& a, const SymInt& b);
/// x · 1 is x; x · 0 is 0, also when x is unknown.
SymInt operator*(const SymInt& a, const SymInt& b);
/// Quotient rounded towards zero; x / 1 is x; unknown when b is 0.
SymInt trunc_div(const SymInt& a, const SymInt& b);
/// Quotient rounded up, for a ≥ 0 and b > 0; x / 1 is x; else unknown.
SymInt ceil_div(const SymInt& a, const SymInt& b);
/// Product of all of them; 1 for none.
SymInt product(const SymInt* first, const SymInt* last);

// ---- Operands

/// Operand i is a tensor, dense or sparse.
Status require_tensor(const InferContext&, std::size_t i, std::string_view role);
/// Operand i is a tensor whose rank, if known, lies in [least, most].
inline constexpr std::size_t kAnyRank = ~std::size_t{0};
inline constexpr std::size_t kNoOperand = ~std::size_t{0};  ///< place of an operand that an operator has not
Status require_rank(const InferContext&, std::size_t i, std::string_view role, std::size_t least, std::size_t most);
inline Status require_rank(const InferContext& c, std::size_t i, std::string_view role, std::size_t rank) {
  return require_rank(c, i, role, rank, rank);
}
/// Operand i, unless omitted, is a tensor of these dims as far as both are known.
Status require_dims(const InferContext&, std::size_t i, std::string_view role, const Shape& expected);
/// Operand i is a tensor whose dtype, if known, is accepted. `expected` completes
/// "must be …": "bool", "int32 or int64".
using DTypeTest = bool (*)(DType);
Status require_dtype(const InferContext&, std::size_t i, std::string_view role, DTypeTest accepts,
                     std::string_view expected);
/// Operands i and j are tensors of one dtype.
Status require_same_dtype(const InferContext&, std::size_t i, std::size_t j);

bool is_bool(DType);
bool is_8_bit(DType);  ///< int8 or uint8
bool is_string(DType);
bool is_index(DType);  ///< int32 or int64: what ONNX takes as indices
bool is_int64(DType);
bool is_complex(DType);
bool is_signed(DType);   ///< integer with sign
bool is_numeric(DType);  ///< integer or real floating point
bool is_float_or_complex(DType);

/// Operand i is present, a tensor, and of known rank.
bool ranked(const InferContext&, std::size_t i);
/// Dim d of operand i, a negative one counted from the end; unknown when there
/// is no such dim.
Dim dim_of(const InferContext&, std::size_t i, int d);
/// Contents of operand i when it holds integers, partly known ones included.
const std::vector<SymInt>* ints(const InferContext&, std::size_t i);
/// Known length of a rank-1 operand (of its contents or of its type).
std::optional<std::int64_t> known_length(const InferContext&, std::size_t i);
/// Known single integer (rank 0, or one element) in operand i.
std::optional<std::int64_t> known_scalar(const InferContext&, std::size_t i);

/// Sets result 0 to a tensor of operand 0\'s dtype.
Status set_tensor(InferContext&, Shape shape);

/// A shape of `rank` unknown dims. Ranks above `kMaxRank` do not occur in
/// valid files: check lengths read from a file with `require_length` first.
inline constexpr std::int64_t kMaxRank = 1024;
Shape unknown_shape(std::size_t rank);
/// A rank that a file asks for is sane.
Status require_length(const InferContext&, std::int64_t length, std::string_view role);

// ---- Axes and dims

/// Axis in [−rank, rank) as [0, rank).
Result<std::size_t> normalize_axis(const InferContext&, std::int64_t axis, std::size_t rank,
                                   std::string_view role = "axis");
/// The same for several; a repeated axis is an error. Order is kept.
Result<std::vector<std::size_t>> normalize_axes(const InferContext&, const std::vector<std::int64_t>& axes,
                                                std::size_t rank, std::string_view role = "axes");
/// The one dim that both are; known beats symbol beats unknown. Fails with
/// "`what` differ: 3 and 4" when two known dims differ.
Result<Dim> same_dim(const InferContext&, const Dim& a, const Dim& b, std::string_view what);
/// Propagated contents as a dim: negative ones are an error.
Result<Dim> as_dim(const InferContext&, const SymInt& value, std::string_view role);

// ---- Broadcasting (NumPy rules, as in ONNX Broadcasting.md)

/// Known n ≠ 1 against a symbol or unknown is n: the other must be n or 1.
/// Null when the dims contradict.
std::optional<Dim> broadcast_dim(const Dim& a, const Dim& b);
/// Dims of both, aligned at the right. Fails naming both shapes.
Result<Shape> broadcast_shapes(const InferContext&, const Shape& a, const Shape& b);
/// Tensor of `dtype` in the shape that all present operands [first, last)
/// broadcast to; unranked when one of them is.
Result<Type> broadcast_operands(const InferContext&, std::size_t first, std::size_t last, DType dtype);

// ---- Attributes

/// Integer attribute; `fallback` when absent. Another kind of attribute is an error.
Result<std::int64_t> int_attr(const InferContext&, std::string_view name, std::int64_t fallback);
/// Integer attribute that must be there.
Result<std::int64_t> int_attr(const InferContext&, std::string_view name);
/// Reads "no" or "yes" attributes such as keepdims.
Result<bool> flag_attr(const InferContext&, std::string_view name, bool fallback);

/// Integer list attribute with exactly `count` entries, each ≥ least; `count`
/// times `fallback` when absent or empty.
Result<std::vector<std::int64_t>> int_list(const InferContext&, std::string_view name, std::size_t count,
                                           std::int64_t fallback, std::int64_t least);

// ---- Sliding windows: convolution and pooling

enum class AutoPad { NotSet, SameUpper, SameLower, Valid };
/// Attribute "auto_pad".
Result<AutoPad> auto_pad(const InferContext&);

enum class Rounding { Floor, Ceil };

/// One spatial axis of a sliding window.
struct Window {
  Dim kernel = 1;  ///< extent of the kernel, without dilation
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t pad_begin = 0;  ///< ignored unless auto_pad is NotSet
  std::int64_t pad_end = 0;
  AutoPad auto_pad = AutoPad::NotSet;
  Rounding rounding = Rounding::Floor;
};

/// Number of window positions over an axis of extent `input`. With Ceil, the
/// last window must start inside the input or its leading padding (ONNX
/// MaxPool). An error when not even one window fits.
Result<Dim> window_extent(const InferContext&, const Dim& input, const Window&);

}  // namespace perfc::rules
