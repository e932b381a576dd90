#pragma once
/// Members of a zip archive in memory, read with libzip, sizes bounded.
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

  /// `bytes` must outlive the archive.
  static Result<ZipArchive> open(std::string_view bytes, Diagnostics&);
  ZipArchive(ZipArchive&&) noexcept;
  ZipArchive& operator=(ZipArchive&&) noexcept;
  ~ZipArchive();

  const std::vector<std::string>& names() const { return names_; }
  /// The first member whose name ends so.
  std::optional<std::size_t> find(std::string_view ending) const;
  Result<std::string> read(std::size_t member, Diagnostics&) const;

 private:
  ZipArchive() = default;
  void* handle_ = nullptr;             // zip_t
  std::vector<std::string> names_;
};

}  // namespace perfc
