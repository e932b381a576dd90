#pragma once
/// Members of a zip archive in memory, stored or deflated, sizes bounded.
/// Format: APPNOTE.TXT 6.3.10 (PKWARE), with the 64-bit fields of its section 4.5.3.
#include <cstdint>
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

  ZipArchive() = default;
  std::string_view bytes_;
  std::vector<std::string> names_;
  std::vector<Member> members_;
};

}  // namespace perfc
