/// Types, literals and attributes of MLIR text.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "frontends/common/raw_data.h"
#include "frontends/stablehlo/cursor.h"
#include "frontends/stablehlo/module.h"

namespace perfc::stablehlo {
namespace {

constexpr std::size_t kMaxRank = 64;

struct ElementType {
  std::string_view name;
  DType dtype;
};
/// MLIR's names (mlir/docs/Dialects/Builtin.md; StableHLO's spec.md, "Types").
constexpr std::array kElementTypes{
    ElementType{"f32", DType::Float32},
    ElementType{"f64", DType::Float64},
    ElementType{"f16", DType::Float16},
    ElementType{"bf16", DType::BFloat16},
    ElementType{"tf32", DType::Float32},
    ElementType{"f8E4M3FN", DType::Float8E4M3FN},
    ElementType{"f8E4M3", DType::Float8E4M3FN},
    ElementType{"f8E4M3FNUZ", DType::Float8E4M3FNUZ},
    ElementType{"f8E4M3B11FNUZ", DType::Float8E4M3FNUZ},
    ElementType{"f8E3M4", DType::Float8E4M3FN},
    ElementType{"f8E5M2", DType::Float8E5M2},
    ElementType{"f8E5M2FNUZ", DType::Float8E5M2FNUZ},
    ElementType{"f8E8M0FNU", DType::Float8E8M0},
    ElementType{"f6E2M3FN", DType::Float6E2M3},
    ElementType{"f6E3M2FN", DType::Float6E3M2},
    ElementType{"f4E2M1FN", DType::Float4E2M1},
    ElementType{"i1", DType::Bool},
    ElementType{"i2", DType::Int2},
    ElementType{"i4", DType::Int4},
    ElementType{"i8", DType::Int8},
    ElementType{"i16", DType::Int16},
    ElementType{"i32", DType::Int32},
    ElementType{"i64", DType::Int64},
    ElementType{"si8", DType::Int8},
    ElementType{"si16", DType::Int16},
    ElementType{"si32", DType::Int32},
    ElementType{"si64", DType::Int64},
    ElementType{"ui2", DType::UInt2},
    ElementType{"ui4", DType::UInt4},
    ElementType{"ui8", DType::UInt8},
    ElementType{"ui16", DType::UInt16},
    ElementType{"ui32", DType::UInt32},
    ElementType{"ui64", DType::UInt64},
    ElementType{"index", DType::Int64},
    ElementType{"complex<f32>", DType::Complex64},
    ElementType{"complex<f64>", DType::Complex128},
};

std::optional<DType> element_type(std::string_view name) {
  // !quant.uniform<i8:f32, 0.1:-30>: how it is stored.
  constexpr std::string_view kQuantized = "!quant.uniform<";
  if (name.starts_with(kQuantized)) {
    name.remove_prefix(kQuantized.size());
    name = name.substr(0, name.find_first_of(":<"));
  }
  const auto it = std::ranges::find(kElementTypes, name, &ElementType::name);
  return it == kElementTypes.end() ? std::nullopt : std::optional(it->dtype);
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

/// Inside of tensor<…>: "8x?x3xf32, encoding".
std::optional<Type> tensor_type(std::string_view inside) {
  Shape shape;
  if (inside.starts_with("*x")) {
    const auto dtype = element_type(trimmed(inside.substr(2)));
    return dtype ? std::optional(Type::unranked(*dtype)) : std::nullopt;
  }
  for (;;) {
    if (inside.starts_with("?x")) {
      shape.push_back(Dim::unknown());
      inside.remove_prefix(2);
    } else {
      std::int64_t extent = 0;
      const auto [end, code] = std::from_chars(inside.data(), inside.data() + inside.size(), extent);
      const auto digits = static_cast<std::size_t>(end - inside.data());
      if (code != std::errc{} || extent < 0 || digits >= inside.size() || *end != 'x') break;
      shape.push_back(extent);
      inside.remove_prefix(digits + 1);
    }
    if (shape.size() > kMaxRank) return std::nullopt;
  }
  Cursor at(inside);
  std::string_view element;
  if (!at.until(",", element)) return std::nullopt;
  const auto dtype = element_type(trimmed(element));
  return dtype ? std::optional(Type::tensor(*dtype, std::move(shape))) : std::nullopt;
}

/// Next of the numbers in a list, brackets between them stepped over.
std::string_view next_element(std::string_view& rest) {
  constexpr std::string_view kBetween = "[](), \t\r\n";
  rest.remove_prefix(std::min(rest.find_first_not_of(kBetween), rest.size()));
  const std::string_view element = rest.substr(0, rest.find_first_of(kBetween));
  rest.remove_prefix(element.size());
  return element;
}

std::optional<std::int64_t> integer(std::string_view text) {
  if (text == "true") return 1;
  if (text == "false") return 0;
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    text.remove_prefix(2);
    base = 16;
  }
  std::uint64_t bits = 0;
  const bool negative = base == 10 && text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), bits, base);
  if (code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return static_cast<std::int64_t>(negative ? 0 - bits : bits);
}

/// "1.0e-05", or the bits of the number: "0xFF800000".
std::optional<double> real(std::string_view text, DType dtype) {
  if (text.starts_with("0x")) {
    const auto pattern = integer(text);
    if (!pattern || bits(dtype) < 16) return std::nullopt;
    std::array<char, sizeof *pattern> raw{};
    std::memcpy(raw.data(), &*pattern, raw.size());
    Data data;
    read_raw({raw.data(), raw.size()}, dtype, 1, data);
    return data.floats() ? std::optional((*data.floats())[0]) : std::nullopt;
  }
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = end == text.data() + text.size();
  return whole && code != std::errc::invalid_argument ? std::optional(value) : std::nullopt;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/// dense<"0x…">: the elements' bytes, little-endian; those of one element where all are equal.
std::optional<Dense> from_hex(std::string_view digits, DType dtype, std::int64_t count) {
  const auto width = static_cast<std::size_t>(bits(dtype)) / 8;
  if (width == 0 || digits.size() % 2 != 0) return Dense{};
  Dense out{.data = nullptr, .splat = count > 1 && digits.size() / 2 == width};
  const std::int64_t held = out.splat ? 1 : count;
  if (!keeps_contents(dtype, held) || dtype == DType::Bool) return Dense{};
  if (digits.size() / 2 != static_cast<std::size_t>(held) * width) return std::nullopt;
  std::string raw;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const int high = hex_digit(digits[i]), low = hex_digit(digits[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    raw += static_cast<char>(high << 4 | low);
  }
  auto data = std::make_shared<Data>();
  read_raw(raw, dtype, held, *data);
  out.data = std::move(data);
  return out;
}

std::optional<Dense> from_elements(std::string_view text, DType dtype, std::int64_t count) {
  std::string_view first = text;
  const bool splat = count != 1 && !trimmed(text).starts_with('[');
  const std::int64_t held = splat ? 1 : count;
  if (held == 0 || !keeps_contents(dtype, held)) return Dense{};
  auto data = std::make_shared<Data>();
  if (is_float(dtype)) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < held; ++i) {
      const auto value = real(next_element(first), dtype);
      if (!value) return std::nullopt;
      values.push_back(*value);
    }
    data->elements = std::move(values);
  } else {
    std::vector<SymInt> values;
    for (std::int64_t i = 0; i < held; ++i) {
      const auto value = integer(next_element(first));
      if (!value) return std::nullopt;
      values.emplace_back(*value);
    }
    data->elements = std::move(values);
  }
  return Dense{.data = std::move(data), .splat = splat};
}

/// What "name<…>", "{…}" hold; other text as it is.
std::string_view inside_of(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with('#') || text.starts_with('<') || text.starts_with("array<")) {
    const auto open = text.find('<');
    const auto close = text.rfind('>');
    return open == text.npos || close <= open || close == text.npos ? text : text.substr(open + 1, close - open - 1);
  }
  if (text.size() >= 2 && text.starts_with('{') && text.ends_with('}')) return text.substr(1, text.size() - 2);
  return text;
}

}  // namespace

