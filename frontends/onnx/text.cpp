#include "frontends/onnx/text.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "frontends/onnx/proto.h"

namespace perfc::onnx {
namespace {

enum class Kind { Int, Float, Double, Bytes, Message, AttrTypeEnum, LocationEnum };
enum class Msg { Model, Graph, Node, Attribute, Tensor, Segment, ValueInfo, Type, TensorType, Shape,
                 Dimension, Sequence, Map, Opaque, Sparse, Opset, Function, StringPair, Skip };

struct FieldRow {
  std::string_view name;
  std::uint32_t number;
  Kind kind;
  Msg message = Msg::Skip;
};

// clang-format off
constexpr FieldRow kModel[] = {
    {"ir_version", 1, Kind::Int}, {"producer_name", 2, Kind::Bytes}, {"producer_version", 3, Kind::Bytes},
    {"domain", 4, Kind::Bytes}, {"model_version", 5, Kind::Int}, {"doc_string", 6, Kind::Bytes},
    {"graph", 7, Kind::Message, Msg::Graph}, {"opset_import", 8, Kind::Message, Msg::Opset},
    {"metadata_props", 14, Kind::Message, Msg::StringPair}, {"functions", 25, Kind::Message, Msg::Function}};
constexpr FieldRow kGraph[] = {
    {"node", 1, Kind::Message, Msg::Node}, {"name", 2, Kind::Bytes},
    {"initializer", 5, Kind::Message, Msg::Tensor}, {"doc_string", 10, Kind::Bytes},
    {"input", 11, Kind::Message, Msg::ValueInfo}, {"output", 12, Kind::Message, Msg::ValueInfo},
    {"value_info", 13, Kind::Message, Msg::ValueInfo},
    {"sparse_initializer", 15, Kind::Message, Msg::Sparse},
    {"metadata_props", 16, Kind::Message, Msg::StringPair}};
constexpr FieldRow kNode[] = {
    {"input", 1, Kind::Bytes}, {"output", 2, Kind::Bytes}, {"name", 3, Kind::Bytes},
    {"op_type", 4, Kind::Bytes}, {"attribute", 5, Kind::Message, Msg::Attribute},
    {"doc_string", 6, Kind::Bytes}, {"domain", 7, Kind::Bytes}, {"overload", 8, Kind::Bytes},
    {"metadata_props", 9, Kind::Message, Msg::StringPair}};
constexpr FieldRow kAttribute[] = {
    {"name", 1, Kind::Bytes}, {"f", 2, Kind::Float}, {"i", 3, Kind::Int}, {"s", 4, Kind::Bytes},
    {"t", 5, Kind::Message, Msg::Tensor}, {"g", 6, Kind::Message, Msg::Graph},
    {"floats", 7, Kind::Float}, {"ints", 8, Kind::Int}, {"strings", 9, Kind::Bytes},
    {"tensors", 10, Kind::Message, Msg::Tensor}, {"graphs", 11, Kind::Message, Msg::Graph},
    {"doc_string", 13, Kind::Bytes}, {"tp", 14, Kind::Message, Msg::Type},
    {"type_protos", 15, Kind::Message, Msg::Type}, {"type", 20, Kind::AttrTypeEnum},
    {"ref_attr_name", 21, Kind::Bytes}, {"sparse_tensor", 22, Kind::Message, Msg::Sparse},
    {"sparse_tensors", 23, Kind::Message, Msg::Sparse}};
constexpr FieldRow kTensor[] = {
    {"dims", 1, Kind::Int}, {"data_type", 2, Kind::Int}, {"segment", 3, Kind::Message, Msg::Segment},
    {"float_data", 4, Kind::Float}, {"int32_data", 5, Kind::Int}, {"string_data", 6, Kind::Bytes},
    {"int64_data", 7, Kind::Int}, {"name", 8, Kind::Bytes}, {"raw_data", 9, Kind::Bytes},
    {"double_data", 10, Kind::Double}, {"uint64_data", 11, Kind::Int}, {"doc_string", 12, Kind::Bytes},
    {"external_data", 13, Kind::Message, Msg::StringPair}, {"data_location", 14, Kind::LocationEnum}};
constexpr FieldRow kSegment[] = {{"begin", 1, Kind::Int}, {"end", 2, Kind::Int}};
constexpr FieldRow kValueInfo[] = {
    {"name", 1, Kind::Bytes}, {"type", 2, Kind::Message, Msg::Type}, {"doc_string", 3, Kind::Bytes},
    {"metadata_props", 4, Kind::Message, Msg::StringPair}};
constexpr FieldRow kType[] = {
    {"tensor_type", 1, Kind::Message, Msg::TensorType}, {"sequence_type", 4, Kind::Message, Msg::Sequence},
    {"map_type", 5, Kind::Message, Msg::Map}, {"denotation", 6, Kind::Bytes},
    {"opaque_type", 7, Kind::Message, Msg::Opaque}, {"sparse_tensor_type", 8, Kind::Message, Msg::TensorType},
    {"optional_type", 9, Kind::Message, Msg::Sequence}};
constexpr FieldRow kTensorType[] = {{"elem_type", 1, Kind::Int}, {"shape", 2, Kind::Message, Msg::Shape}};
constexpr FieldRow kShape[] = {{"dim", 1, Kind::Message, Msg::Dimension}};
constexpr FieldRow kDimension[] = {
    {"dim_value", 1, Kind::Int}, {"dim_param", 2, Kind::Bytes}, {"denotation", 3, Kind::Bytes}};
constexpr FieldRow kSequence[] = {{"elem_type", 1, Kind::Message, Msg::Type}};
constexpr FieldRow kMap[] = {{"key_type", 1, Kind::Int}, {"value_type", 2, Kind::Message, Msg::Type}};
constexpr FieldRow kOpaque[] = {{"domain", 1, Kind::Bytes}, {"name", 2, Kind::Bytes}};
constexpr FieldRow kSparse[] = {
    {"values", 1, Kind::Message, Msg::Tensor}, {"indices", 2, Kind::Message, Msg::Tensor}, {"dims", 3, Kind::Int}};
constexpr FieldRow kOpset[] = {{"domain", 1, Kind::Bytes}, {"version", 2, Kind::Int}};
constexpr FieldRow kFunction[] = {
    {"name", 1, Kind::Bytes}, {"input", 4, Kind::Bytes}, {"output", 5, Kind::Bytes},
    {"attribute", 6, Kind::Bytes}, {"node", 7, Kind::Message, Msg::Node}, {"doc_string", 8, Kind::Bytes},
    {"opset_import", 9, Kind::Message, Msg::Opset}, {"domain", 10, Kind::Bytes},
    {"attribute_proto", 11, Kind::Message, Msg::Attribute},
    {"value_info", 12, Kind::Message, Msg::ValueInfo}, {"overload", 13, Kind::Bytes}};
constexpr FieldRow kPair[] = {{"key", 1, Kind::Bytes}, {"value", 2, Kind::Bytes}};
// clang-format on

std::span<const FieldRow> fields(Msg m) {
  switch (m) {
    case Msg::Model: return kModel;
    case Msg::Graph: return kGraph;
    case Msg::Node: return kNode;
    case Msg::Attribute: return kAttribute;
    case Msg::Tensor: return kTensor;
    case Msg::Segment: return kSegment;
    case Msg::ValueInfo: return kValueInfo;
    case Msg::Type: return kType;
    case Msg::TensorType: return kTensorType;
    case Msg::Shape: return kShape;
    case Msg::Dimension: return kDimension;
    case Msg::Sequence: return kSequence;
    case Msg::Map: return kMap;
    case Msg::Opaque: return kOpaque;
    case Msg::Sparse: return kSparse;
    case Msg::Opset: return kOpset;
    case Msg::Function: return kFunction;
    case Msg::StringPair: return kPair;
    case Msg::Skip: return {};
  }
  return {};
}

void put_varint(std::string& out, std::uint64_t v) {
  while (v >= 0x80) {
    out += static_cast<char>(v | 0x80);
    v >>= 7;
  }
  out += static_cast<char>(v);
}

class Transcoder {
 public:
  Transcoder(std::string_view text, Diagnostics& diags) : text_(text), diags_(diags) {}

