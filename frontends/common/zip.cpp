#include "frontends/common/zip.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <limits>

namespace perfc {
namespace {

using namespace std::string_view_literals;

constexpr std::uint64_t kMaxMembers = 1'000'000;
constexpr std::size_t kMaxComment = 0xffff;
constexpr std::uint64_t kSmallMember = std::uint64_t{1} << 16;  ///< kept, whatever it is
constexpr std::size_t kEndSize = 22, kLocatorSize = 20, kEnd64Size = 56, kEntrySize = 46, kLocalSize = 30;
constexpr std::uint16_t kEncrypted = 1, kStored = 0, kDeflated = 8, kExtra64 = 1;
constexpr std::uint32_t kIn64 = 0xffffffff;  ///< the number stands in the 64-bit record

/// `width` bytes at `at`, the least significant first. The caller knows that they are there.
std::uint64_t number(std::string_view bytes, std::size_t at, int width) {
  std::uint64_t v = 0;
  for (int i = width; i-- > 0;) v = v << 8 | static_cast<unsigned char>(bytes[at + static_cast<std::size_t>(i)]);
  return v;
}
std::uint16_t u16(std::string_view bytes, std::size_t at) { return static_cast<std::uint16_t>(number(bytes, at, 2)); }
std::uint32_t u32(std::string_view bytes, std::size_t at) { return static_cast<std::uint32_t>(number(bytes, at, 4)); }
std::uint64_t u64(std::string_view bytes, std::size_t at) { return number(bytes, at, 8); }

/// A record of at least `size` bytes that begins so.
bool has_record(std::string_view bytes, std::uint64_t at, std::string_view signature, std::size_t size) {
  return at <= bytes.size() && size <= bytes.size() - at && bytes.substr(at).starts_with(signature);
}

struct Directory {
  std::uint64_t entries = 0, size = 0, offset = 0;
};

/// Where the directory stands, from the record at the archive's end, behind which only a comment follows. `before`: how
/// many bytes of the archive stand before `bytes`, which are its end.
std::optional<Directory> find_directory(std::string_view bytes, std::uint64_t before = 0) {
  const std::string_view tail = bytes.substr(bytes.size() - std::min(bytes.size(), kEndSize + kMaxComment));
  std::size_t at = tail.rfind("PK\5\6"sv);
  while (at != tail.npos &&
         (!has_record(tail, at, "PK\5\6"sv, kEndSize) || u16(tail, at + 20) != tail.size() - at - kEndSize)) {
    at = at == 0 ? tail.npos : tail.rfind("PK\5\6"sv, at - 1);
  }
  if (at == tail.npos) return std::nullopt;
  const std::size_t end = bytes.size() - tail.size() + at;
  Directory d{u16(bytes, end + 10), u32(bytes, end + 12), u32(bytes, end + 16)};
  if (d.entries == 0xffff || d.size == kIn64 || d.offset == kIn64) {
    if (end < kLocatorSize || !has_record(bytes, end - kLocatorSize, "PK\6\7"sv, kLocatorSize)) return std::nullopt;
    const std::uint64_t end64 = u64(bytes, end - kLocatorSize + 8);
    if (end64 < before || !has_record(bytes, end64 - before, "PK\6\6"sv, kEnd64Size)) return std::nullopt;
    const auto record = static_cast<std::size_t>(end64 - before);
    d = {u64(bytes, record + 32), u64(bytes, record + 40), u64(bytes, record + 48)};
  }
  const std::uint64_t all = before + bytes.size();
  if (d.offset > all || d.size > all - d.offset) return std::nullopt;
  return d;
}

void set_number(std::string& bytes, std::size_t at, int width, std::uint64_t value) {
  for (int i = 0; i < width; ++i, value >>= 8)
    bytes[at + static_cast<std::size_t>(i)] = static_cast<char>(value & 0xff);
}

/// Inflates all of `packed` into all of `out`.
bool inflate_into(std::string_view packed, std::string& out) {
  if (packed.size() > std::numeric_limits<uInt>::max()) return false;
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return false;  // without zlib's own header
  unsigned char beyond = 0;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = out.empty() ? &beyond : reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int status = inflate(&stream, Z_FINISH);
  const bool whole = status == Z_STREAM_END && stream.avail_out == 0;
  inflateEnd(&stream);
  return whole;
}

}  // namespace

/// A member as the directory has it.
struct ZipArchive::Entry {
  std::string_view name;
  Member member;
};

/// Takes the next entry off the directory.
std::optional<ZipArchive::Entry> ZipArchive::next_entry(std::string_view& rest) {
  if (!has_record(rest, 0, "PK\1\2"sv, kEntrySize)) return std::nullopt;
  const std::size_t name = u16(rest, 28), extra = u16(rest, 30), comment = u16(rest, 32);
  if (rest.size() - kEntrySize < name + extra + comment) return std::nullopt;
  Member m{u16(rest, 8), u16(rest, 10), u32(rest, 16), u32(rest, 20), u32(rest, 24), u32(rest, 42)};
  std::string_view fields = rest.substr(kEntrySize + name, extra);
  while (fields.size() >= 4) {
    const std::size_t length = std::min<std::size_t>(u16(fields, 2), fields.size() - 4);
    std::string_view numbers = fields.substr(4, length);
    if (u16(fields, 0) == kExtra64) {
      for (std::uint64_t* of : {&m.size, &m.packed, &m.header}) {
        if (*of != kIn64 || numbers.size() < 8) continue;
        *of = u64(numbers, 0);
        numbers.remove_prefix(8);
      }
    }
    fields.remove_prefix(4 + length);
  }
  const Entry out{rest.substr(kEntrySize, name), m};
  rest.remove_prefix(kEntrySize + name + extra + comment);
  return out;
}

std::optional<std::string> ZipArchive::without_weights(const PartReader& part, std::uint64_t size, std::uint64_t most) {
  const std::uint64_t tail_size = std::min<std::uint64_t>(size, kEndSize + kMaxComment + kLocatorSize + kEnd64Size);
  const auto tail = part(size - tail_size, tail_size);
  const auto directory = tail ? find_directory(*tail, size - tail_size) : std::nullopt;
  if (!directory || directory->size > most || directory->entries > kMaxMembers) return std::nullopt;
  const auto entries = part(directory->offset, directory->size);
  if (!entries || entries->size() != directory->size) return std::nullopt;
  std::string members, listed;
  std::uint16_t count = 0;
  std::string_view rest = *entries;
  while (const auto entry = next_entry(rest)) {
    const Member& m = entry->member;
    const bool kept = m.packed <= kSmallMember || entry->name.ends_with(".json");
    std::string line(kEntrySize, '\0');
    line.replace(0, 4, "PK\1\2");
    const std::uint64_t packed = kept ? m.packed : 0;
    const std::uint64_t fields[][3] = {{8, 2, m.flags},        {10, 2, m.method},          {16, 4, m.crc},
                                       {20, 4, packed},        {24, 4, kept ? m.size : 0}, {28, 2, entry->name.size()},
                                       {42, 4, members.size()}};
    if (kept && (m.size >= kIn64 || m.packed > most)) return std::nullopt;
    for (const auto& [at, width, value] : fields) set_number(line, at, static_cast<int>(width), value);
    listed += line;
    listed += entry->name;
    if (kept) {
      const auto head = part(m.header, kLocalSize);
      if (!head || !has_record(*head, 0, "PK\3\4"sv, kLocalSize)) return std::nullopt;
      const std::uint64_t before = kLocalSize + std::uint64_t{u16(*head, 26)} + u16(*head, 28);
      if (before + packed > most - std::min<std::uint64_t>(most, members.size())) return std::nullopt;
      const auto whole = part(m.header, before + packed);
      if (!whole) return std::nullopt;
      members += *whole;
    }
    if (++count == 0xffff) return std::nullopt;
  }
  std::string end(kEndSize, '\0');
  end.replace(0, 4, "PK\5\6");
  for (const std::size_t at : {8, 10}) set_number(end, at, 2, count);
  set_number(end, 12, 4, listed.size());
  set_number(end, 16, 4, members.size());
  return members + listed + end;
}

Result<ZipArchive> ZipArchive::open(std::string_view bytes, Diagnostics& diags) {
  const auto directory = find_directory(bytes);
  if (!directory) return diags.error("damaged archive: no zip directory at its end; was the file copied completely?");
  if (directory->entries > kMaxMembers)
    return diags.error(fmt::format("the archive has {} members", directory->entries));
  ZipArchive a;
  a.bytes_ = bytes;
  std::string_view rest = bytes.substr(directory->offset, directory->size);
  for (std::uint64_t i = 0; i < directory->entries; ++i) {
    const auto damaged = [&] {
      return diags.error(
          fmt::format("damaged archive: the zip directory ends in member {} of {}", i, directory->entries));
    };
    const auto entry = next_entry(rest);
    if (!entry) return damaged();
    a.names_.emplace_back(entry->name);
    a.members_.push_back(entry->member);
  }
  return a;
}

std::optional<std::size_t> ZipArchive::find(std::string_view ending) const {
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (std::string_view(names_[i]).ends_with(ending)) return i;
  }
  return std::nullopt;
}

