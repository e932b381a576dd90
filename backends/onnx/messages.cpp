/// Types, contents and attributes as messages of ONNX.
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "backends/onnx/writer.h"

namespace perfc::backends {
namespace {

/// Bits of a binary16 that holds `value`, rounded to even.
std::uint16_t half_bits(double value) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | 0x7e00);
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return sign;
  if (magnitude >= 65520) return static_cast<std::uint16_t>(sign | 0x7c00);
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  const int scale = std::max(exponent - 11, -24);  // of the last place
  const auto places = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(magnitude, -scale)));
  return static_cast<std::uint16_t>(sign | (places + (static_cast<std::uint32_t>(scale + 24) << 10)));
}

/// Bits of a bfloat16 that holds `value`, rounded to even.
std::uint16_t bfloat_bits(double value) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if (std::isnan(value)) return static_cast<std::uint16_t>(bits >> 16 | 0x40);
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

std::uint64_t bits_of(double value, DType dtype) {
  switch (dtype) {
    case DType::Float64:
      return std::bit_cast<std::uint64_t>(value);
    case DType::Float16:
      return half_bits(value);
    case DType::BFloat16:
      return bfloat_bits(value);
    default:
      return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  }
}

/// Element types whose elements take whole bytes and that `Data` holds exactly.
bool has_bits(DType dtype) {
  return dtype == DType::Float32 || dtype == DType::Float64 || dtype == DType::Float16 || dtype == DType::BFloat16 ||
         ((is_integer(dtype) || dtype == DType::Bool) && bits(dtype) >= 8);
}

}  // namespace

bool write_type(const Type& type, pb::TypeProto& out) {
  switch (type.kind()) {
    case TypeKind::Tensor:
    case TypeKind::SparseTensor: {
      const auto fill = [&](auto& tensor) {
        tensor.set_elem_type(onnx::onnx_number(type.dtype()));
        if (!type.ranked()) return;
        auto& shape = *tensor.mutable_shape();
        for (const Dim& d : type.shape()) {
          auto& dim = *shape.add_dim();
          if (d.known()) dim.set_dim_value(d.value());
          if (d.symbolic()) dim.set_dim_param(d.symbol_name());
        }
      };
      if (type.kind() == TypeKind::Tensor) {
        fill(*out.mutable_tensor_type());
      } else {
        fill(*out.mutable_sparse_tensor_type());
      }
      return onnx::onnx_number(type.dtype()) != 0;
    }
    case TypeKind::Sequence:
      return write_type(type.element(), *out.mutable_sequence_type()->mutable_elem_type());
    case TypeKind::Optional:
      return write_type(type.element(), *out.mutable_optional_type()->mutable_elem_type());
    case TypeKind::Map:
      out.mutable_map_type()->set_key_type(onnx::onnx_number(type.dtype()));
      return write_type(type.element(), *out.mutable_map_type()->mutable_value_type());
    default:
      return false;
  }
}

bool write_contents(const Literal& literal, pb::TensorProto& out) {
  const DType dtype = literal.type.dtype();
  out.set_data_type(onnx::onnx_number(dtype));
  for (const Dim& d : literal.type.shape()) out.add_dims(d.value());
  if (!literal.data || !literal.data->fully_known()) return false;
  if (const auto* strings = literal.data->strings()) {
    for (const std::string& s : *strings) out.add_string_data(s);
    return true;
  }
  if (!has_bits(dtype)) return false;
  const auto width = static_cast<std::size_t>(bits(dtype) / 8);
  std::string& raw = *out.mutable_raw_data();
  const auto put = [&](std::uint64_t element) { raw.append(reinterpret_cast<const char*>(&element), width); };
  if (const auto* ints = literal.data->ints()) {
    for (const SymInt& i : *ints) {
      put(is_float(dtype) ? bits_of(static_cast<double>(i.value()), dtype) : static_cast<std::uint64_t>(i.value()));
    }
  }
  if (const auto* floats = literal.data->floats()) {
    for (const double x : *floats) {
      put(is_float(dtype) ? bits_of(x, dtype) : static_cast<std::uint64_t>(static_cast<std::int64_t>(x)));
    }
  }
  return true;
}

Status write_attribute(const CallWriter& c, std::string_view name, const Attr& value, pb::AttributeProto& out) {
  out.set_name(std::string(name));
  if (const auto* i = std::get_if<std::int64_t>(&value)) {
    out.set_type(pb::AttributeProto::INT);
    out.set_i(*i);
  } else if (const auto* x = std::get_if<double>(&value)) {
    out.set_type(pb::AttributeProto::FLOAT);
    out.set_f(static_cast<float>(*x));
  } else if (const auto* s = std::get_if<std::string>(&value)) {
    out.set_type(pb::AttributeProto::STRING);
    out.set_s(*s);
  } else if (const auto* ints = std::get_if<std::vector<std::int64_t>>(&value)) {
    out.set_type(pb::AttributeProto::INTS);
    for (const std::int64_t v : *ints) out.add_ints(v);
  } else if (const auto* floats = std::get_if<std::vector<double>>(&value)) {
    out.set_type(pb::AttributeProto::FLOATS);
    for (const double v : *floats) out.add_floats(static_cast<float>(v));
  } else if (const auto* strings = std::get_if<std::vector<std::string>>(&value)) {
    out.set_type(pb::AttributeProto::STRINGS);
    for (const std::string& v : *strings) out.add_strings(v);
  } else if (const auto* literal = std::get_if<Literal>(&value)) {
    out.set_type(pb::AttributeProto::TENSOR);
    if (!write_contents(*literal, *out.mutable_t())) {
      return c.error(fmt::format("attribute '{}': its contents were not kept; only small tensors are", name));
    }
  } else if (const auto* type = std::get_if<Type>(&value)) {
    out.set_type(pb::AttributeProto::TYPE_PROTO);
    if (!write_type(*type, *out.mutable_tp())) return c.error(fmt::format("attribute '{}' has no type in ONNX", name));
  }
  return ok();
}

std::pair<std::string_view, std::string_view> domain_and_name(std::string_view spelling) {
  static constexpr std::pair<std::string_view, std::string_view> kDomains[] = {
      {"ms", "com.microsoft"}, {"ml", "ai.onnx.ml"}, {"tr", "ai.onnx.preview.training"}, {"pv", "ai.onnx.preview"}};
  const std::size_t colon = spelling.find(':');
  if (colon == std::string_view::npos) return {"", spelling};
  for (const auto& [prefix, domain] : kDomains) {
    if (spelling.substr(0, colon) == prefix) return {domain, spelling.substr(colon + 1)};
  }
  return {spelling.substr(0, colon), spelling.substr(colon + 1)};
}

}  // namespace perfc::backends