  Result<std::string> run() {
    std::vector<Open> stack{{Msg::Model, 0, '\0', {}}};
    for (;;) {
      skip_space();
      Open& top = stack.back();
      if (at_end()) {
        if (stack.size() > 1) return fail("the file ends inside a message");
        return std::move(top.out);
      }
      const char ch = text_[pos_];
      if (ch == ',' || ch == ';') {
        ++pos_;
        continue;
      }
      if (top.closer != '\0' && ch == top.closer) {
        ++pos_;
        Open done = std::move(top);
        stack.pop_back();
        Open& parent = stack.back();
        if (done.message != Msg::Skip && parent.message != Msg::Skip) {
          put_varint(parent.out, std::uint64_t{done.number} << 3 | 2);
          put_varint(parent.out, done.out.size());
          parent.out += done.out;
        }
        if (parent.in_list && !close_or_continue_list(parent)) return Failure{};
        if (parent.in_list && !open_message(stack, parent.list_row)) return Failure{};
        continue;
      }
      if (!field(stack)) return Failure{};
    }
  }

 private:
  struct Open {
    Msg message;
    std::uint32_t number;
    char closer;
    std::string out;
    bool in_list = false;                ///< inside `name: [ {…}, … ]`
    const FieldRow* list_row = nullptr;
  };

