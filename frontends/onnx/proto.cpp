#include "frontends/onnx/proto.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "frontends/common/proto_text.h"
#include "frontends/common/raw_data.h"

namespace perfc::onnx {

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
      damage = {message.data(), what};
      return false;
    }
  }
  if (!r.ok()) damage = {r.where(), what};
  return r.ok();
}

std::optional<AttrView> decode_attribute(Bytes bytes, Damage& damage) {
  AttrView a;
  a.record = bytes;
  std::int64_t type = 0;
  AttrType seen = AttrType::Undefined;
  const bool good = walk(bytes, damage, "AttributeProto", [&](const Field& f) {
    switch (f.number) {
      case 1:
        return take(f, a.name);
      case 21:
        return take(f, a.ref);
      case 20:
        return take(f, type);
      case 2:
        seen = AttrType::Float;
        return f.type == WireType::Fixed32;
      case 3:
        seen = AttrType::Int;
        return f.type == WireType::Varint;
      case 4:
        seen = AttrType::String;
        return f.type == WireType::Bytes;
      case 5:
        seen = AttrType::Tensor;
        return f.type == WireType::Bytes;
      case 6:
        seen = AttrType::Graph;
        return f.type == WireType::Bytes;
      case 7:
        seen = AttrType::Floats;
        return true;
      case 8:
        seen = AttrType::Ints;
        return true;
      case 9:
        seen = AttrType::Strings;
        return f.type == WireType::Bytes;
      case 10:
        seen = AttrType::Tensors;
        return f.type == WireType::Bytes;
      case 11:
        seen = AttrType::Graphs;
        return f.type == WireType::Bytes;
      case 22:
        seen = AttrType::SparseTensor;
        return f.type == WireType::Bytes;
      case 23:
        seen = AttrType::SparseTensors;
        return f.type == WireType::Bytes;
      case 14:
        seen = AttrType::TypeProto;
        return f.type == WireType::Bytes;
      case 15:
        seen = AttrType::TypeProtos;
        return f.type == WireType::Bytes;
      default:
        return true;
    }
  });
  if (!good) return std::nullopt;
  // Files before IR version 2 carry no type: the field that is set decides.
  static constexpr std::array kByNumber{
      AttrType::Undefined, AttrType::Float,        AttrType::Int,           AttrType::String,    AttrType::Tensor,
      AttrType::Graph,     AttrType::Floats,       AttrType::Ints,          AttrType::Strings,   AttrType::Tensors,
      AttrType::Graphs,    AttrType::SparseTensor, AttrType::SparseTensors, AttrType::TypeProto, AttrType::TypeProtos};
  a.type =
      type > 0 && type < static_cast<std::int64_t>(kByNumber.size()) ? kByNumber[static_cast<std::size_t>(type)] : seen;
  return a;
}

bool take(const Field& f, std::vector<AttrView>& out, Damage& damage) {
  if (f.type != WireType::Bytes) return false;
  auto a = decode_attribute(f.bytes, damage);
  if (!a) return false;
  out.push_back(*a);
  return true;
}

bool take(const Field& f, std::vector<OpsetView>& out, Damage& damage) {
  if (f.type != WireType::Bytes) return false;
  OpsetView o;
  const bool good = walk(f.bytes, damage, "OperatorSetIdProto", [&](const Field& g) {
    if (g.number == 1) return take(g, o.domain);
    if (g.number == 2) return take(g, o.version);
    return true;
  });
  out.push_back(o);
  return good;
}

}  // namespace

DType dtype_from_onnx(std::int64_t number) {
  static constexpr std::array kTypes{
      DType::Undefined,      DType::Float32,  DType::UInt8,        DType::Int8,           DType::UInt16,
      DType::Int16,          DType::Int32,    DType::Int64,        DType::String,         DType::Bool,
      DType::Float16,        DType::Float64,  DType::UInt32,       DType::UInt64,         DType::Complex64,
      DType::Complex128,     DType::BFloat16, DType::Float8E4M3FN, DType::Float8E4M3FNUZ, DType::Float8E5M2,
      DType::Float8E5M2FNUZ, DType::UInt4,    DType::Int4,         DType::Float4E2M1,     DType::Float8E8M0,
      DType::UInt2,          DType::Int2,     DType::Float6E2M3,   DType::Float6E3M2};
  return number > 0 && number < static_cast<std::int64_t>(kTypes.size()) ? kTypes[static_cast<std::size_t>(number)]
                                                                         : DType::Undefined;
}

