#include <array>
#include <utility>

#include "frontends/torch/program.h"

namespace perfc::torch {
namespace {

struct DTypeRow {
  std::int64_t number;  ///< c10/core/ScalarType.h
  DType dtype;
  std::array<std::string_view, 3> names;
};
constexpr DTypeRow kDTypes[] = {
    {0, DType::UInt8, {"uint8", "byte", "quint8"}},
    {1, DType::Int8, {"int8", "char", "qint8"}},
    {2, DType::Int16, {"int16", "short", ""}},
    {3, DType::Int32, {"int32", "int", "qint32"}},
    {4, DType::Int64, {"int64", "long", ""}},
    {5, DType::Float16, {"float16", "half", ""}},
    {6, DType::Float32, {"float32", "float", ""}},
    {7, DType::Float64, {"float64", "double", ""}},
    {9, DType::Complex64, {"complex64", "cfloat", ""}},
    {10, DType::Complex128, {"complex128", "cdouble", ""}},
    {11, DType::Bool, {"bool", "", ""}},
    {12, DType::Int8, {"", "", ""}},
    {13, DType::UInt8, {"", "", ""}},
    {14, DType::Int32, {"", "", ""}},
    {15, DType::BFloat16, {"bfloat16", "", ""}},
    {16, DType::UInt4, {"quint4x2", "uint4", ""}},
    {23, DType::Float8E5M2, {"float8_e5m2", "", ""}},
    {24, DType::Float8E4M3FN, {"float8_e4m3fn", "", ""}},
    {25, DType::Float8E5M2FNUZ, {"float8_e5m2fnuz", "", ""}},
    {26, DType::Float8E4M3FNUZ, {"float8_e4m3fnuz", "", ""}},
    {27, DType::UInt16, {"uint16", "", ""}},
    {28, DType::UInt32, {"uint32", "", ""}},
    {29, DType::UInt64, {"uint64", "", ""}},
    {44, DType::Float8E8M0, {"float8_e8m0fnu", "", ""}},
    {45, DType::Float4E2M1, {"float4_e2m1fn_x2", "", ""}},
};

}  // namespace

DType dtype_of(std::int64_t scalar_type) {
  for (const DTypeRow& r : kDTypes) {
    if (r.number == scalar_type) return r.dtype;
  }
  return DType::Undefined;
}

std::int64_t scalar_type_of(DType dtype) {
  for (const DTypeRow& r : kDTypes) {
    if (r.dtype == dtype) return r.number;
  }
  return -1;
}

DType dtype_of(std::string_view name) {
  if (name.starts_with("torch.")) name.remove_prefix(6);
  for (const DTypeRow& r : kDTypes) {
    for (std::string_view n : r.names) {
      if (!n.empty() && n == name) return r.dtype;
    }
  }
  return DType::Undefined;
}

}  // namespace perfc::torch