  bool at_end() const { return pos_ >= text_.size(); }

  void skip_space() {
    while (!at_end()) {
      const char c = text_[pos_];
      if (c == '\n') {
        ++line_;
        line_start_ = ++pos_;
      } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
        ++pos_;
      } else if (c == '#') {
        while (!at_end() && text_[pos_] != '\n') ++pos_;
      } else {
        return;
      }
    }
  }

  SourceLoc here() const {
    return {.line = line_, .column = static_cast<std::int32_t>(std::min<std::size_t>(pos_ - line_start_ + 1, 0xfffff))};
  }
  Failure fail(std::string message) { return diags_.error(here(), {}, std::move(message)); }

  std::string_view word() {
    const std::size_t start = pos_;
    while (!at_end() && (std::isalnum(static_cast<unsigned char>(text_[pos_])) || text_[pos_] == '_' ||
                         text_[pos_] == '.' || text_[pos_] == '-' || text_[pos_] == '+')) {
      ++pos_;
    }
    return text_.substr(start, pos_ - start);
  }

  bool accept(char c) {
    skip_space();
    if (at_end() || text_[pos_] != c) return false;
    ++pos_;
    return true;
  }

  Status field(std::vector<Open>& stack) {
    const SourceLoc start = here();
    std::string_view name;
    if (accept('[')) {  // an extension: skipped like any unknown field
      const std::size_t close = text_.find(']', pos_);
      if (close == std::string_view::npos) return fail("']' is missing");
      pos_ = close + 1;
      name = "[extension]";
    } else {
      name = word();
    }
    if (name.empty()) return fail(fmt::format("a field name was expected, not '{}'", text_[pos_]));
    const FieldRow* row = nullptr;
    for (const FieldRow& r : fields(stack.back().message)) {
      if (r.name == name) row = &r;
    }
    if (!row && stack.back().message != Msg::Skip) {
      diags_.warning(start, {}, fmt::format("unknown field '{}' is skipped", name));
    }
    const bool colon = accept(':');
    skip_space();
    if (at_end()) return fail(fmt::format("field '{}' has no value", name));
    const char c = text_[pos_];
    if (c == '{' || c == '<') return open_message(stack, row);
    if (!colon) return fail(fmt::format("':' or '{{' was expected after '{}'", name));
    if (c != '[') return scalar(stack.back(), row);
    ++pos_;
    if (accept(']')) return ok();
    skip_space();
    if (!at_end() && (text_[pos_] == '{' || text_[pos_] == '<')) {
      stack.back().in_list = true;
      stack.back().list_row = row;
      return open_message(stack, row);
    }
    for (;;) {
      skip_space();
      if (!scalar(stack.back(), row)) return Failure{};
      if (accept(']')) return ok();
      if (!accept(',')) return fail("',' or ']' was expected in a list");
    }
  }

