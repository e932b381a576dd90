#include "ir/types.h"

#include <fmt/format.h>

#include <array>
#include <cassert>
#include <deque>
#include <mutex>
#include <unordered_map>

#include "ir/symbol_scope.h"

namespace perfc {
namespace {

struct DTypeRow {
  DType dtype;
  std::string_view name;
  int bits;
  enum Class { None, Float, Integer, Other } cls;
};

constexpr std::array<DTypeRow, 29> kDTypes{{
    {DType::Undefined, "undefined", 0, DTypeRow::None},
    {DType::Float32, "float32", 32, DTypeRow::Float},
    {DType::Float64, "float64", 64, DTypeRow::Float},
    {DType::Float16, "float16", 16, DTypeRow::Float},
    {DType::BFloat16, "bfloat16", 16, DTypeRow::Float},
    {DType::Float8E4M3FN, "float8e4m3fn", 8, DTypeRow::Float},
    {DType::Float8E4M3FNUZ, "float8e4m3fnuz", 8, DTypeRow::Float},
    {DType::Float8E5M2, "float8e5m2", 8, DTypeRow::Float},
    {DType::Float8E5M2FNUZ, "float8e5m2fnuz", 8, DTypeRow::Float},
    {DType::Float8E8M0, "float8e8m0", 8, DTypeRow::Float},
    {DType::Float6E2M3, "float6e2m3", 6, DTypeRow::Float},
    {DType::Float6E3M2, "float6e3m2", 6, DTypeRow::Float},
    {DType::Float4E2M1, "float4e2m1", 4, DTypeRow::Float},
    {DType::Int2, "int2", 2, DTypeRow::Integer},
    {DType::Int4, "int4", 4, DTypeRow::Integer},
    {DType::Int8, "int8", 8, DTypeRow::Integer},
    {DType::Int16, "int16", 16, DTypeRow::Integer},
    {DType::Int32, "int32", 32, DTypeRow::Integer},
    {DType::Int64, "int64", 64, DTypeRow::Integer},
    {DType::UInt2, "uint2", 2, DTypeRow::Integer},
    {DType::UInt4, "uint4", 4, DTypeRow::Integer},
    {DType::UInt8, "uint8", 8, DTypeRow::Integer},
    {DType::UInt16, "uint16", 16, DTypeRow::Integer},
    {DType::UInt32, "uint32", 32, DTypeRow::Integer},
    {DType::UInt64, "uint64", 64, DTypeRow::Integer},
    {DType::Bool, "bool", 8, DTypeRow::Other},
    {DType::String, "string", 64, DTypeRow::Other},
    {DType::Complex64, "complex64", 64, DTypeRow::Other},
    {DType::Complex128, "complex128", 128, DTypeRow::Other},
}};

constexpr const DTypeRow& row(DType d) { return kDTypes[static_cast<std::size_t>(d)]; }

/// Names by number; append-only, so references stay valid.
struct SymbolNames {
  std::deque<std::string> names;
  std::unordered_map<std::string_view, std::int64_t> index;

