/// Attributes of nodes: of the kind that an operator wants, by the IR's names.
#include <fmt/format.h>

#include <algorithm>

#include "frontends/onnx/importer.h"

namespace perfc::onnx {
namespace {

/// Attribute names of the IR for ONNX's.
std::string_view renamed(std::string_view name) {
  static constexpr std::pair<std::string_view, std::string_view> kRenamed[] = {
      {"pads", "padding"}, {"dilations", "dilation"}, {"group", "groups"}, {"kernel_shape", "kernel_size"}};
  for (const auto& [from, to] : kRenamed) {
    if (name == from) return to;
  }
  return name;
}

/// Integer attributes that stand for an element type.
bool names_dtype(std::string_view name) {
  return name == "to" || name == "dtype" || name == "output_dtype" || name == "output_datatype" || name == "stash_type";
}

/// Shapes depend on these: of another kind they would silently be defaults.
/// (After renaming; ai.onnx only. Empty: the kind is right or not known.)
std::string_view expected_kind(std::string_view name, const Attr& value) {
  static const std::set<std::string_view> kInts{"strides", "padding",        "dilation",     "kernel_size", "perm",
                                                "axes",    "output_padding", "output_shape", "split",       "starts",
                                                "ends"};
  static const std::set<std::string_view> kInt{"axis",  "groups",      "keepdims",  "blocksize",         "hidden_size",
                                               "k",     "num_outputs", "ceil_mode", "count_include_pad", "transA",
                                               "transB"};
  const bool int_given = std::holds_alternative<std::int64_t>(value);
  if (kInt.count(name)) return int_given ? "" : "an integer";
  if (!kInts.count(name) || int_given || std::holds_alternative<std::vector<std::int64_t>>(value)) return "";
  return "a list of integers";
}

/// The bytes that all of a node's attributes are decoded from, if equal bytes mean equal attributes:
/// from the last byte of the first one's length on, which is its whole length. Empty: they may not,
/// or are too long to be compared.
std::string_view key_of(const NodeView& node) {
  constexpr std::size_t kOneByte = 128, kLongest = 512;
  if (node.attributes.empty() || !canonical_domain(node.domain).empty()) return {};
  const Bytes first = node.attributes.front().record, last = node.attributes.back().record;
  const char* const begin = first.data() - 1;
  const auto length = static_cast<std::size_t>(last.data() + last.size() - begin);
  if (first.size() >= kOneByte || last.data() < first.data() || length > kLongest) return {};
  const bool plain =
      std::none_of(node.attributes.begin(), node.attributes.end(), [](const AttrView& a) { return !a.ref.empty(); });
  return plain ? std::string_view(begin, length) : std::string_view{};
}

}  // namespace

Result<Attrs> Importer::attributes(const Frame& frame, const NodeView& node, SourceLoc loc) {
  const std::string_view key = key_of(node);
  if (key.empty()) return read_attributes(frame, node, loc);
  if (const auto known = attributes_.find(key); known != attributes_.end()) return known->second;
  auto attrs = read_attributes(frame, node, loc);
  if (attrs) attributes_.emplace(key, *attrs);
  return attrs;
}

Result<Attrs> Importer::read_attributes(const Frame& frame, const NodeView& node, SourceLoc loc) {
  constexpr std::size_t kMaxAttributes = 1000;
  if (node.attributes.size() > kMaxAttributes) {
    return diags_->error(
        loc, node.name,
        fmt::format("{}: {} attributes; at most {} are read", node.op_type, node.attributes.size(), kMaxAttributes));
  }
  Attrs out;
  for (const AttrView& given : node.attributes) {
    const AttrView* a = &given;
    if (!given.ref.empty()) {
      if (!frame.function_attributes) {
        return diags_->error(loc, node.name,
                             fmt::format("attribute '{}' refers to '{}' outside a function", given.name, given.ref));
      }
      const auto bound = std::find_if(frame.function_attributes->begin(), frame.function_attributes->end(),
                                      [&](const AttrView& x) { return x.name == given.ref; });
      if (bound == frame.function_attributes->end()) continue;  // not given: the operator's default
      a = &*bound;
    }
    if (a->type == AttrType::Graph || a->type == AttrType::Graphs) continue;  // bodies: control_flow
    auto value = attribute(*a, loc, node.name);
    if (!value) return Failure{};
    const std::string_view name = renamed(given.name);
    if (out.has(name)) {
      return diags_->error(loc, node.name, fmt::format("attribute '{}' is given twice", given.name));
    }
    if (std::holds_alternative<std::int64_t>(*value) && names_dtype(name)) {
      const std::int64_t number = std::get<std::int64_t>(*value);
      if (number == 0 && (name == "output_dtype" || name == "stash_type")) continue;
      const DType dtype = dtype_from_onnx(number);
      if (dtype == DType::Undefined) {
        return diags_->error(loc, node.name, fmt::format("{}: {}={} is no element type", node.op_type, name, number));
      }
      value = Attr(std::string(perfc::name(dtype)));
    }
    if (canonical_domain(node.domain).empty()) {
      if (const std::string_view kind = expected_kind(name, *value); !kind.empty()) {
        return diags_->error(loc, node.name,
                             fmt::format("{}: attribute '{}' must be {}", node.op_type, given.name, kind));
      }
    }
    out.set(name, std::move(*value));
  }
  return out;
}

Result<Attr> Importer::attribute(const AttrView& a, SourceLoc loc, std::string_view node) {
  using wire::WireType;
  const auto bad = [&](std::string_view why) {
    return diags_->error(loc, node, fmt::format("attribute '{}': {}", a.name, why));
  };
  constexpr std::size_t kLimit = std::size_t{1} << 20;
  wire::Reader r(a.record);
  wire::Field f;
  std::vector<std::int64_t> ints;
  std::vector<double> floats;
  std::vector<std::string> strings;
  std::int64_t i = 0;
  double x = 0;
  Bytes bytes;
  while (r.next(f)) {
    switch (f.number) {
      case 2:
        x = f.as_float();
        break;
      case 3:
        i = f.as_int();
        break;
      case 4:
      case 5:
      case 14:
        bytes = f.bytes;
        break;
      case 7:
        if (!wire::append_scalars(f, WireType::Fixed32, kLimit, floats,
                                  [](const wire::Field& e) { return double{e.as_float()}; }))
          return bad("malformed floats");
        break;
      case 8:
        if (!wire::append_scalars(f, WireType::Varint, kLimit, ints, [](const wire::Field& e) { return e.as_int(); }))
          return bad("malformed ints");
        break;
      case 9:
        if (strings.size() < kLimit) strings.emplace_back(f.bytes);
        break;
      default:
        break;
    }
  }
  switch (a.type) {
    case AttrType::Float:
      return Attr(x);
    case AttrType::Int:
      return Attr(i);
    case AttrType::String:
      return Attr(std::string(bytes));
    case AttrType::Floats:
      return Attr(std::move(floats));
    case AttrType::Ints:
      return Attr(std::move(ints));
    case AttrType::Strings:
      return Attr(std::move(strings));
    case AttrType::Tensor: {
      Damage damage;
      const auto t = decode_tensor(bytes, damage);
      if (!t) return damaged(damage);
      std::string why;
      auto l = literal(*t, why);
      if (!l) return bad(why);
      return Attr(std::move(*l));
    }
    case AttrType::TypeProto: {
      Damage damage;
      auto t = decode_type(bytes, damage);
      if (!t) return damaged(damage);
      return Attr(std::move(*t));
    }
    case AttrType::SparseTensor: {
      // A type only: dense dims, dtype of the values.
      Damage damage;
      std::vector<std::int64_t> dims;
      DType dtype = DType::Undefined;
      wire::Reader s(payload(a, 22).value_or(wire::Field{}).bytes);
      while (s.next(f)) {
        if (f.number == 1 && f.type == WireType::Bytes) {
          const auto t = decode_tensor(f.bytes, damage);
          if (!t) return damaged(damage);
          dtype = dtype_from_onnx(t->data_type);
        }
        if (f.number == 3)
          wire::append_scalars(f, WireType::Varint, 64, dims, [](const wire::Field& e) { return e.as_int(); });
      }
      Shape shape;
      for (std::int64_t d : dims) {
        if (d < 0) return bad("negative dim");
        shape.emplace_back(d);
      }
      if (dtype == DType::Undefined) return bad("sparse tensor without an element type");
      return Attr(Literal{Type::tensor(dtype, shape), nullptr});
    }
    default:
      return bad("is of a kind that no operator takes");
  }
}

}  // namespace perfc::onnx