std::optional<TensorView> decode_tensor(Bytes bytes, Damage& damage) {
  TensorView t;
  t.record = bytes;
  const bool good = walk(bytes, damage, "TensorProto", [&](const Field& f) {
    switch (f.number) {
      case 1:
        return wire::append_scalars(f, WireType::Varint, 64, t.dims, [](const Field& e) { return e.as_int(); });
      case 2:
        return take(f, t.data_type);
      case 4:
      case 5:
      case 6:
      case 7:
      case 10:
      case 11:
        t.typed_data = true;
        return true;
      case 8:
        return take(f, t.name);
      case 9:
        if (f.type != WireType::Bytes) return false;
        t.raw = f.bytes;
        return true;
      case 13:
        t.external = true;
        return true;
      case 14:
        if (f.value == 1) t.external = true;
        return true;
      default:
        return true;
    }
  });
  if (!good) return std::nullopt;
  return t;
}

namespace {

/// float_data, int32_data, … → values; false when the count is not `count`.
bool read_typed(const TensorView& t, DType dtype, std::int64_t count, Data& data) {
  std::vector<SymInt> ints;
  std::vector<double> floats;
  std::vector<std::string> strings;
  const auto limit = static_cast<std::size_t>(count) + 1;
  Damage ignored;
  bool good = walk(t.record, ignored, "TensorProto", [&](const Field& f) {
    const auto integer = [](const Field& e) { return SymInt(e.as_int()); };
    switch (f.number) {
      case 4:
        return wire::append_scalars(f, WireType::Fixed32, limit, floats,
                                    [](const Field& e) { return double{e.as_float()}; });
      case 10:
        return wire::append_scalars(f, WireType::Fixed64, limit, floats, [](const Field& e) { return e.as_double(); });
      case 5:
      case 7:
      case 11:
        return wire::append_scalars(f, WireType::Varint, limit, ints, integer);
      case 6:
        if (f.type == WireType::Bytes && strings.size() < limit) strings.emplace_back(f.bytes);
        return true;
      default:
        return true;
    }
  });
  if (dtype == DType::String) {
    good = good && strings.size() == static_cast<std::size_t>(count);
    data.elements = std::move(strings);
  } else if (dtype == DType::Float32 || dtype == DType::Float64) {
    good = good && floats.size() == static_cast<std::size_t>(count);
    data.elements = std::move(floats);
  } else if (dtype == DType::Float16 || dtype == DType::BFloat16) {
    good = good && ints.size() == static_cast<std::size_t>(count);
    std::string raw;
    for (const SymInt& s : ints) {
      raw += static_cast<char>(s.value() & 255);
      raw += static_cast<char>(s.value() >> 8 & 255);
    }
    if (good) read_raw(raw, dtype, count, data);
  } else {
    good = good && ints.size() == static_cast<std::size_t>(count);
    if (dtype == DType::Bool) {
      for (SymInt& s : ints) s = SymInt(s.value() != 0);
    }
    data.elements = std::move(ints);
  }
  return good;
}

}  // namespace

std::optional<Literal> literal(const TensorView& t, std::string& why) {
  const DType dtype = dtype_from_onnx(t.data_type);
  if (dtype == DType::Undefined) {
    why = fmt::format("unknown data_type {}", t.data_type);
    return std::nullopt;
  }
  Shape shape;
  for (std::int64_t d : t.dims) {
    if (d < 0) {
      why = fmt::format("negative dim {}", d);
      return std::nullopt;
    }
    shape.emplace_back(d);
  }
  Literal out{Type::tensor(dtype, shape), nullptr};
  const auto count = element_count(shape);
  if (!count || byte_size(dtype, static_cast<double>(*count)) > 1e15) {
    why = fmt::format("{} is too large to exist", to_string(out.type));
    return std::nullopt;
  }
  if (t.external) return out;
  const bool has_raw = t.raw && !t.raw->empty();
  if (has_raw && dtype != DType::String) {
    const double need = std::ceil(byte_size(dtype, static_cast<double>(*count)));
    if (static_cast<double>(t.raw->size()) != need) {
      why = fmt::format("{} needs {} bytes of raw_data, the file has {}", to_string(out.type), need, t.raw->size());
      return std::nullopt;
    }
  }
  if (!keeps_contents(dtype, *count)) return out;
  auto data = std::make_shared<Data>();
  if (has_raw && dtype != DType::String) {
    read_raw(*t.raw, dtype, *count, *data);
  } else if (t.typed_data) {
    if (!read_typed(t, dtype, *count, *data)) {
      why = fmt::format("{} holds a different number of elements", to_string(out.type));
      return std::nullopt;
    }
  } else if (*count != 0) {
    return out;  // weights stripped from the file
  } else if (is_float(dtype)) {
    data->elements = std::vector<double>{};
  } else if (dtype == DType::String) {
    data->elements = std::vector<std::string>{};
  }
  out.data = std::move(data);
  return out;
}