std::string_view unquoted(std::string_view text) {
  text = trimmed(text);
  return text.size() >= 2 && text.front() == '"' && text.back() == '"' ? text.substr(1, text.size() - 2) : text;
}

std::optional<std::string_view> field(std::string_view text, std::string_view key) {
  Cursor at(inside_of(text));
  for (;;) {
    at.skip();
    if (at.at_end()) return std::nullopt;
    std::string_view name, value;
    if (at.peek() == '"') {
      if (!at.string(name)) return std::nullopt;
    } else {
      name = at.word();
    }
    at.skip();
    if (at.take("=") && !at.until(",", value)) return std::nullopt;
    if (name == key) return trimmed(value);
    if (!at.take(",")) return std::nullopt;
  }
}

std::optional<std::vector<std::int64_t>> integers(std::string_view text) {
  text = trimmed(text);
  std::int64_t copies = 1;
  if (text.starts_with("array<")) {
    text = inside_of(text);
    const auto colon = text.find(':');
    text = colon == text.npos ? std::string_view() : text.substr(colon + 1);
  } else if (text.starts_with("dense<")) {
    const auto close = text.rfind("> :");
    if (close == text.npos) return std::nullopt;
    std::string_view type = trimmed(text.substr(close + 3));
    const auto tensor = take_type(type);
    text = text.substr(6, close - 6);
    if (!tensor || !tensor->is_static() || *tensor->elements() > Data::kMaxElements) return std::nullopt;
    if (!trimmed(text).starts_with('[')) copies = *tensor->elements();
  } else if (text.find('[') == text.npos) {
    text = text.substr(0, text.find(':'));
  }
  std::vector<std::int64_t> out;
  for (std::string_view element = next_element(text); !element.empty(); element = next_element(text)) {
    const auto value = integer(element);
    if (!value) return std::nullopt;
    out.push_back(*value);
  }
  if (copies != 1 && out.size() == 1) out.assign(static_cast<std::size_t>(copies), out[0]);
  return out;
}

