/// Archives written byte by byte, so that every field can lie.
#include "frontends/common/zip.h"

#include <gtest/gtest.h>
#include <zlib.h>

namespace perfc {
namespace {

std::string little(std::uint64_t v, int width) {
  std::string out;
  for (int i = 0; i < width; ++i, v >>= 8) out += static_cast<char>(v & 255);
  return out;
}

/// One member, and what its records say of it.
struct Packed {
  std::string name = "a/model.json", data = "contents", packed = data;
  std::uint64_t flags = 0, method = 0,
                crc = crc32(0, reinterpret_cast<const Bytef*>(data.data()), static_cast<uInt>(data.size()));
  std::uint64_t packed_size = packed.size(), size = data.size(), header = 0, entries = 1;
  std::string extra, comment;
};

std::string archive(const Packed& p) {
  const std::string local = "PK\3\4" + little(20, 2) + little(p.flags, 2) + little(p.method, 2) + little(0, 4) +
                            little(p.crc, 4) + little(p.packed_size, 4) + little(p.size, 4) + little(p.name.size(), 2) +
                            little(3, 2) + p.name + "xyz" + p.packed;
  const std::string entry = "PK\1\2" + little(20, 2) + little(20, 2) + little(p.flags, 2) + little(p.method, 2) +
                            little(0, 4) + little(p.crc, 4) + little(p.packed_size, 4) + little(p.size, 4) +
                            little(p.name.size(), 2) + little(p.extra.size(), 2) + little(0, 2) + little(0, 2) +
                            little(0, 2) + little(0, 4) + little(p.header, 4) + p.name + p.extra;
  return local + entry + "PK\5\6" + little(0, 4) + little(p.entries, 2) + little(p.entries, 2) +
         little(entry.size(), 4) + little(local.size(), 4) + little(p.comment.size(), 2) + p.comment;
}

/// The contents of the only member, or the message.
std::string unpacked(const std::string& bytes) {
  Diagnostics diags("m.pt2");
  const auto zip = ZipArchive::open(bytes, diags);
  if (zip) {
    const auto member = zip->find("model.json");
    if (!member) return "no such member";
    if (auto data = zip->read(*member, diags)) return *data;
  }
  return to_string(diags.all().back());
}

Packed deflated(const std::string& data) {
  Packed p{.data = data};
  std::string zlib(compressBound(data.size()), '\0');
  uLongf size = zlib.size();
  compress(reinterpret_cast<Bytef*>(zlib.data()), &size, reinterpret_cast<const Bytef*>(data.data()), data.size());
  p.packed = zlib.substr(2, size - 6);  // without zlib's header and checksum
  p.packed_size = p.packed.size();
  p.method = 8;
  return p;
}

constexpr const char* kDamaged = "m.pt2: 'a/model.json': error: damaged archive: the member does not unpack";

TEST(Zip, StoredAndDeflatedMembers) {
  EXPECT_EQ(unpacked(archive({})), "contents");
  const std::string text = "abcabcabcabcabcabcabc" + std::string(5000, 'x');
  EXPECT_EQ(unpacked(archive(deflated(text))), text);
  EXPECT_EQ(unpacked(archive(deflated(""))), "");
  EXPECT_EQ(unpacked(archive({.comment = "a comment with PK\5\6 in it"})), "contents");
}

TEST(Zip, WithoutWeights) {
  const auto small = [](const std::string& bytes, std::uint64_t most = 1 << 20) {
    const auto part = [&](std::uint64_t at, std::uint64_t n) -> std::optional<std::string> {
      return at > bytes.size() ? std::nullopt : std::optional(bytes.substr(at, n));
    };
    return ZipArchive::without_weights(part, bytes.size(), most);
  };
  const std::string text = "{" + std::string(100'000, 'x') + "}";
  for (const Packed& p : {Packed{}, deflated(text), Packed{.comment = "a comment"}}) {
    const auto kept = small(archive(p));
    ASSERT_TRUE(kept);
    EXPECT_EQ(unpacked(*kept), unpacked(archive(p)));
  }
  const std::string weights = archive({.name = "data/weights/0", .data = text, .crc = 0});
  const auto kept = small(weights);
  ASSERT_TRUE(kept);
  EXPECT_LT(kept->size(), 200U);
  EXPECT_EQ(unpacked(*kept), "no such member");
  EXPECT_FALSE(small(archive({.data = text}), 1000));
  EXPECT_FALSE(small(weights.substr(0, weights.size() - 1)));
  EXPECT_FALSE(small(archive({.header = 5})));
  Packed endless;
  endless.extra = little(1, 2) + little(8, 2) + std::string(8, '\xff');
  endless.packed_size = 0xffffffff;
  EXPECT_FALSE(small(archive(endless)));
}

TEST(Zip, SixtyFourBitFields) {
  Packed p;
  p.extra =
      little(7, 2) + little(1, 2) + "?" + little(1, 2) + little(24, 2) + little(8, 8) + little(8, 8) + little(0, 8);
  p.packed_size = p.size = p.header = 0xffffffff;
  EXPECT_EQ(unpacked(archive(p)), "contents");
  // The directory's place, too.
  std::string bytes = archive({});
  const std::size_t end = bytes.rfind("PK\5\6"), directory = bytes.rfind("PK\1\2");
  bytes.resize(end);
  bytes += "PK\6\6" + little(44, 8) + little(45, 2) + little(45, 2) + little(0, 8) + little(1, 8) + little(1, 8) +
           little(end - directory, 8) + little(directory, 8) + "PK\6\7" + little(0, 4) + little(end, 8) + little(1, 4) +
           "PK\5\6" + little(0, 4) + little(0xffff, 2) + little(0xffff, 2) + little(0xffffffff, 4) +
           little(0xffffffff, 4) + little(0, 2);
  EXPECT_EQ(unpacked(bytes), "contents");
  bytes[bytes.rfind("PK\6\6")] = 'X';
  EXPECT_EQ(unpacked(bytes),
            "m.pt2: error: damaged archive: no zip directory at its end; was the file copied completely?");
}

TEST(Zip, WhatIsDamagedOrUnknownIsRefused) {
  const std::string good = archive({});
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_EQ(unpacked(good.substr(0, size)),
              "m.pt2: error: damaged archive: no zip directory at its end; was the file copied completely?")
        << size;
  }
  EXPECT_EQ(unpacked(archive({.entries = 2})),
            "m.pt2: error: damaged archive: the zip directory ends in member 1 of 2");
  EXPECT_EQ(unpacked(archive({.crc = 1})), kDamaged);
  EXPECT_EQ(unpacked(archive({.size = 7})), kDamaged);
  EXPECT_EQ(unpacked(archive({.packed_size = 200, .size = 200})), kDamaged);
  EXPECT_EQ(unpacked(archive({.header = 1})), kDamaged);
  EXPECT_EQ(unpacked(archive({.header = 0xfffffff0})), kDamaged);
  EXPECT_EQ(
      unpacked(archive({.size = 0x7fffffff})),
      "m.pt2: 'a/model.json': error: the member claims to unpack from 8 to 2147483647 bytes, more than perfc accepts");
  EXPECT_EQ(unpacked(archive({.flags = 1})),
            "m.pt2: 'a/model.json': error: the member is encrypted; unpack the archive and pack it without a password");
  EXPECT_EQ(
      unpacked(archive({.method = 14})),
      "m.pt2: 'a/model.json': error: the member is compressed by method 14; perfc reads stored and deflated members");
  for (const int by : {-1, 1}) {  // the size in the directory is one off
    Packed p = deflated("some text to deflate");
    p.size = p.data.size() + static_cast<std::size_t>(by);
    EXPECT_EQ(unpacked(archive(p)), kDamaged);
  }
  Packed p = deflated("some text to deflate");
  p.packed[3] = static_cast<char>(p.packed[3] ^ 0x55);
  EXPECT_EQ(unpacked(archive(p)), kDamaged);
}

}  // namespace
}  // namespace perfc
