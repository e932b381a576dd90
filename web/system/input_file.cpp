/// Files of the browser: WASI has no mappings, so what a graph needs is read, and weights are left out.
#include "ir/support/input_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "frontends/common/wire.h"

namespace perfc {
namespace {

/// Files up to this size are read with their weights, as diagnostics then name the same places as the program's.
constexpr off_t kReadWhole = off_t{32} << 20;

}  // namespace

void wire::prefetch_alone(const char*, const char*) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

Mapping::~Mapping() { std::free(data_); }

bool Mapping::grow(std::size_t size) {
  auto* more = static_cast<char*>(std::realloc(data_, size));
  if (!more) {
    errno = ENOMEM;
    return false;
  }
  data_ = more;
  size_ = size;
  return true;
}

Result<InputFile> InputFile::open(const std::string& path, Diagnostics& diags, const PipeReader& reader) {
  InputFile in;
  const int fd = ::open(path.c_str(), O_RDONLY);
  if (fd < 0)
    return diags.error(
        fmt::format("cannot open: {}{}", std::strerror(errno), errno == ENOENT ? "; check the path" : ""));
  struct stat st {};
  const bool whole = ::fstat(fd, &st) == 0 && st.st_size <= kReadWhole;
  PipeBytes pipe = whole ? PipeBytes(fd) : PipeBytes(fd, static_cast<std::uint64_t>(st.st_size));
  const bool read = whole ? read_to_end(pipe) : reader(pipe);
  ::close(fd);
  if (!read) return diags.error("cannot read: " + pipe.error());
  in.size_ = pipe.bytes().size();
  in.memory_ = std::move(pipe).take();
  return in;
}

}  // namespace perfc