std::optional<Type> take_type(std::string_view& text) {
  Cursor at(text);
  const bool dialect = at.take("!");
  const std::string_view word = at.word();
  if (word.empty()) return std::nullopt;
  std::string_view brackets;
  if (at.peek() == '<' && !at.balanced(brackets)) return std::nullopt;
  const std::string_view whole = at.since(0);
  text = at.rest();
  if (dialect || word == "tuple") return Type::opaque(std::string(whole));
  if (word == "tensor" || word == "vector" || word == "memref")
    return brackets.size() < 2 ? std::nullopt : tensor_type(brackets.substr(1, brackets.size() - 2));
  const auto dtype = element_type(whole);
  return dtype ? std::optional(Type::tensor(*dtype, {})) : std::nullopt;
}

std::optional<Dense> dense_contents(std::string_view text, const Type& type) {
  const auto count = type.elements();
  text = trimmed(text);
  constexpr std::string_view kDense = "dense<";
  if (!text.starts_with(kDense)) return Dense{};  // dense_resource, sparse: contents are elsewhere
  if (!text.ends_with('>')) return std::nullopt;
  text = trimmed(text.substr(kDense.size(), text.size() - kDense.size() - 1));
  if (!count || *count == 0 || text.find("(") == 0) return Dense{};
  if (text.starts_with('"')) {
    const std::string_view digits = unquoted(text);
    if (!digits.starts_with("0x")) return Dense{};
    return from_hex(digits.substr(2), type.dtype(), *count);
  }
  return from_elements(text, type.dtype(), *count);
}

}  // namespace perfc::stablehlo