  std::optional<std::int64_t> find(std::string_view name) const {
    const auto it = index.find(name);
    return it == index.end() ? std::nullopt : std::optional(it->second);
  }
  std::int64_t number_of(std::string_view name) {
    if (const auto known = find(name)) return *known;
    names.emplace_back(name);
    return index.emplace(names.back(), static_cast<std::int64_t>(names.size()) - 1).first->second;
  }
};

/// The process's.
struct SymbolPool {
  std::mutex mutex;
  SymbolNames symbols;
};
SymbolPool& pool() {
  static SymbolPool p;
  return p;
}

/// Numbers of a scope's symbols begin here.
constexpr std::int64_t kFirstOfScope = std::int64_t{1} << 48;

/// Of the thread's scope; null: it has none.
thread_local std::unique_ptr<SymbolNames> names_of_scope;

}  // namespace

std::string_view name(DType d) { return row(d).name; }
int bits(DType d) { return row(d).bits; }
bool is_float(DType d) { return row(d).cls == DTypeRow::Float; }
bool is_integer(DType d) { return row(d).cls == DTypeRow::Integer; }
std::optional<DType> dtype_from_name(std::string_view text) {
  for (const DTypeRow& r : kDTypes) {
    if (r.name == text) return r.dtype;
  }
  return std::nullopt;
}
double byte_size(DType d, double count) { return count * bits(d) / 8.0; }

SymbolScope::SymbolScope() {
  assert(!names_of_scope);
  names_of_scope = std::make_unique<SymbolNames>();
}
SymbolScope::~SymbolScope() { names_of_scope.reset(); }

SymInt SymInt::symbol(std::string_view name) {
  SymInt s;
  s.kind_ = Kind::Symbol;
  SymbolPool& p = pool();
  std::lock_guard lock(p.mutex);
  const std::optional<std::int64_t> known = names_of_scope ? p.symbols.find(name) : p.symbols.number_of(name);
  s.value_ = known ? *known : kFirstOfScope + names_of_scope->number_of(name);
  return s;
}

const std::string& SymInt::symbol_name() const {
  assert(symbolic());
  if (value_ >= kFirstOfScope) return names_of_scope->names[static_cast<std::size_t>(value_ - kFirstOfScope)];
  SymbolPool& p = pool();
  std::lock_guard lock(p.mutex);
  return p.symbols.names[static_cast<std::size_t>(value_)];
}

std::string to_string(const Dim& d) {
  if (d.known()) return fmt::format("{}", d.value());
  return d.symbolic() ? d.symbol_name() : "?";
}

std::string to_string(const Shape& shape) {
  std::string out = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i) out += ", ";
    out += to_string(shape[i]);
  }
  return out + (shape.size() == 1 ? ",)" : ")");
}

std::optional<std::int64_t> element_count(const Shape& shape) {
  std::int64_t n = 1;
  for (const Dim& d : shape) {
    if (!d.known() || d.value() < 0 || __builtin_mul_overflow(n, d.value(), &n)) return std::nullopt;
  }
  return n;
}

std::optional<std::size_t> normalized_axis(std::int64_t axis, std::size_t rank) {
  const auto r = static_cast<std::int64_t>(rank);
  if (axis < -r || axis >= r) return std::nullopt;
  return static_cast<std::size_t>(axis < 0 ? axis + r : axis);
}

Type Type::tensor(DType dtype, Shape shape) {
  Type t;
  t.kind_ = TypeKind::Tensor;
  t.dtype_ = dtype;
  t.ranked_ = true;
  t.shape_ = std::move(shape);
  return t;
}
Type Type::unranked(DType dtype) {
  Type t;
  t.kind_ = TypeKind::Tensor;
  t.dtype_ = dtype;
  return t;
}
Type Type::sparse(DType dtype, Shape shape) {
  Type t = tensor(dtype, std::move(shape));
  t.kind_ = TypeKind::SparseTensor;
  return t;
}
Type Type::sequence(Type element) {
  Type t;
  t.kind_ = TypeKind::Sequence;
  t.element_ = std::make_shared<const Type>(std::move(element));
  return t;
}
Type Type::optional(Type element) {
  Type t = sequence(std::move(element));
  t.kind_ = TypeKind::Optional;
  return t;
}
Type Type::map(DType key, Type value) {
  Type t = sequence(std::move(value));
  t.kind_ = TypeKind::Map;
  t.dtype_ = key;
  return t;
}
Type Type::opaque(std::string name) {
  Type t;
  t.kind_ = TypeKind::Opaque;
  t.name_ = std::make_shared<const std::string>(std::move(name));
  return t;
}

const Type& Type::element() const {
  assert(element_);
  return *element_;
}

bool Type::is_static() const {
  switch (kind_) {
    case TypeKind::Tensor:
    case TypeKind::SparseTensor:
      return ranked_ && dtype_ != DType::Undefined && element_count(shape_).has_value();
    case TypeKind::Sequence:
    case TypeKind::Optional:
    case TypeKind::Map:
      return element_->is_static();
    case TypeKind::Opaque:
      return true;
    case TypeKind::None:
      return false;
  }
  return false;
}

std::optional<std::int64_t> Type::elements() const {
  if (!is_tensor() || !ranked_) return std::nullopt;
  return element_count(shape_);
}

double Type::bytes() const {
  const auto n = elements();
  return n ? byte_size(dtype_, static_cast<double>(*n)) : 0.0;
}

Type Type::with_dtype(DType dtype) const {
  Type t = *this;
  t.dtype_ = dtype;
  return t;
}

