#include "frontends/common/raw_data.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace perfc {

bool keeps_contents(DType dtype, std::int64_t count) {
  switch (dtype) {
    case DType::Int32:
    case DType::Int64:
    case DType::Bool:
    case DType::UInt32:
    case DType::UInt64:
      return count <= Data::kMaxElements;
    case DType::Float32:
    case DType::Float64:
    case DType::Float16:
    case DType::BFloat16:
    case DType::String:
    case DType::Int8:
    case DType::UInt8:
    case DType::Int16:
    case DType::UInt16:
      return count <= kMaxSmall;
    default:
      return false;
  }
}

void read_raw(std::string_view raw, DType dtype, std::int64_t count, Data& data) {
  const int width = bits(dtype) / 8;
  const auto load = [&](std::int64_t i) {
    std::uint64_t v = 0;
    std::memcpy(&v, raw.data() + i * width, static_cast<std::size_t>(width));
    return v;
  };
  if (dtype == DType::Float32 || dtype == DType::Float64) {
    std::vector<double> out;
    for (std::int64_t i = 0; i < count; ++i) {
      out.push_back(dtype == DType::Float32 ? std::bit_cast<float>(static_cast<std::uint32_t>(load(i)))
                                            : std::bit_cast<double>(load(i)));
    }
    data.elements = std::move(out);
  } else if (dtype == DType::Float16 || dtype == DType::BFloat16) {
    std::vector<double> out;
    for (std::int64_t i = 0; i < count; ++i) {
      const auto h = static_cast<std::uint32_t>(load(i));
      if (dtype == DType::BFloat16) {
        out.push_back(std::bit_cast<float>(h << 16));
      } else {
        const int exponent = static_cast<int>(h >> 10 & 31);
        const double mantissa = h & 1023;
        double v = exponent == 0    ? std::ldexp(mantissa, -24)
                   : exponent == 31 ? (mantissa != 0 ? std::nan("") : std::numeric_limits<double>::infinity())
                                    : std::ldexp(mantissa + 1024, exponent - 25);
        out.push_back(h & 0x8000 ? -v : v);
      }
    }
    data.elements = std::move(out);
  } else {
    std::vector<SymInt> out;
    const bool is_signed = dtype == DType::Int8 || dtype == DType::Int16 || dtype == DType::Int32;
    const int shift = 64 - 8 * width;
    for (std::int64_t i = 0; i < count; ++i) {
      std::uint64_t v = load(i);
      if (is_signed) v = static_cast<std::uint64_t>(static_cast<std::int64_t>(v << shift) >> shift);
      if (dtype == DType::Bool) v = v != 0;
      out.emplace_back(static_cast<std::int64_t>(v));
    }
    data.elements = std::move(out);
  }
}

}  // namespace perfc
