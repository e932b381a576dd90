#pragma once
/// What a name of a PyTorch program stands for while it is imported.
///
/// Numbers, strings, lists and tuples exist at import only: lists are resolved,
/// arithmetic on known numbers is done. A number that was computed from a shape
/// also knows the IR value that computes it, so that shapes follow the batch.
///
/// Tensors have PyTorch's identity: several may share memory as views of one
/// storage, and in-place operators write to it. The IR is functional, so a
/// write gives the storage a new value; a view whose storage has changed is
/// computed anew when it is read next, and a write to a view scatters into what
/// it is a view of (as torch.func.functionalize does).
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "ir/builder.h"

namespace perfc::torch {

/// One call of a chain of views: `op` on what it looks at and on `operands`.
struct ViewStep {
  OpId op;
  std::vector<ValueId> operands;  ///< after the first
  Attrs attrs;
  Type from;  ///< what it looks at
};

struct Storage {
  ValueId value;
  std::uint32_t version = 0;  ///< number of writes so far
};

struct Tensor {
  std::shared_ptr<Storage> storage;
  std::vector<ViewStep> views;  ///< from the storage's value to this one's
  ValueId value;                ///< as of `version`
  std::uint32_t version = 0;
  bool recast = false;  ///< cast to the type that it has (ir/eager_marks.h, kRecast)
};
using TensorRef = std::shared_ptr<Tensor>;

/// An int, float or bool of Python.
struct Scalar {
  DType dtype = DType::Int64;  ///< Int64, Float64 or Bool
  SymInt integer;              ///< ints and bools (0, 1): as far as known
  std::optional<double> real;  ///< floats, when known
  ValueId origin;              ///< vector of one element that computes it; empty: a literal, or
  ValueId shape_of;            ///< this dim of that tensor
  std::int64_t axis = 0;
  /// What it is at least, where it is not known: an extent that data decides is taken to be 1 or more
  /// (docs/dynamic.md).
  std::int64_t at_least = INT64_MIN;

  static Scalar of(std::int64_t v) { return {.integer = v}; }
  static Scalar of(double v) { return {.dtype = DType::Float64, .real = v}; }
  static Scalar truth(bool v) { return {.dtype = DType::Bool, .integer = v ? 1 : 0}; }
  bool is_float() const { return dtype == DType::Float64; }
  bool literal() const { return !origin && !shape_of; }
  bool known() const { return is_float() ? real.has_value() : integer.known(); }
  /// The number, if known.
  std::optional<double> number() const;
};

struct Value;
struct List {
  enum class Kind : std::uint8_t { List, Tuple } kind = Kind::List;
  std::shared_ptr<std::vector<Value>> items;  ///< shared: lists are references
};
struct Dict {
  std::shared_ptr<std::vector<std::pair<Value, Value>>> items;
};
/// Devices, layouts, generators, module objects: nothing computes with them.
struct PythonObject {
  std::string text;
};
struct NoneValue {};

struct Value {
  std::variant<std::monostate, NoneValue, TensorRef, Scalar, std::string, List, Dict, PythonObject> v;

  Value() = default;
  Value(TensorRef t) : v(std::move(t)) {}     // NOLINT: implicit
  Value(Scalar s) : v(std::move(s)) {}        // NOLINT: implicit
  Value(List l) : v(std::move(l)) {}          // NOLINT: implicit
  Value(Dict d) : v(std::move(d)) {}          // NOLINT: implicit
  Value(PythonObject o) : v(std::move(o)) {}  // NOLINT: implicit
  static Value none() { return from(NoneValue{}); }
  static Value text(std::string s) { return from(std::move(s)); }
  static Value list(std::vector<Value> items, List::Kind kind = List::Kind::List);

  bool given() const { return v.index() != 0; }
  bool is_none() const { return std::holds_alternative<NoneValue>(v); }
  const TensorRef* tensor() const { return std::get_if<TensorRef>(&v); }
  const Scalar* scalar() const { return std::get_if<Scalar>(&v); }
  const std::string* string() const { return std::get_if<std::string>(&v); }
  const List* list() const { return std::get_if<List>(&v); }
  const Dict* dict() const { return std::get_if<Dict>(&v); }
  const PythonObject* object() const { return std::get_if<PythonObject>(&v); }
  /// "a tensor", "an int", "None", for messages.
  std::string_view kind() const;

 private:
  template <class T>
  static Value from(T x) {
    Value r;
    r.v = std::move(x);
    return r;
  }
};

/// Lists hold lists, and none of that costs a hostile file anything: is what
/// hangs together here small enough to be walked (every item as often as it is
/// reached), and free of cycles?
bool is_bounded(const Value& v);

}  // namespace perfc::torch