  Status close_or_continue_list(Open& parent) {
    if (accept(']')) {
      parent.in_list = false;
      return ok();
    }
    if (!accept(',')) return fail("',' or ']' was expected in a list");
    skip_space();
    return ok();
  }

  Status open_message(std::vector<Open>& stack, const FieldRow* row) {
    skip_space();
    if (at_end() || (text_[pos_] != '{' && text_[pos_] != '<')) return fail("'{' was expected");
    if (row && row->kind != Kind::Message) return fail(fmt::format("field '{}' is not a message", row->name));
    if (stack.size() >= kMaxNesting) return fail(fmt::format("messages are nested deeper than {}", kMaxNesting));
    Open open{row ? row->message : Msg::Skip, row ? row->number : 0, text_[pos_] == '{' ? '}' : '>', {}};
    if (open.message == Msg::Node) {
      const SourceLoc loc = here();
      put_varint(open.out, std::uint64_t{kSourceLineField} << 3);
      put_varint(open.out, static_cast<std::uint64_t>(loc.line) << 20 | static_cast<std::uint64_t>(loc.column));
    }
    ++pos_;
    stack.push_back(std::move(open));
    return ok();
  }

  Status scalar(Open& to, const FieldRow* row) {
    skip_space();
    if (at_end()) return fail("a value was expected");
    if (text_[pos_] == '"' || text_[pos_] == '\'') {
      std::string value;
      if (!quoted(value)) return Failure{};
      if (!row) return ok();
      if (row->kind != Kind::Bytes) return fail(fmt::format("field '{}' is not a string", row->name));
      put_varint(to.out, std::uint64_t{row->number} << 3 | 2);
      put_varint(to.out, value.size());
      to.out += value;
      return ok();
    }
    std::string_view token = word();
    if (token.empty()) return fail(fmt::format("a value was expected, not '{}'", text_[pos_]));
    if (!row) return ok();
    switch (row->kind) {
      case Kind::Int: {
        const auto v = integer(token);
        if (!v) return fail(fmt::format("field '{}': '{}' is not an integer", row->name, token));
        put_varint(to.out, std::uint64_t{row->number} << 3);
        put_varint(to.out, *v);
        return ok();
      }
      case Kind::AttrTypeEnum:
      case Kind::LocationEnum: {
        const auto v = enumerator(row->kind, token);
        if (!v) return fail(fmt::format("field '{}': unknown value '{}'", row->name, token));
        put_varint(to.out, std::uint64_t{row->number} << 3);
        put_varint(to.out, *v);
        return ok();
      }
      case Kind::Float:
      case Kind::Double: {
        const auto v = real(token);
        if (!v) return fail(fmt::format("field '{}': '{}' is not a number", row->name, token));
        const bool wide = row->kind == Kind::Double;
        put_varint(to.out, std::uint64_t{row->number} << 3 | (wide ? 1 : 5));
        char raw[8];
        const auto narrow = static_cast<float>(*v);
        std::memcpy(raw, wide ? static_cast<const void*>(&*v) : &narrow, wide ? 8 : 4);
        to.out.append(raw, wide ? 8 : 4);
        return ok();
      }
      default: return fail(fmt::format("field '{}': '{}' is not of its kind", row->name, token));
    }
  }

