#pragma once
/// Members of a zip archive in memory, stored or deflated, sizes bounded.
/// Format: APPNOTE.TXT 6.3.10 (PKWARE), with the 64-bit fields of its section 4.5.3.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/support/diagnostics.h"

namespace perfc {

class ZipArchive {
 public:
  /// No member is read beyond this, nor beyond `kMaxRatio` times its compressed
  /// size (and a little): what a small file can make us allocate is bounded.
  static constexpr std::uint64_t kMaxMember = std::uint64_t{512} << 20;
  static constexpr std::uint64_t kMaxRatio = 256;
  static constexpr std::uint64_t kSmall = std::uint64_t{1} << 20;

  /// Bytes of a file that is read in parts: at most `n` from `at` on; nothing: it cannot be read.
  using PartReader = std::function<std::optional<std::string>(std::uint64_t at, std::uint64_t n)>;
  /// An archive of what front ends read in one of `size` bytes: its directory, its small members and its JSON. Others
  /// are weights, and come out empty. Nothing: it has no directory, or the parts that are wanted exceed `most` bytes.
  static std::optional<std::string> without_weights(const PartReader&, std::uint64_t size, std::uint64_t most);

  /// Reads the directory at the end of `bytes`, which must outlive the archive.
  static Result<ZipArchive> open(std::string_view bytes, Diagnostics&);

  const std::vector<std::string>& names() const { return names_; }
  /// The first member whose name ends so.
  std::optional<std::size_t> find(std::string_view ending) const;
  /// A member, unpacked; fails where its checksum differs from the directory's.
  Result<std::string> read(std::size_t member, Diagnostics&) const;

 private:
  /// What the directory says of a member. Sizes in bytes.
  struct Member {
    std::uint16_t flags = 0, method = 0;
    std::uint32_t crc = 0;
    std::uint64_t packed = 0, size = 0;
    std::uint64_t header = 0;  ///< offset of its local header
  };

  struct Entry;

  ZipArchive() = default;
  static std::optional<Entry> next_entry(std::string_view& rest);
  std::string_view bytes_;
  std::vector<std::string> names_;
  std::vector<Member> members_;
};

}  // namespace perfc
