#include "ir/text/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "ir/text/lexical.h"
#include "ir/text/parser.h"

namespace perfc::text {
namespace {

enum class ElementKind { Int, Real, Text };

std::string_view plural(ElementKind k) {
  return k == ElementKind::Int ? "integers" : k == ElementKind::Real ? "reals" : "strings";
}

bool looks_real(std::string_view number) { return number.find_first_of(".eEn") != std::string_view::npos; }

/// `inf` and `nan` are spelled like symbols.
bool is_real(const Scalar& s) {
  return (s.kind == Scalar::Kind::Number && looks_real(s.text)) ||
         (s.kind == Scalar::Kind::Symbol && (s.text == "inf" || s.text == "nan"));
}

ElementKind kind_of(const Scalar& s) {
  if (s.kind == Scalar::Kind::String) return ElementKind::Text;
  return is_real(s) ? ElementKind::Real : ElementKind::Int;
}

Result<std::int64_t> integer(const Scalar& s, Messages& m) {
  std::int64_t value = 0;
  if (s.kind != Scalar::Kind::Number || looks_real(s.text)) {
    return m.error(s.text.data(), fmt::format("an integer belongs here, not '{}'", s.text));
  }
  const auto [end, error] = std::from_chars(s.text.data(), s.text.data() + s.text.size(), value);
  if (error != std::errc{} || end != s.text.data() + s.text.size()) {
    return m.error(s.text.data(), fmt::format("{} does not fit into 64 bits", s.text));
  }
  return value;
}

Result<double> real_value(const Scalar& s, Messages& m) {
  if (const auto value = parse_real(s.text)) return *value;
  return m.error(s.text.data(), fmt::format("{} is no 64-bit floating-point number", s.text));
}

Result<std::string> string(std::string_view token, Messages& m) {
  if (auto value = unquoted(token)) return std::move(*value);
  return m.error(token.data(), R"(unknown escape in string; there are \n \t \\ \" \' \xHH)");
}

Result<SymInt> sym_int(const Scalar& s, Messages& m) {
  switch (s.kind) {
    case Scalar::Kind::Unknown:
      return SymInt::unknown();
    case Scalar::Kind::Symbol:
      return SymInt::symbol(s.text);
    case Scalar::Kind::QuotedSymbol: {
      auto text = string(s.text, m);
      if (!text) return Failure{};
      return SymInt::symbol(*text);
    }
    default: {
      auto value = integer(s, m);
      if (!value) return Failure{};
      return SymInt(*value);
    }
  }
}

/// All elements converted; stops at the first that cannot be.
template <class T, class Convert>
Result<std::vector<T>> convert(const List& list, Messages& m, Convert element) {
  std::vector<T> out;
  out.reserve(list.elements.size());
  for (const Scalar& s : list.elements) {
    auto value = element(s, m);
    if (!value) return Failure{};
    out.push_back(std::move(*value));
  }
  return out;
}

Result<std::string> string_element(const Scalar& s, Messages& m) { return string(s.text, m); }

/// What the list holds; reports elements of different kinds.
Result<ElementKind> element_kind(const List& list, Messages& m) {
  ElementKind kind = list.elements.empty() ? ElementKind::Int : kind_of(list.elements.front());
  if (list.kind) {
    kind = list.kind.text == "ints"     ? ElementKind::Int
           : list.kind.text == "floats" ? ElementKind::Real
                                        : ElementKind::Text;
  }
  for (const Scalar& s : list.elements) {
    if (kind_of(s) == kind) continue;
    const bool integer_among_reals = kind == ElementKind::Real && s.kind == Scalar::Kind::Number;
    return m.error(s.text.data(), fmt::format("{} does not belong into a list of {}{}", s.text, plural(kind),
                                              integer_among_reals ? fmt::format("; write {}.0", s.text) : ""));
  }
  return kind;
}

Result<DType> dtype(Word word, Messages& m) {
  if (const auto d = dtype_from_name(word.text)) return *d;
  std::vector<std::string> names;
  for (int i = 0; i <= static_cast<int>(DType::Complex128); ++i) {
    names.emplace_back(perfc::name(static_cast<DType>(i)));
  }
  const std::string near = did_you_mean(word.text, names);
  return m.error(word.text.data(), fmt::format("unknown element type '{}'{}", word.text,
                                               near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near)));
}

Result<Type> leaf(const TypeText& t, Messages& m) {
  if (t.keyword.text == "None") return Type{};
  if (t.keyword.text == "Opaque") {
    auto text = text::name(t.name, m);
    if (!text) return Failure{};
    return Type::opaque(std::move(*text));
  }
  const auto element = dtype(t.dtype, m);
  if (!element) return Failure{};
  if (!t.shape.ranked) {
    if (t.keyword.text == "Tensor") return Type::unranked(*element);
    return m.error(t.keyword.text.data(), "a sparse tensor needs a shape");
  }
  Shape shape;
  for (const Scalar& s : t.shape.dims) {
    const auto dim = sym_int(s, m);
    if (!dim) return Failure{};
    if (dim->known() && dim->value() < 0) {
      return m.error(s.text.data(), fmt::format("a dim cannot be {}; '?' stands for an unknown one", s.text));
    }
    shape.push_back(*dim);
  }
  return t.keyword.text == "Tensor" ? Type::tensor(*element, std::move(shape))
                                    : Type::sparse(*element, std::move(shape));
}

}  // namespace

