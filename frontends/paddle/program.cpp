#include "frontends/paddle/program.h"

#include <algorithm>
#include <array>

namespace perfc::paddle {
namespace {

struct ElementType {
  std::int64_t number;         ///< framework.proto's VarType.Type
  std::string_view name, pir;  ///< "float32", PIR's "t_f32"
  DType dtype;
};
constexpr std::array kElementTypes{
    ElementType{0, "bool", "t_bool", DType::Bool},
    ElementType{1, "int16", "t_i16", DType::Int16},
    ElementType{2, "int32", "t_i32", DType::Int32},
    ElementType{3, "int64", "t_i64", DType::Int64},
    ElementType{4, "float16", "t_f16", DType::Float16},
    ElementType{5, "float32", "t_f32", DType::Float32},
    ElementType{6, "float64", "t_f64", DType::Float64},
    ElementType{19, "size_t", "t_index", DType::Int64},
    ElementType{20, "uint8", "t_ui8", DType::UInt8},
    ElementType{21, "int8", "t_i8", DType::Int8},
    ElementType{22, "bfloat16", "t_bf16", DType::BFloat16},
    ElementType{23, "complex64", "t_c64", DType::Complex64},
    ElementType{24, "complex128", "t_c128", DType::Complex128},
    ElementType{29, "pstring", "t_str", DType::String},
    ElementType{32, "float8_e4m3fn", "t_f8e4m3", DType::Float8E4M3FN},
    ElementType{33, "float8_e5m2", "t_f8e5m2", DType::Float8E5M2},
};

}  // namespace

DType dtype_of(std::int64_t var_type) {
  const auto e = std::find_if(kElementTypes.begin(), kElementTypes.end(),
                              [&](const ElementType& t) { return t.number == var_type; });
  return e == kElementTypes.end() ? DType::Undefined : e->dtype;
}

DType dtype_of(std::string_view name) {
  const auto e = std::find_if(kElementTypes.begin(), kElementTypes.end(),
                              [&](const ElementType& t) { return t.name == name || t.pir == name; });
  return e == kElementTypes.end() ? DType::Undefined : e->dtype;
}

const Attr* Operation::attr(std::string_view name) const {
  for (const auto& [n, value] : attrs) {
    if (n == name) return &value;
  }
  return nullptr;
}

}  // namespace perfc::paddle
