#pragma once
/// From syntax to values: types, lists, attributes. Used by the parser only.
#include "ir/attrs.h"
#include "ir/support/diagnostics.h"
#include "ir/text/grammar.h"

namespace perfc::text {

/// Reports at a place in the source.
class Messages {
 public:
  virtual Failure error(const char* at, std::string message) = 0;

 protected:
  ~Messages() = default;
};

/// Digits as a number below 2³²; nothing when there are others or too many.
std::optional<std::uint32_t> number(std::string_view digits);

Result<std::string> name(Word, Messages&);  ///< identifier or string, "" when absent
Result<Type> type(const TypeText&, Messages&);
Result<DataRef> contents(const List&, Messages&);
/// A tensor constant; `list` null: without contents. Checks that they fit the type.
Result<Literal> literal(const List* list, const TypeText&, Messages&);
Result<Attr> attribute(const AttributeText&, Messages&);

/// Reports when known contents cannot be those of a value of this type.
Status check_contents(const Data&, const Type&, const char* at, Messages&);

}  // namespace perfc::text
