#include "frontends/common/zip.h"

#include <fmt/format.h>
#include <zip.h>

#include <utility>

namespace perfc {
namespace {

constexpr std::int64_t kMaxMembers = 1'000'000;
zip_t* handle(void* h) { return static_cast<zip_t*>(h); }

}  // namespace

Result<ZipArchive> ZipArchive::open(std::string_view bytes, Diagnostics& diags) {
  zip_error_t error;
  zip_error_init(&error);
  const auto fail = [&](const char* what) {
    Failure f = diags.error(fmt::format("damaged archive: {}: {}", what, zip_error_strerror(&error)));
    zip_error_fini(&error);
    return f;
  };
  zip_source_t* source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
  if (!source) return fail("cannot be read");
  ZipArchive a;
  a.handle_ = zip_open_from_source(source, ZIP_RDONLY, &error);
  if (!a.handle_) {
    zip_source_free(source);
    return fail("no zip directory");
  }
  zip_error_fini(&error);
  const zip_int64_t count = zip_get_num_entries(handle(a.handle_), 0);
  if (count > kMaxMembers) return diags.error(fmt::format("the archive has {} members", count));
  for (zip_int64_t i = 0; i < count; ++i) {
    const char* name = zip_get_name(handle(a.handle_), static_cast<zip_uint64_t>(i), 0);
    a.names_.emplace_back(name ? name : "");
  }
  return a;
}

ZipArchive::ZipArchive(ZipArchive&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), names_(std::move(other.names_)) {}
ZipArchive& ZipArchive::operator=(ZipArchive&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(names_, other.names_);
  return *this;
}
ZipArchive::~ZipArchive() {
  if (handle_) zip_discard(handle(handle_));
}

std::optional<std::size_t> ZipArchive::find(std::string_view ending) const {
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (std::string_view(names_[i]).ends_with(ending)) return i;
  }
  return std::nullopt;
}

Result<std::string> ZipArchive::read(std::size_t member, Diagnostics& diags) const {
  const std::string& name = names_[member];
  zip_stat_t stat;
  zip_stat_init(&stat);
  if (zip_stat_index(handle(handle_), member, 0, &stat) != 0 || !(stat.valid & ZIP_STAT_SIZE) || !(stat.valid & ZIP_STAT_COMP_SIZE)) {
    return diags.error({}, name, "damaged archive: the member has no size");
  }
  if (stat.size > kMaxMember || stat.size > kSmall + kMaxRatio * stat.comp_size) {
    return diags.error({}, name, fmt::format("the member claims to unpack from {} to {} bytes, more than perfc accepts",
                                             stat.comp_size, stat.size));
  }
  zip_file_t* file = zip_fopen_index(handle(handle_), member, 0);
  if (!file) {
    return diags.error({}, name, fmt::format("damaged archive: {}", zip_strerror(handle(handle_))));
  }
  std::string out(stat.size, '\0');
  std::size_t got = 0;
  while (got < out.size()) {
    const zip_int64_t n = zip_fread(file, out.data() + got, out.size() - got);
    if (n <= 0) break;
    got += static_cast<std::size_t>(n);
  }
  const bool whole = got == out.size();
  // At its end the checksum is compared.
  char beyond = 0;
  const bool ends = whole && zip_fread(file, &beyond, 1) == 0;
  const bool closed = zip_fclose(file) == 0;
  if (!ends || !closed) return diags.error({}, name, "damaged archive: the member does not unpack");
  return out;
}

}  // namespace perfc