bool operator==(const Type& a, const Type& b) {
  if (a.kind_ != b.kind_ || a.dtype_ != b.dtype_ || a.ranked_ != b.ranked_) return false;
  if (a.shape_ != b.shape_) return false;
  if (!a.element_ != !b.element_ || (a.element_ && !(*a.element_ == *b.element_))) return false;
  return !a.name_ == !b.name_ && (!a.name_ || *a.name_ == *b.name_);
}

std::string to_string(const Type& t) {
  switch (t.kind()) {
    case TypeKind::None:
      return "None";
    case TypeKind::Tensor:
    case TypeKind::SparseTensor:
      return fmt::format("{}[{}, {}]", t.kind() == TypeKind::Tensor ? "Tensor" : "SparseTensor",
                         t.ranked() ? to_string(t.shape()) : "*", name(t.dtype()));
    case TypeKind::Sequence:
      return fmt::format("Sequence[{}]", to_string(t.element()));
    case TypeKind::Optional:
      return fmt::format("Optional[{}]", to_string(t.element()));
    case TypeKind::Map:
      return fmt::format("Map[{}, {}]", name(t.dtype()), to_string(t.element()));
    case TypeKind::Opaque:
      return fmt::format("Opaque[{}]", t.opaque_name());
  }
  return "None";
}

Type merge(const Type& inferred, const Type& declared, bool* conflict) {
  const auto contradict = [&] {
    if (conflict) *conflict = true;
    return inferred;
  };
  if (!declared) return inferred;
  if (!inferred) return declared;
  if (inferred.kind() != declared.kind()) return contradict();
  switch (inferred.kind()) {
    case TypeKind::Sequence:
      return Type::sequence(merge(inferred.element(), declared.element(), conflict));
    case TypeKind::Optional:
      return Type::optional(merge(inferred.element(), declared.element(), conflict));
    case TypeKind::Map:
      if (inferred.dtype() != declared.dtype()) return contradict();
      return Type::map(inferred.dtype(), merge(inferred.element(), declared.element(), conflict));
    case TypeKind::Tensor:
    case TypeKind::SparseTensor:
      break;
    default:
      return inferred;
  }
  DType dtype = inferred.dtype();
  if (dtype == DType::Undefined) dtype = declared.dtype();
  if (declared.dtype() != DType::Undefined && declared.dtype() != dtype) return contradict();
  if (!declared.ranked()) return inferred.with_dtype(dtype);
  if (!inferred.ranked()) return declared.with_dtype(dtype);
  if (inferred.rank() != declared.rank()) return contradict();
  Shape shape = inferred.shape();
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const Dim& d = declared.shape()[i];
    if (shape[i].known()) {
      if (d.known() && d != shape[i]) return contradict();
    } else if (d.known() || (d.symbolic() && !shape[i].symbolic())) {
      shape[i] = d;
    }
  }
  return inferred.kind() == TypeKind::Tensor ? Type::tensor(dtype, std::move(shape))
                                             : Type::sparse(dtype, std::move(shape));
}

Type join(const Type& a, const Type& b) {
  if (a == b) return a;
  if (a.kind() != b.kind()) {
    if (a.kind() == TypeKind::Optional && !(b.kind() == TypeKind::Optional)) {
      const Type e = join(a.element(), b);
      return e ? Type::optional(e) : Type{};
    }
    if (b.kind() == TypeKind::Optional) return join(b, a);
    return {};
  }
  switch (a.kind()) {
    case TypeKind::Sequence:
    case TypeKind::Optional: {
      const Type e = join(a.element(), b.element());
      if (!e) return {};
      return a.kind() == TypeKind::Sequence ? Type::sequence(e) : Type::optional(e);
    }
    case TypeKind::Tensor:
    case TypeKind::SparseTensor:
      break;
    default:
      return {};
  }
  if (a.dtype() != b.dtype()) return {};
  if (!a.ranked() || !b.ranked() || a.rank() != b.rank()) return Type::unranked(a.dtype());
  Shape shape = a.shape();
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != b.shape()[i]) shape[i] = Dim::unknown();
  }
  return a.kind() == TypeKind::Tensor ? Type::tensor(a.dtype(), std::move(shape))
                                      : Type::sparse(a.dtype(), std::move(shape));
}

}  // namespace perfc
