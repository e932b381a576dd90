#pragma once
/// The syntax of the text form, statement by statement: text → plain structs
/// that point into it. Says nothing about meaning; `parser.cpp` does.
///
/// Nothing here recurses: a type is a list of wrappers around a leaf, and
/// regions are left to the caller, who reads one header, statement or result
/// list at a time.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace perfc::text {

/// A piece of the source; its place is where its bytes are.
struct Word {
  std::string_view text;
  explicit operator bool() const { return text.data() != nullptr; }
};

struct Scalar {
  enum class Kind { Number, Symbol, QuotedSymbol, Unknown, String };
  Kind kind = Kind::Number;
  std::string_view text;
};

struct List {
  Word kind;  ///< "ints", "floats", "strings"; absent: by the elements
  std::vector<Scalar> elements;
};

/// `Sequence[Map[int64, Tensor[(2,), float32]]]`: wrappers, outermost first, and a leaf.
struct TypeText {
  struct Wrapper {
    Word keyword;
    Word key;  ///< Map only
  };
  std::vector<Wrapper> wrappers;
  struct ShapeText {
    bool ranked = true;
    std::vector<Scalar> dims;
  };
  Word keyword;  ///< Tensor, SparseTensor, Opaque, None
  ShapeText shape;
  Word dtype;
  Word name;               ///< Opaque only
  std::size_t closed = 0;  ///< `]` read for the wrappers
  explicit operator bool() const { return static_cast<bool>(keyword); }
};

/// `%4`, `%x` or `%4.1`.
struct Reference {
  Word name;    ///< without the `%`
  Word result;  ///< digits after the point
};

/// `const[1, 2]: type`, `weight: type`, a list, a scalar or a type.
struct AttributeText {
  enum class Kind { Scalar, List, Type, Tensor };
  Kind kind = Kind::Scalar;
  Scalar scalar;
  std::optional<List> list;  ///< of a list, or of a tensor with contents
  TypeText type;
};

/// An operand, or an attribute with its name.
struct Argument {
  enum class Kind { Omitted, Value, Attribute };
  Kind kind = Kind::Omitted;
  Reference value;
  Word name;
  AttributeText attribute;
};

/// What stands right of the `=`.
struct Definition {
  enum class Kind { Weight, Const, Call };
  Kind kind = Kind::Call;
  Word op;  ///< Call
  std::vector<Argument> arguments;
  List contents;       ///< Const
  bool table = false;  ///< Weight, Const: no parameter of the network
  bool zeros = false;  ///< Weight: 0 throughout
  std::vector<TypeText> types;
  bool typed = false;  ///< Call: says its types
  Word name;
};

struct Statement {
  Reference target;
  Word count;  ///< digits after the colon
  Definition definition;
  bool opens_regions = false;  ///< ended with `{` instead of `;`
};

struct Param {
  Reference target;
  TypeText type;
  Word name;
  std::optional<List> contents;
};

struct ResultText {
  Word name;
  TypeText type;
};

struct Header {
  Word name;
  std::vector<Param> params;
  std::vector<ResultText> results;
  bool has_results = false;
};

struct Returned {
  std::vector<Reference> values;
};

/// Reads constructs one after the other. A `false` means a syntax error, which
/// `error()` describes and `error_at()` places; reading cannot go on then.
class Reader {
 public:
  explicit Reader(std::string_view source) : at_(source.data()), end_(source.data() + source.size()) {}

  /// First character of the next construct; 0 at the end.
  char peek();
  bool version(Word& version);  ///< `#[version = "…"]`
  bool open_file(Header&);      ///< `def @name(…) -> (…) {`
  bool open_region(Header&);    ///< `fn @name(…) -> (…) {`
  bool statement(Statement&);
  bool returned(Returned&);  ///< `(%1, %2) }`
  bool close_regions();      ///< `};`
  bool end_of_file();

  const std::string& error() const { return error_; }
  const char* error_at() const { return error_at_; }

 private:
  template <class Parser, class... Attribute>
  bool read(const Parser&, Attribute&...);

  const char* at_;
  const char* end_;
  std::string error_;
  const char* error_at_ = nullptr;
};

}  // namespace perfc::text