Result<std::string> ZipArchive::read(std::size_t member, Diagnostics& diags) const {
  const std::string& name = names_[member];
  const Member& m = members_[member];
  if (m.size > kMaxMember || m.size > kSmall + kMaxRatio * m.packed) {
    return diags.error(
        {}, name,
        fmt::format("the member claims to unpack from {} to {} bytes, more than perfc accepts", m.packed, m.size));
  }
  if ((m.flags & kEncrypted) != 0)
    return diags.error({}, name, "the member is encrypted; unpack the archive and pack it without a password");
  if (m.method != kStored && m.method != kDeflated) {
    return diags.error(
        {}, name,
        fmt::format("the member is compressed by method {}; perfc reads stored and deflated members", m.method));
  }
  const auto damaged = [&] { return diags.error({}, name, "damaged archive: the member does not unpack"); };
  if (!has_record(bytes_, m.header, "PK\3\4"sv, kLocalSize)) return damaged();
  std::string_view packed = bytes_.substr(m.header + kLocalSize);
  const std::size_t before = std::size_t{u16(bytes_, m.header + 26)} + u16(bytes_, m.header + 28);
  if (packed.size() < before || packed.size() - before < m.packed) return damaged();
  packed = packed.substr(before, m.packed);
  std::string out;
  if (m.method == kStored) {
    if (m.packed != m.size) return damaged();
    out = packed;
  } else {
    out.resize(m.size);
    if (!inflate_into(packed, out)) return damaged();
  }
  if (crc32(0, reinterpret_cast<const Bytef*>(out.data()), static_cast<uInt>(out.size())) != m.crc) return damaged();
  return out;
}

}  // namespace perfc