const AttrView* NodeView::find(std::string_view attribute) const {
  for (const AttrView& a : attributes) {
    if (a.name == attribute) return &a;
  }
  return nullptr;
}

/// The last item of the list is the call, the one before it the module; both as Python writes them.
std::string_view NodeView::module() const {
  std::string_view last, before;
  for (std::size_t at = 0; at < scopes.size(); ++at) {
    const char quote = scopes[at];
    if (quote != '\'' && quote != '"') continue;
    const std::size_t end = scopes.find(quote, at + 1);
    if (end == std::string_view::npos) return {};
    before = last;
    last = scopes.substr(at + 1, end - at - 1);
    at = end;
  }
  return before;
}

namespace {

/// Of a node's metadata what is read (torch/onnx/_internal/exporter/_core.py; onnxscript's
/// rewriter/_rewrite_rule.py).
bool take_metadata(Bytes entry, NodeView& n, Damage& damage) {
  std::string_view key, value;
  const bool good = walk(entry, damage, "StringStringEntryProto", [&](const Field& f) {
    return f.number == 1 ? take(f, key) : f.number == 2 ? take(f, value) : true;
  });
  if (good && key == "pkg.torch.onnx.name_scopes") n.scopes = value;
  if (good && key == "pkg.onnxscript.rewriter.rule_name") n.rules = value;
  return good;
}

}  // namespace

std::optional<NodeView> decode_node(Bytes bytes, Damage& damage) {
  NodeView n;
  n.record = bytes;
  const bool good = walk(bytes, damage, "NodeProto", [&](const Field& f) {
    switch (f.number) {
      case 1:
        return take(f, n.inputs);
      case 2:
        return take(f, n.outputs);
      case 3:
        return take(f, n.name);
      case 4:
        return take(f, n.op_type);
      case 5:
        return take(f, n.attributes, damage);
      case 7:
        return take(f, n.domain);
      case 8:
        return take(f, n.overload);
      case 9: {
        Bytes entry;
        return take(f, entry) && take_metadata(entry, n, damage);
      }
      case proto_text::kPlaceField: {
        const SourceLoc loc = proto_text::place_from_field(f.value);
        n.line = loc.line;
        n.column = loc.column;
        return true;
      }
      default:
        return true;
    }
  });
  if (!good) return std::nullopt;
  return n;
}

std::optional<GraphView> decode_graph(Bytes bytes, Damage& damage) {
  GraphView g;
  const bool good = walk(bytes, damage, "GraphProto", [&](const Field& f) {
    switch (f.number) {
      case 1:
        return take(f, g.nodes);
      case 2:
        return take(f, g.name);
      case 5:
        return take(f, g.initializers);
      case 11:
        return take(f, g.inputs);
      case 12:
        return take(f, g.outputs);
      case 13:
        return take(f, g.value_infos);
      case 15:
        return take(f, g.sparse_initializers);
      default:
        return true;
    }
  });
  if (!good) return std::nullopt;
  return g;
}

std::optional<FunctionView> decode_function(Bytes bytes, Damage& damage) {
  FunctionView v;
  const bool good = walk(bytes, damage, "FunctionProto", [&](const Field& f) {
    switch (f.number) {
      case 1:
        return take(f, v.name);
      case 4:
        return take(f, v.inputs);
      case 5:
        return take(f, v.outputs);
      case 6:
        return take(f, v.attributes);
      case 7:
        return take(f, v.nodes);
      case 9:
        return take(f, v.opsets, damage);
      case 10:
        return take(f, v.domain);
      case 11:
        return take(f, v.defaults, damage);
      case 12:
        return take(f, v.value_infos);
      case 13:
        return take(f, v.overload);
      default:
        return true;
    }
  });
  if (!good) return std::nullopt;
  return v;
}

std::optional<ModelView> decode_model(Bytes bytes, Damage& damage) {
  ModelView m;
  const bool good = walk(bytes, damage, "ModelProto", [&](const Field& f) {
    switch (f.number) {
      case 1:
        return take(f, m.ir_version);
      case 2:
        return take(f, m.producer);
      case 7:
        if (f.type != WireType::Bytes) return false;
        m.graph = f.bytes;
        return true;
      case 8:
        return take(f, m.opsets, damage);
      case 25:
        return take(f, m.functions);
      default:
        return true;
    }
  });
  if (!good) return std::nullopt;
  return m;
}

