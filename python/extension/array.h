#pragma once
/// Memory of C++ that NumPy reads in place: an object with `__array_interface__`
/// (https://numpy.org/doc/stable/reference/arrays.interface.html), read-only, which keeps its owner alive.
#include <cstdint>

#include "python/extension/python.h"

namespace perfc::python {

struct Array {
  std::shared_ptr<const void> owner;
  const void* data;
  std::vector<Py_ssize_t> shape;
  const char* typestr;  ///< "<f8"
};

Ref object(Array);

template <class T>
constexpr const char* typestr_of() {
  if constexpr (std::is_same_v<T, double>) return "<f8";
  if constexpr (std::is_same_v<T, std::int64_t>) return "<i8";
  if constexpr (std::is_same_v<T, std::int32_t>) return "<i4";
  if constexpr (std::is_same_v<T, std::uint32_t>) return "<u4";
  if constexpr (std::is_same_v<T, std::uint8_t>) return "|u1";
}

/// A vector that `owner` holds; of several columns its rows stand one after the other.
template <class T>
Array array_of(std::shared_ptr<const void> owner, const std::vector<T>& values, std::size_t columns = 0) {
  const auto size = static_cast<Py_ssize_t>(values.size());
  const auto width = static_cast<Py_ssize_t>(columns);
  return {std::move(owner), values.data(), width ? std::vector{size / width, width} : std::vector{size},
          typestr_of<T>()};
}

}  // namespace perfc::python