std::optional<std::uint32_t> number(std::string_view digits) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size() || digits.empty()) return std::nullopt;
  return value;
}

Result<std::string> name(Word word, Messages& m) {
  return word.text.starts_with('"') ? string(word.text, m) : Result<std::string>(std::string(word.text));
}

Result<Type> type(const TypeText& t, Messages& m) {
  if (t.wrappers.size() > kMaxTextDepth) {
    return m.error(t.wrappers.front().keyword.text.data(),
                   fmt::format("types are nested deeper than {}", kMaxTextDepth));
  }
  if (t.closed != t.wrappers.size()) {
    const char* at = t.wrappers.empty() ? t.keyword.text.data() : t.wrappers.front().keyword.text.data();
    return m.error(at, fmt::format("this type opens {} '[' and closes {}", t.wrappers.size(), t.closed));
  }
  auto result = leaf(t, m);
  if (!result) return Failure{};
  for (auto wrapper = t.wrappers.rbegin(); wrapper != t.wrappers.rend(); ++wrapper) {
    if (wrapper->keyword.text == "Sequence") {
      result = Type::sequence(std::move(*result));
    } else if (wrapper->keyword.text == "Optional") {
      result = Type::optional(std::move(*result));
    } else {
      const auto key = dtype(wrapper->key, m);
      if (!key) return Failure{};
      result = Type::map(*key, std::move(*result));
    }
  }
  return result;
}

Result<DataRef> contents(const List& list, Messages& m) {
  const auto kind = element_kind(list, m);
  if (!kind) return Failure{};
  if (list.elements.size() > static_cast<std::size_t>(Data::kMaxElements)) {
    return m.error(list.elements.front().text.data(),
                   fmt::format("contents of more than {} elements are not kept; write 'weight'", Data::kMaxElements));
  }
  auto data = std::make_shared<Data>();
  const auto keep = [&](auto elements) -> Result<DataRef> {
    if (!elements) return Failure{};
    data->elements = std::move(*elements);
    return DataRef(std::move(data));
  };
  switch (*kind) {
    case ElementKind::Int:
      return keep(convert<SymInt>(list, m, sym_int));
    case ElementKind::Real:
      return keep(convert<double>(list, m, real_value));
    case ElementKind::Text:
      return keep(convert<std::string>(list, m, string_element));
  }
  return Failure{};
}

Status check_contents(const Data& data, const Type& type, const char* at, Messages& m) {
  const auto elements = type.elements();
  if (elements && *elements != static_cast<std::int64_t>(data.size())) {
    return m.error(at, fmt::format("{} has {} element{}, not {}", to_string(type), *elements, *elements == 1 ? "" : "s",
                                   data.size()));
  }
  const auto* numbers = data.ints();
  const bool named = numbers && std::ranges::any_of(*numbers, [](const SymInt& n) { return !n.known(); });
  if (named && type.is_tensor() && type.dtype() == DType::Bool) return m.error(at, "a bool is written as 1 or 0");
  return ok();
}

Result<Literal> literal(const List* list, const TypeText& t, Messages& m) {
  auto typed = type(t, m);
  if (!typed) return Failure{};
  if (!list) return Literal{std::move(*typed), nullptr};
  auto data = contents(*list, m);
  if (!data || !check_contents(**data, *typed, t.keyword.text.data(), m)) return Failure{};
  return Literal{std::move(*typed), std::move(*data)};
}

Result<Attr> attribute(const AttributeText& a, Messages& m) {
  const auto wrap = [](auto value) -> Result<Attr> {
    if (!value) return Failure{};
    return Attr(std::move(*value));
  };
  switch (a.kind) {
    case AttributeText::Kind::Tensor:
      return wrap(literal(a.list ? &*a.list : nullptr, a.type, m));
    case AttributeText::Kind::Type:
      return wrap(type(a.type, m));
    case AttributeText::Kind::Scalar:
      switch (kind_of(a.scalar)) {
        case ElementKind::Int:
          return wrap(integer(a.scalar, m));
        case ElementKind::Real:
          return wrap(real_value(a.scalar, m));
        case ElementKind::Text:
          return wrap(string(a.scalar.text, m));
      }
      break;
    case AttributeText::Kind::List: {
      const auto kind = element_kind(*a.list, m);
      if (!kind) return Failure{};
      switch (*kind) {
        case ElementKind::Int:
          return wrap(convert<std::int64_t>(*a.list, m, integer));
        case ElementKind::Real:
          return wrap(convert<double>(*a.list, m, real_value));
        case ElementKind::Text:
          return wrap(convert<std::string>(*a.list, m, string_element));
      }
    }
  }
  return Failure{};
}

}  // namespace perfc::text