std::optional<ValueInfoView> decode_value_info(Bytes bytes, Damage& damage) {
  ValueInfoView v;
  const bool good = walk(bytes, damage, "ValueInfoProto", [&](const Field& f) {
    if (f.number == 1) return take(f, v.name);
    if (f.number == 2) {
      if (f.type != WireType::Bytes) return false;
      v.type = f.bytes;
    }
    return true;
  });
  if (!good) return std::nullopt;
  return v;
}

namespace {

/// Whether a `dim_param` is a dim's own: Paddle2ONNX writes `?` for each that it does not know, others `None` or `-1`.
bool is_name(Bytes name) {
  return !name.empty() && name.size() <= 512 && name != "?" && name != "None" && name != "-1";
}

std::optional<Type> decode_tensor_type(Bytes bytes, bool sparse, Damage& damage) {
  std::int64_t element = 0;
  bool ranked = false;
  Shape shape;
  const bool good = walk(bytes, damage, "TypeProto.Tensor", [&](const Field& f) {
    if (f.number == 1) return take(f, element);
    if (f.number != 2) return true;
    if (f.type != WireType::Bytes) return false;
    ranked = true;
    return walk(f.bytes, damage, "TensorShapeProto", [&](const Field& d) {
      if (d.number != 1) return true;
      if (d.type != WireType::Bytes || shape.size() >= 64) return false;
      Dim dim = Dim::unknown();
      const bool inner = walk(d.bytes, damage, "TensorShapeProto.Dimension", [&](const Field& e) {
        // −1 and absence are what exporters write for "unknown".
        if (e.number == 1 && e.type == WireType::Varint) {
          if (e.as_int() < -1) return false;
          if (e.as_int() >= 0) dim = Dim(e.as_int());
        }
        if (e.number == 2 && e.type == WireType::Bytes && is_name(e.bytes)) dim = Dim::symbol(e.bytes);
        return true;
      });
      shape.push_back(dim);
      return inner;
    });
  });
  if (!good) return std::nullopt;
  const DType dtype = dtype_from_onnx(element);
  if (dtype == DType::Undefined && !ranked) return Type{};
  if (!ranked) return Type::unranked(dtype);
  return sparse ? Type::sparse(dtype, shape) : Type::tensor(dtype, shape);
}

std::optional<Type> decode_type_at(Bytes bytes, Damage& damage, int depth) {
  if (depth > 16) {
    damage = {bytes.data(), "TypeProto nested too deeply"};
    return std::nullopt;
  }
  std::optional<Type> type = Type{};
  const bool good = walk(bytes, damage, "TypeProto", [&](const Field& f) {
    if (f.number != 1 && f.number != 4 && f.number != 5 && f.number != 7 && f.number != 8 && f.number != 9) {
      return true;
    }
    if (f.type != WireType::Bytes) return false;
    if (f.number == 1 || f.number == 8) {
      type = decode_tensor_type(f.bytes, f.number == 8, damage);
      return type.has_value();
    }
    std::int64_t key = 0;
    std::string_view text, domain;
    std::optional<Type> element = Type{};
    const bool inner = walk(f.bytes, damage, "TypeProto", [&](const Field& e) {
      if (f.number == 7) return e.number == 1 ? take(e, domain) : e.number == 2 ? take(e, text) : true;
      if (f.number == 5 && e.number == 1) return take(e, key);
      if (e.number == (f.number == 5 ? 2u : 1u)) {
        if (e.type != WireType::Bytes) return false;
        element = decode_type_at(e.bytes, damage, depth + 1);
        return element.has_value();
      }
      return true;
    });
    if (!inner) return false;
    if (f.number == 7) {
      type = Type::opaque(domain.empty() ? std::string(text) : fmt::format("{}:{}", domain, text));
    } else if (f.number == 4) {
      type = Type::sequence(*element);
    } else if (f.number == 9) {
      type = Type::optional(*element);
    } else {
      type = Type::map(dtype_from_onnx(key), *element);
    }
    return true;
  });
  if (!good) return std::nullopt;
  return type;
}

}  // namespace

std::optional<Type> decode_type(Bytes bytes, Damage& damage) { return decode_type_at(bytes, damage, 0); }

std::optional<wire::Field> payload(const AttrView& a, std::uint32_t field) {
  Reader r(a.record);
  Field f;
  std::optional<Field> found;
  while (r.next(f)) {
    if (f.number == field) found = f;
  }
  return found;
}

std::vector<Bytes> messages(const AttrView& a, std::uint32_t field) {
  std::vector<Bytes> out;
  Reader r(a.record);
  Field f;
  while (r.next(f)) {
    if (f.number == field && f.type == WireType::Bytes) out.push_back(f.bytes);
  }
  return out;
}

}  // namespace perfc::onnx
