#pragma once
/// Element types, dimensions and value types of the IR.
///
/// Every value has a `Type` from birth. A dimension is known, symbolic (named)
/// or unknown; it is never −1. Ranks may be unknown too.
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace perfc {

/// Element types: all of ONNX 1.23. The order is private; text forms use names.
enum class DType : std::uint8_t {
  Undefined,
  Float32,
  Float64,
  Float16,
  BFloat16,
  Float8E4M3FN,
  Float8E4M3FNUZ,
  Float8E5M2,
  Float8E5M2FNUZ,
  Float8E8M0,
  Float6E2M3,
  Float6E3M2,
  Float4E2M1,
  Int2,
  Int4,
  Int8,
  Int16,
  Int32,
  Int64,
  UInt2,
  UInt4,
  UInt8,
  UInt16,
  UInt32,
  UInt64,
  Bool,
  String,
  Complex64,
  Complex128,
};

std::string_view name(DType);  ///< "float32", "int4", "bool", …
std::optional<DType> dtype_from_name(std::string_view);
int bits(DType);         ///< storage bits per element; String: 64
bool is_float(DType);    ///< real floating point, fp8/fp6/fp4 included
bool is_integer(DType);  ///< signed or unsigned, without Bool

/// Bytes of `count` elements, sub-byte types packed.
double byte_size(DType, double count);

/// An integer that may be known only by name, or not at all. Used for
/// dimensions (then ≥ 0) and for propagated shape arithmetic (any sign).
class SymInt {
 public:
  SymInt() = default;                                                ///< unknown
  SymInt(std::int64_t value) : value_(value), kind_(Kind::Known) {}  // NOLINT: implicit
  static SymInt unknown() { return {}; }
  static SymInt symbol(std::string_view name);  ///< same name, same symbol

  bool known() const { return kind_ == Kind::Known; }
  bool symbolic() const { return kind_ == Kind::Symbol; }
  std::int64_t value() const { return value_; }  ///< only if known()
  const std::string& symbol_name() const;        ///< only if symbolic()
  bool is(std::int64_t v) const { return known() && value_ == v; }

  /// Same known value or same symbol; two unknowns are equal as terms.
  friend bool operator==(const SymInt&, const SymInt&) = default;

 private:
  enum class Kind : std::uint8_t { Unknown, Known, Symbol };
  std::int64_t value_ = 0;  // value, or index of the interned name
  Kind kind_ = Kind::Unknown;
};
using Dim = SymInt;
using Shape = boost::container::small_vector<Dim, 5>;

std::string to_string(const Dim&);    ///< "224", "batch", "?"
std::string to_string(const Shape&);  ///< "(1, 3, ?, W)"

/// Product of the dims when all are known and it fits; saturates never, fails instead.
std::optional<std::int64_t> element_count(const Shape&);

/// An axis as it is written, from the end where negative, counted from the start; nothing beyond `rank`.
std::optional<std::size_t> normalized_axis(std::int64_t axis, std::size_t rank);

enum class TypeKind : std::uint8_t { None, Tensor, SparseTensor, Sequence, Optional, Map, Opaque };

/// The type of a value. `None` marks an untyped value, which the verifier refuses.
class Type {
 public:
  Type() = default;
  static Type tensor(DType dtype, Shape shape);
  static Type unranked(DType dtype);  ///< tensor of unknown rank
  static Type sparse(DType dtype, Shape shape);
  static Type sequence(Type element);
  static Type optional(Type element);
  static Type map(DType key, Type value);
  static Type opaque(std::string name);

  TypeKind kind() const { return kind_; }
  bool is_tensor() const { return kind_ == TypeKind::Tensor || kind_ == TypeKind::SparseTensor; }
  explicit operator bool() const { return kind_ != TypeKind::None; }

  DType dtype() const { return dtype_; }  ///< tensors; key type of maps
  bool ranked() const { return ranked_; }
  const Shape& shape() const { return shape_; }  ///< only if ranked()
  std::size_t rank() const { return shape_.size(); }
  const Type& element() const;  ///< sequence, optional, map value
  const std::string& opaque_name() const { return *name_; }

  /// Tensor whose dims are all known (a rank-0 tensor is static). For
  /// containers: their element is static.
  bool is_static() const;
  /// Elements of a static tensor.
  std::optional<std::int64_t> elements() const;
  /// Bytes of a static tensor; 0 when not static or not a tensor.
  double bytes() const;

  Type with_dtype(DType) const;

  friend bool operator==(const Type&, const Type&);

 private:
  TypeKind kind_ = TypeKind::None;
  DType dtype_ = DType::Undefined;
  bool ranked_ = false;
  Shape shape_;
  std::shared_ptr<const Type> element_;
  std::shared_ptr<const std::string> name_;
};

std::string to_string(const Type&);  ///< "Tensor[(1, 3), float32]"

/// What `inferred` and `declared` say together: the more precise of each part.
/// Where they contradict, `inferred` wins and `*conflict` (if given) is set.
Type merge(const Type& inferred, const Type& declared, bool* conflict = nullptr);

/// The type that covers both (for branches): differing dims become unknown.
/// None when kinds or dtypes differ.
Type join(const Type& a, const Type& b);

}  // namespace perfc