  static std::optional<std::uint64_t> integer(std::string_view token) {
    if (token == "true") return 1;
    if (token == "false") return 0;
    const bool negative = token.starts_with('-');
    if (negative) token.remove_prefix(1);
    int base = 10;
    if (token.starts_with("0x") || token.starts_with("0X")) {
      base = 16;
      token.remove_prefix(2);
    }
    std::uint64_t v = 0;
    const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), v, base);
    if (error != std::errc{} || end != token.data() + token.size()) return std::nullopt;
    return negative ? std::uint64_t{0} - v : v;
  }

  static std::optional<double> real(std::string_view token) {
    const bool negative = token.starts_with('-');
    if (negative) token.remove_prefix(1);
    if (token.ends_with('f') || token.ends_with('F')) {
      if (token != "inf" && token != "INF") token.remove_suffix(1);
    }
    double v = 0;
    if (token == "inf" || token == "infinity") {
      v = INFINITY;
    } else if (token == "nan") {
      v = NAN;
    } else {
      const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), v);
      if (error == std::errc::invalid_argument || end != token.data() + token.size()) return std::nullopt;
    }
    return negative ? -v : v;
  }

  static std::optional<std::uint64_t> enumerator(Kind kind, std::string_view token) {
    if (auto number = integer(token)) return number;
    if (kind == Kind::LocationEnum) {
      if (token == "DEFAULT") return 0;
      if (token == "EXTERNAL") return 1;
      return std::nullopt;
    }
    // By number of AttributeProto.AttributeType.
    static constexpr std::array<std::string_view, 15> kNames{
        "UNDEFINED", "FLOAT", "INT", "STRING", "TENSOR", "GRAPH", "FLOATS", "INTS",
        "STRINGS", "TENSORS", "GRAPHS", "SPARSE_TENSOR", "SPARSE_TENSORS", "TYPE_PROTO", "TYPE_PROTOS"};
    for (std::size_t i = 0; i < kNames.size(); ++i) {
      if (kNames[i] == token) return i;
    }
    return std::nullopt;
  }

  /// One or more adjacent quoted strings, unescaped.
  Status quoted(std::string& out) {
    while (!at_end() && (text_[pos_] == '"' || text_[pos_] == '\'')) {
      const char quote = text_[pos_++];
      for (;;) {
        if (at_end() || text_[pos_] == '\n') return fail("the string does not end");
        char c = text_[pos_++];
        if (c == quote) break;
        if (c == '\\') {
          if (at_end()) return fail("the string does not end");
          c = text_[pos_++];
          switch (c) {
            case 'n': c = '\n'; break;
            case 't': c = '\t'; break;
            case 'r': c = '\r'; break;
            case 'a': c = '\a'; break;
            case 'b': c = '\b'; break;
            case 'f': c = '\f'; break;
            case 'v': c = '\v'; break;
            case 'x': case 'X': c = static_cast<char>(digits(16, 2)); break;
            default:
              if (c >= '0' && c <= '7') {
                --pos_;
                c = static_cast<char>(digits(8, 3));
              }
          }
        }
        out += c;
      }
      skip_space();
    }
    return ok();
  }

  int digits(int base, int most) {
    int v = 0;
    for (int i = 0; i < most && !at_end(); ++i) {
      const char c = text_[pos_];
      const int d = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
      if (d >= base) break;
      v = v * base + d;
      ++pos_;
    }
    return v;
  }

  static constexpr std::size_t kMaxNesting = 512;

  std::string_view text_;
  Diagnostics& diags_;
  std::size_t pos_ = 0;
  std::size_t line_start_ = 0;
  std::int32_t line_ = 1;
};

}  // namespace

Result<std::string> text_to_wire(std::string_view text, Diagnostics& diags) {
  return Transcoder(text, diags).run();
}

}  // namespace perfc::onnx
