#pragma once
/// Walking the protobuf wire format without generated classes: fields are
/// views into the mapped file, so what nobody asks for is never touched.
/// Format: https://protobuf.dev/programming-guides/encoding/
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace perfc::wire {

enum class WireType : std::uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

struct Field {
  std::uint32_t number = 0;
  WireType type = WireType::Varint;
  std::uint64_t value = 0;  ///< Varint, Fixed32, Fixed64
  std::string_view bytes;   ///< Bytes

  std::int64_t as_int() const { return static_cast<std::int64_t>(value); }
  float as_float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(value)); }
  double as_double() const { return std::bit_cast<double>(value); }
};

/// The value of a field; false where its wire type is another.
inline bool take(const Field& f, std::string_view& out) {
  if (f.type != WireType::Bytes) return false;
  out = f.bytes;
  return true;
}
inline bool take(const Field& f, std::int64_t& out) {
  if (f.type != WireType::Varint) return false;
  out = f.as_int();
  return true;
}
inline bool take(const Field& f, std::vector<std::string_view>& out) {
  if (f.type != WireType::Bytes) return false;
  out.push_back(f.bytes);
  return true;
}

/// Reads one base-128 varint; false at the end of input or beyond 64 bits.
inline bool read_varint(const char*& p, const char* end, std::uint64_t& v) {
  v = 0;
  for (int shift = 0; shift < 64 && p != end; shift += 7) {
    const auto byte = static_cast<unsigned char>(*p++);
    v |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (!(byte & 0x80)) return true;
  }
  return false;
}

/// Appends one.
inline void put_varint(std::string& out, std::uint64_t v) {
  while (v >= 0x80) {
    out += static_cast<char>(v | 0x80);
    v >>= 7;
  }
  out += static_cast<char>(v);
}

/// Fields of so many bytes are stepped over, as weights are.
constexpr std::uint64_t kFar = 4096;

/// Brings the first pages of [p, end) into memory, and no others: touched without this, a page of
/// a mapped file brings along all of the large folio (up to 2 MiB) that a freshly written file lies
/// in, and a walk over headers between weights would map the weights too. A hint: it changes no
/// byte, and does nothing where the kernel or the kind of memory forbids it.
void prefetch_alone(const char* p, const char* end);

/// Iterates over the fields of one message. `ok()` tells whether the walk ended
/// at the message's end or at damage; then `where()` is the damaged place.
class Reader {
 public:
  explicit Reader(std::string_view message) : p_(message.data()), end_(p_ + message.size()) {}

  bool next(Field& f) {
    if (p_ == end_ || !ok_) return false;
    const char* start = p_;
    std::uint64_t key = 0;
    if (!read_varint(p_, end_, key) || (key >> 3) == 0 || (key >> 3) > 0x1fffffff) return damage(start);
    f.number = static_cast<std::uint32_t>(key >> 3);
    switch (key & 7) {
      case 0:
        f.type = WireType::Varint;
        return read_varint(p_, end_, f.value) || damage(start);
      case 1:
        f.type = WireType::Fixed64;
        return fixed<std::uint64_t>(f) || damage(start);
      case 2: {
        f.type = WireType::Bytes;
        std::uint64_t n = 0;
        if (!read_varint(p_, end_, n) || n > static_cast<std::uint64_t>(end_ - p_)) return damage(start);
        f.bytes = {p_, static_cast<std::size_t>(n)};
        p_ += n;
        if (n >= kFar && p_ != end_) prefetch_alone(p_, end_);
        return true;
      }
      case 5:
        f.type = WireType::Fixed32;
        return fixed<std::uint32_t>(f) || damage(start);
      default:
        return damage(start);
    }
  }

  bool ok() const { return ok_; }
  const char* where() const { return p_; }

 private:
  bool damage(const char* at) {
    ok_ = false;
    p_ = at;
    return false;
  }
  template <class T>
  bool fixed(Field& f) {
    if (end_ - p_ < static_cast<std::ptrdiff_t>(sizeof(T))) return false;
    T v;
    std::memcpy(&v, p_, sizeof(T));
    f.value = v;
    p_ += sizeof(T);
    return true;
  }

  const char* p_;
  const char* end_;
  bool ok_ = true;
};

/// Appends the numbers of a repeated scalar field, packed or not, at most
/// `limit` in total. `convert(Field)` sees each as if unpacked.
template <class T, class Convert>
bool append_scalars(const Field& f, WireType element, std::size_t limit, std::vector<T>& out, Convert convert) {
  if (f.type == element) {
    if (out.size() < limit) out.push_back(convert(f));
    return true;
  }
  if (f.type != WireType::Bytes) return false;
  const char* p = f.bytes.data();
  const char* end = p + f.bytes.size();
  const std::ptrdiff_t width = element == WireType::Varint ? 0 : element == WireType::Fixed32 ? 4 : 8;
  while (p != end && out.size() < limit) {
    Field e;
    if (width == 0) {
      if (!read_varint(p, end, e.value)) return false;
    } else {
      if (end - p < width) return false;
      std::memcpy(&e.value, p, static_cast<std::size_t>(width));  // little-endian, as x86-64 and arm64
      p += width;
    }
    out.push_back(convert(e));
  }
  return true;
}

}  // namespace perfc::wire
