#pragma once
/// Propagated contents, literals and named attributes.
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "ir/types.h"

namespace perfc {

/// Elements of a small tensor in row-major order, as far as they are known.
/// Integers and bools may be partly known (shape arithmetic on symbolic dims);
/// floats and strings are known or absent as a whole. uint64 is kept as its
/// two's complement in int64.
struct Data {
  /// Tensors with more elements than this never carry contents.
  static constexpr std::int64_t kMaxElements = 4096;

  std::variant<std::vector<SymInt>, std::vector<double>, std::vector<std::string>> elements;

  const std::vector<SymInt>* ints() const { return std::get_if<0>(&elements); }
  const std::vector<double>* floats() const { return std::get_if<1>(&elements); }
  const std::vector<std::string>* strings() const { return std::get_if<2>(&elements); }
  std::size_t size() const;
  bool fully_known() const;                                     ///< no symbolic or unknown element
  std::optional<std::vector<std::int64_t>> known_ints() const;  ///< of integers and bools that are fully known
  friend bool operator==(const Data&, const Data&);             ///< floats compare by bits (NaN == NaN)
};
using DataRef = std::shared_ptr<const Data>;

/// A tensor constant: its type, and its contents when they were read.
struct Literal {
  Type type;
  DataRef data;
  friend bool operator==(const Literal& a, const Literal& b);
};

/// A rank-1 int64 literal, or a scalar.
Literal int64_vector(const std::vector<std::int64_t>& values);
Literal int64_scalar(std::int64_t value);
Literal float_scalar(double value, DType dtype = DType::Float32);

using Attr = std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>, std::vector<double>,
                          std::vector<std::string>, Literal, Type>;
bool attr_equal(const Attr& a, const Attr& b);

/// Name → value, sorted by name. Copies share their entries until one of them
/// is changed: rebuilding a graph does not copy attributes.
class Attrs {
 public:
  using Entry = std::pair<std::string, Attr>;
  Attrs() = default;
  Attrs(std::initializer_list<Entry> entries);

  void set(std::string_view name, Attr value);
  void erase(std::string_view name);
  const Attr* find(std::string_view name) const;
  bool has(std::string_view name) const { return find(name) != nullptr; }

  /// Typed look-ups; the fallback stands in when the name is absent or has
  /// another kind. `ints_or_empty` also accepts a single integer.
  std::int64_t int_or(std::string_view name, std::int64_t fallback) const;
  double float_or(std::string_view name, double fallback) const;
  std::string_view string_or(std::string_view name, std::string_view fallback) const;
  std::vector<std::int64_t> ints_or_empty(std::string_view name) const;
  /// Attributes that name an element type hold its name as a string
  /// (`to="float16"`, `dtype="int64"`, `output_dtype`, `output_datatype`, `stash_type`);
  /// front ends convert their own numbering.
  DType dtype_or(std::string_view name, DType fallback) const;

  auto begin() const { return entries().begin(); }
  auto end() const { return entries().end(); }
  std::size_t size() const { return entries().size(); }
  friend bool operator==(const Attrs& a, const Attrs& b);

 private:
  const std::vector<Entry>& entries() const;
  std::vector<Entry>& own();  ///< entries that no copy shares

  std::shared_ptr<std::vector<Entry>> entries_;  ///< null: none
};

}  // namespace perfc
