#include "frontends/tf/proto.h"

#include <fmt/format.h>

#include <cmath>

#include "frontends/common/proto_text.h"
#include "frontends/common/raw_data.h"

namespace perfc::tf {

using wire::Field;
using wire::Reader;
using wire::WireType;

namespace {

/// Walks a message, handing every field to `visit(Field) -> bool`.
template <class Visit>
bool walk(Bytes message, Damage& damage, const char* what, Visit visit) {
  Reader r(message);
  Field f;
  while (r.next(f)) {
    if (!visit(f)) {
      damage = {f.type == WireType::Bytes ? f.bytes.data() : r.where(), what};
      return false;
    }
  }
  if (!r.ok()) damage = {r.where(), what};
  return r.ok();
}

/// One entry of a map<string, message or string>.
bool entry(const Field& f, std::string_view& key, Bytes& value, Damage& damage) {
  if (f.type != WireType::Bytes) return false;
  return walk(f.bytes, damage, "a map entry", [&](const Field& e) {
    if (e.number == 1) return take(e, key);
    if (e.number == 2) return take(e, value);
    return true;
  });
}

bool take_attr(const Field& f, std::vector<AttrView>& out, Damage& damage) {
  AttrView a;
  if (!entry(f, a.key, a.value, damage)) return false;
  out.push_back(a);
  return true;
}

/// (dtype, shape) fields with the given numbers.
std::optional<Type> decode_held(Bytes bytes, std::uint32_t shape_field, Damage& damage,
                                std::string_view* name = nullptr) {
  std::int64_t dtype = 0;
  std::optional<Bytes> shape;
  const bool good = walk(bytes, damage, "a variable", [&](const Field& f) {
    if (f.number == 1) return take(f, dtype);
    if (f.number == shape_field && f.type == WireType::Bytes) shape = f.bytes;
    if (f.number == 6 && name) return take(f, *name);
    return true;
  });
  if (!good) return std::nullopt;
  const DType d = dtype_from_tf(dtype);
  if (d == DType::Undefined) return Type{};
  return shape ? decode_shape(*shape, d, damage) : Type::unranked(d);
}

bool take_arg(const Field& f, std::vector<ArgView>& out, Damage& damage) {
  if (f.type != WireType::Bytes) return false;
  ArgView a;
  const bool good = walk(f.bytes, damage, "OpDef.ArgDef", [&](const Field& e) {
    switch (e.number) {
      case 1:
        return take(e, a.name);
      case 3:
        return take(e, a.dtype);
      case 7: {
        if (e.type != WireType::Bytes) return false;
        auto held = decode_held(e.bytes, 2, damage);
        if (held) a.held = *held;
        return held.has_value();
      }
      default:
        return true;
    }
  });
  out.push_back(a);
  return good;
}

bool take_tensor_info(const Field& f, std::vector<TensorInfoView>& out, Damage& damage) {
  TensorInfoView info;
  Bytes value;
  if (!entry(f, info.key, value, damage)) return false;
  std::int64_t dtype = 0;
  std::optional<Bytes> shape;
  const bool good = walk(value, damage, "TensorInfo", [&](const Field& e) {
    switch (e.number) {
      case 1:
        return take(e, info.name);
      case 2:
        return take(e, dtype);
      case 3:
        if (e.type != WireType::Bytes) return false;
        shape = e.bytes;
        return true;
      default:
        return true;
    }
  });
  if (!good) return false;
  const DType d = dtype_from_tf(dtype);
  if (d != DType::Undefined) {
    auto type = shape ? decode_shape(*shape, d, damage) : Type::unranked(d);
    if (!type) return false;
    info.type = *type;
  }
  out.push_back(std::move(info));
  return true;
}

bool take_signature(const Field& f, std::vector<SignatureView>& out, Damage& damage) {
  SignatureView s;
  Bytes value;
  if (!entry(f, s.key, value, damage)) return false;
  const bool good = walk(value, damage, "SignatureDef", [&](const Field& e) {
    if (e.number == 1) return take_tensor_info(e, s.inputs, damage);
    if (e.number == 2) return take_tensor_info(e, s.outputs, damage);
    return true;
  });
  out.push_back(std::move(s));
  return good;
}

bool take_variables(Bytes objects, std::unordered_map<std::string_view, Type>& out, Damage& damage) {
  return walk(objects, damage, "SavedObjectGraph", [&](const Field& f) {
    if (f.number != 1) return true;
    return f.type == WireType::Bytes && walk(f.bytes, damage, "SavedObject", [&](const Field& e) {
             if (e.number != 7) return true;
             std::string_view name;
             const auto held = e.type == WireType::Bytes ? decode_held(e.bytes, 2, damage, &name) : std::nullopt;
             if (held && !name.empty() && *held) out.emplace(name, *held);
             return held.has_value();
           });
  });
}

}  // namespace

std::optional<MetaGraphView> decode_meta_graph(Bytes bytes, Damage& damage) {
  MetaGraphView m;
  const bool good = walk(bytes, damage, "MetaGraphDef", [&](const Field& f) {
    switch (f.number) {
      case 1:
        return f.type == WireType::Bytes &&
               walk(f.bytes, damage, "MetaInfoDef", [&](const Field& e) { return e.number != 4 || take(e, m.tags); });
      case 2:
        if (f.type != WireType::Bytes) return false;
        m.graph = decode_graph(f.bytes, damage);
        return m.graph.has_value();
      case 5:
        return take_signature(f, m.signatures, damage);
      case 7:
        return f.type == WireType::Bytes && take_variables(f.bytes, m.variables, damage);
      default:
        return true;
    }
  });
  if (!good) return std::nullopt;
  return m;
}

DType dtype_from_tf(std::int64_t number) {
  // tensorflow/core/framework/types.proto; quantised types hold plain integers.
  static constexpr DType kTypes[] = {
      DType::Undefined,    DType::Float32,        DType::Float64,   DType::Int32,          DType::UInt8,
      DType::Int16,        DType::Int8,           DType::String,    DType::Complex64,      DType::Int64,
      DType::Bool,         DType::Int8,           DType::UInt8,     DType::Int32,          DType::BFloat16,
      DType::Int16,        DType::UInt16,         DType::UInt16,    DType::Complex128,     DType::Float16,
      DType::Undefined,    DType::Undefined,      DType::UInt32,    DType::UInt64,         DType::Float8E5M2,
      DType::Float8E4M3FN, DType::Float8E4M3FNUZ, DType::Undefined, DType::Float8E5M2FNUZ, DType::Int4,
      DType::UInt4,        DType::Int2,           DType::UInt2};
  if (number > 100) number -= 100;  // a reference to a variable
  return number > 0 && number < static_cast<std::int64_t>(std::size(kTypes)) ? kTypes[number] : DType::Undefined;
}

const AttrView* NodeView::find(std::string_view key) const {
  for (const AttrView& a : attrs) {
    if (a.key == key) return &a;
  }
  return nullptr;
}

std::optional<std::vector<MetaGraphView>> decode_saved_model(Bytes bytes, Damage& damage) {
  std::vector<MetaGraphView> out;
  const bool good = walk(bytes, damage, "SavedModel", [&](const Field& f) {
    if (f.number != 2) return true;
    if (f.type != WireType::Bytes) return false;
    auto m = decode_meta_graph(f.bytes, damage);
    if (!m) return false;
    out.push_back(std::move(*m));
    return true;
  });
  if (!good) return std::nullopt;
  return out;
}

std::optional<GraphView> decode_graph(Bytes bytes, Damage& damage) {
  GraphView g;
  const bool good = walk(bytes, damage, "GraphDef", [&](const Field& f) {
    if (f.number == 1) return take(f, g.nodes);
    if (f.number != 2) return true;
    return f.type == WireType::Bytes && walk(f.bytes, damage, "FunctionDefLibrary", [&](const Field& e) {
             if (e.number != 1) return true;
             if (e.type != WireType::Bytes) return false;
             std::string_view name;
             const bool named = walk(e.bytes, damage, "FunctionDef", [&](const Field& s) {
               if (s.number != 1) return true;
               return s.type == WireType::Bytes &&
                      walk(s.bytes, damage, "OpDef", [&](const Field& o) { return o.number != 1 || take(o, name); });
             });
             g.functions.emplace_back(name, e.bytes);
             return named;
           });
  });
  if (!good) return std::nullopt;
  return g;
}

std::optional<NodeView> decode_node(Bytes bytes, Damage& damage) {
  NodeView n;
  n.record = bytes;
  const bool good = walk(bytes, damage, "NodeDef", [&](const Field& f) {
    switch (f.number) {
      case 1:
        return take(f, n.name);
      case 2:
        return take(f, n.op);
      case 3:
        return take(f, n.inputs);
      case 5:
        return take_attr(f, n.attrs, damage);
      case proto_text::kPlaceField:
        n.place = proto_text::place_from_field(f.value);
        return true;
      default:
        return true;
    }
  });
  if (!good) return std::nullopt;
  return n;
}

std::optional<FunctionView> decode_function(Bytes bytes, Damage& damage) {
  FunctionView fn;
  fn.record = bytes;
  const bool good = walk(bytes, damage, "FunctionDef", [&](const Field& f) {
    switch (f.number) {
      case 1:
        return f.type == WireType::Bytes && walk(f.bytes, damage, "OpDef", [&](const Field& o) {
                 switch (o.number) {
                   case 1:
                     return take(o, fn.name);
                   case 2:
                     return take_arg(o, fn.args, damage);
                   case 3:
                     return take_arg(o, fn.results, damage);
                   default:
                     return true;
                 }
               });
      case 3:
        return take(f, fn.nodes);
      case 4: {
        std::string_view key, value;
        if (!entry(f, key, value, damage)) return false;
        fn.rets.emplace_back(key, value);
        return true;
      }
      case 5:
        return take_attr(f, fn.attrs, damage);
      default:
        return true;
    }
  });
  if (!good) return std::nullopt;
  return fn;
}

std::optional<Type> decode_shape(Bytes bytes, DType dtype, Damage& damage) {
  Shape shape;
  bool unknown_rank = false;
  const bool good = walk(bytes, damage, "TensorShapeProto", [&](const Field& f) {
    if (f.number == 3) unknown_rank = f.value != 0;
    if (f.number != 2) return true;
    if (f.type != WireType::Bytes || shape.size() >= 1024) return false;
    std::int64_t size = 0;
    const bool dim = walk(f.bytes, damage, "a dim", [&](const Field& e) { return e.number != 1 || take(e, size); });
    shape.push_back(size < 0 ? Dim::unknown() : Dim(size));
    return dim;
  });
  if (!good) return std::nullopt;
  return unknown_rank ? Type::unranked(dtype) : Type::tensor(dtype, std::move(shape));
}

std::optional<AttrValue> decode_attr(Bytes bytes, Damage& damage) {
  constexpr std::size_t kLimit = std::size_t{1} << 20;
  AttrValue a;
  Bytes message = bytes;
  // A ListValue has the single values' fields under the same numbers, functions under 9.
  const auto visit = [&](const Field& f) {
    const auto integer = [](const Field& e) { return e.as_int(); };
    switch (f.number) {
      case 1:
        if (f.type != WireType::Bytes || a.list) return false;
        a.list = true;
        message = f.bytes;
        return true;
      case 2:
        return a.strings.size() < kLimit && take(f, a.strings);
      case 3:
      case 5:
        return wire::append_scalars(f, WireType::Varint, kLimit, a.ints, integer);
      case 4:
        return wire::append_scalars(f, WireType::Fixed32, kLimit, a.floats,
                                    [](const Field& e) { return double{e.as_float()}; });
      case 6:
        return wire::append_scalars(f, WireType::Varint, kLimit, a.types, integer);
      case 7:
        return a.shapes.size() < kLimit && take(f, a.shapes);
      case 8:
        return a.tensors.size() < kLimit && take(f, a.tensors);
      case 9:
        return a.list ? a.functions.size() < kLimit && take(f, a.functions) : take(f, a.placeholder);
      case 10:
        return take(f, a.functions);
      default:
        return true;
    }
  };
  if (!walk(bytes, damage, "AttrValue", visit)) return std::nullopt;
  if (a.list &&
      !walk(message, damage, "AttrValue.ListValue", [&](const Field& f) { return f.number == 1 || visit(f); })) {
    return std::nullopt;
  }
  return a;
}

std::optional<FunctionRef> decode_function_ref(Bytes bytes, Damage& damage) {
  FunctionRef r;
  const bool good = walk(bytes, damage, "NameAttrList", [&](const Field& f) {
    if (f.number == 1) return take(f, r.name);
    if (f.number == 2) return take_attr(f, r.attrs, damage);
    return true;
  });
  if (!good) return std::nullopt;
  return r;
}

namespace {

/// Values of the typed fields of a TensorProto. The last value repeats to the
/// end (tensor.proto: "if fewer elements are given, the last is repeated").
bool read_values(Bytes record, DType dtype, std::int64_t count, Data& data) {
  std::vector<SymInt> ints;
  std::vector<double> floats;
  std::vector<std::string> strings;
  const auto limit = static_cast<std::size_t>(count) + 1;
  Damage ignored;
  const bool good = walk(record, ignored, "TensorProto", [&](const Field& f) {
    const auto integer = [](const Field& e) { return SymInt(e.as_int()); };
    switch (f.number) {
      case 5:
        return wire::append_scalars(f, WireType::Fixed32, limit, floats,
                                    [](const Field& e) { return double{e.as_float()}; });
      case 6:
        return wire::append_scalars(f, WireType::Fixed64, limit, floats, [](const Field& e) { return e.as_double(); });
      case 7:
      case 10:
      case 11:
      case 13:
      case 16:
      case 17:
        return wire::append_scalars(f, WireType::Varint, limit, ints, integer);
      case 8:
        if (f.type == WireType::Bytes && strings.size() < limit) strings.emplace_back(f.bytes);
        return f.type == WireType::Bytes;
      default:
        return true;
    }
  });
  const auto wanted = static_cast<std::size_t>(count);
  const auto fill = [&](auto& values, auto zero) {
    if (values.size() > wanted) return false;
    const auto last = values.empty() ? zero : values.back();
    values.resize(wanted, last);
    return true;
  };
  if (!good) return false;
  if (dtype == DType::String) {
    if (!fill(strings, std::string())) return false;
    data.elements = std::move(strings);
  } else if (dtype == DType::Float32 || dtype == DType::Float64) {
    if (!fill(floats, 0.0)) return false;
    data.elements = std::move(floats);
  } else if (dtype == DType::Float16 || dtype == DType::BFloat16) {
    if (!fill(ints, SymInt(0))) return false;
    std::string raw;
    for (const SymInt& s : ints) {
      raw += static_cast<char>(s.value() & 255);
      raw += static_cast<char>(s.value() >> 8 & 255);
    }
    read_raw(raw, dtype, count, data);
  } else {
    if (!fill(ints, SymInt(0))) return false;
    if (dtype == DType::Bool) {
      for (SymInt& s : ints) s = SymInt(s.value() != 0);
    }
    data.elements = std::move(ints);
  }
  return true;
}

}  // namespace

std::optional<Literal> literal(Bytes record, std::string& why) {
  Damage damage;
  std::int64_t number = 0;
  Bytes shape_record;
  std::optional<Bytes> raw;
  bool typed = false;
  const bool good = walk(record, damage, "TensorProto", [&](const Field& f) {
    switch (f.number) {
      case 1:
        return take(f, number);
      case 2:
        return take(f, shape_record);
      case 4:
        if (f.type != WireType::Bytes) return false;
        if (!f.bytes.empty()) raw = f.bytes;
        return true;
      case 5:
      case 6:
      case 7:
      case 8:
      case 10:
      case 11:
      case 13:
      case 16:
      case 17:
        typed = true;
        return true;
      default:
        return true;
    }
  });
  const DType dtype = dtype_from_tf(number);
  if (!good) {
    why = "damaged TensorProto";
    return std::nullopt;
  }
  if (dtype == DType::Undefined) {
    why = fmt::format("a tensor of data type {} has no values", number);
    return std::nullopt;
  }
  const auto type = decode_shape(shape_record, dtype, damage);
  if (!type || !type->is_static()) {
    why = "the shape of the tensor is not known";
    return std::nullopt;
  }
  const auto count = type->elements();
  if (!count || byte_size(dtype, static_cast<double>(*count)) > 1e15) {
    why = fmt::format("{} is too large to exist", to_string(*type));
    return std::nullopt;
  }
  Literal out{*type, nullptr};
  if (raw && dtype != DType::String) {
    const double need = std::ceil(byte_size(dtype, static_cast<double>(*count)));
    if (static_cast<double>(raw->size()) != need) {
      why = fmt::format("{} needs {} bytes of tensor_content, the file has {}", to_string(out.type), need, raw->size());
      return std::nullopt;
    }
  }
  if (!keeps_contents(dtype, *count)) return out;
  // Nothing at all stands for zeros, or for a weight that was cut out of the file.
  if (!raw && !typed && *count != 0 && is_float(dtype)) return out;
  auto data = std::make_shared<Data>();
  if (raw && dtype != DType::String) {
    read_raw(*raw, dtype, *count, *data);
  } else if (!read_values(record, dtype, *count, *data)) {
    why = fmt::format("{} holds too many elements", to_string(out.type));
    return std::nullopt;
  }
  out.data = std::move(data);
  return out;
}

bool looks_like_saved_model(Bytes head) {
  // saved_model_schema_version: 1, then meta_graphs; or meta_graphs at once.
  return head.size() > 3 && head[0] == 0x08 && head[1] == 0x01 && head[2] == 0x12;
}

bool looks_like_graph(Bytes head) {
  // GraphDef.node { name: …: field 1, a message that begins with its own field 1,
  // printable text followed by field 2 (op).
  if (head.empty() || head[0] != 0x0a) return false;
  const char* p = head.data() + 1;
  const char* end = head.data() + head.size();
  std::uint64_t length = 0;
  if (!wire::read_varint(p, end, length) || length < 4 || p == end || *p != 0x0a) return false;
  ++p;
  std::uint64_t name = 0;
  if (!wire::read_varint(p, end, name) || name == 0 || name >= length || name >= static_cast<std::uint64_t>(end - p))
    return false;
  for (std::uint64_t i = 0; i < name; ++i) {
    if (static_cast<unsigned char>(p[i]) < 0x20) return false;
  }
  return p[name] == 0x12;
}

}  // namespace perfc::tf
