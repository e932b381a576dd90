#include "ir/support/input_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "ir/support/output_file.h"

namespace perfc {
namespace {

constexpr std::size_t kFirst = std::size_t{1} << 16;  ///< bytes that are read at once at most, and reserved at first

/// At most `n` bytes; 0 at the end, −1 on failure.
ssize_t read_some(int fd, char* to, std::size_t n) {
  for (;;) {
    const ssize_t got = ::read(fd, to, std::min(n, kFirst));
    if (got >= 0) return got;
    if (errno == EAGAIN) {  // made non-blocking by whoever shares it
      struct pollfd ready {
        .fd = fd, .events = POLLIN, .revents = 0
      };
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return -1;
    }
  }
}

/// Why nothing is read from what has this status; empty: it is read.
std::string why_not(int fd, const struct stat& st) {
  if (S_ISDIR(st.st_mode)) return std::strerror(EISDIR);
  if (S_ISBLK(st.st_mode) || (S_ISCHR(st.st_mode) && !::isatty(fd)))
    return "it is a device; name a file, or pipe one in";
  return {};
}

}  // namespace

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

Mapping::~Mapping() {
  if (data_) ::munmap(data_, size_);
}

bool Mapping::grow(std::size_t size) {
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* p = data_ ? ::mremap(data_, size_, size, MREMAP_MAYMOVE)
                  : ::mmap(nullptr, size, PROT_READ | PROT_WRITE, kFlags, -1, 0);
  if (p == MAP_FAILED) return false;
  data_ = static_cast<char*>(p);
  size_ = size;
  ::madvise(p, size, MADV_NOHUGEPAGE);  // a header between weights would cost as much as they do
  return true;
}

bool PipeBytes::keep(std::size_t n) { return advance(n, true); }
bool PipeBytes::skip(std::size_t n) { return advance(n, false); }

bool PipeBytes::advance(std::size_t n, bool kept) {
  char unwanted[kFirst];
  while (n > 0 && !at_end_) {
    // One byte more than may be kept tells whether there are more.
    const std::size_t wanted = std::min(n, kFirst);
    if (memory_.size() < size_ + wanted && !memory_.grow(std::max({kFirst, 2 * memory_.size(), size_ + wanted}))) {
      error_ = std::strerror(errno);
      return false;
    }
    const ssize_t got = read_some(fd_, kept ? memory_.data() + size_ : unwanted, wanted);
    if (got < 0) {
      error_ = std::strerror(errno);
      return false;
    }
    at_end_ = got == 0;
    size_ += static_cast<std::size_t>(got);
    if (kept) kept_ += static_cast<std::size_t>(got);
    n -= static_cast<std::size_t>(got);
    if (kept_ > kMostKept || size_ > kMost) {
      error_ = fmt::format("more than {} MiB{} come through a pipe; write them to a file and give its name",
                           (kept_ > kMostKept ? kMostKept : kMost) >> 20,
                           kept_ > kMostKept && kept_ < size_ ? " beside weights" : "");
      return false;
    }
  }
  return true;
}

bool read_to_end(PipeBytes& pipe) {
  while (!pipe.at_end()) {
    if (!pipe.keep(kFirst)) return false;
  }
  return true;
}

Result<InputFile> InputFile::open(const std::string& path, Diagnostics& diags, const PipeReader& reader) {
  InputFile in;
  const bool standard = path == "-";
  Descriptor file(standard ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
                           : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  const std::string what = standard ? "cannot read standard input: " : "cannot read: ";
  if (standard && ::read(STDIN_FILENO, nullptr, 0) < 0 && errno == EBADF)
    return diags.error(what + std::strerror(EBADF));  // closed
  if (!file && standard) return diags.error(what + std::strerror(errno));
  if (!file)
    return diags.error(
        fmt::format("cannot open: {}{}", std::strerror(errno), errno == ENOENT ? "; check the path" : ""));
  struct stat st {};
  if (::fstat(file.get(), &st) != 0) return diags.error(what + std::strerror(errno));
  if (const std::string why = why_not(file.get(), st); !why.empty()) return diags.error(what + why);
  if (S_ISREG(st.st_mode) && st.st_size > 0 && (!standard || ::lseek(file.get(), 0, SEEK_CUR) == 0)) {
    in.size_ = static_cast<std::size_t>(st.st_size);
    const auto map = [&](int access) {
      return ::mmap(nullptr, in.size_, access, MAP_PRIVATE | MAP_NORESERVE, file.get(), 0);
    };
    void* p = map(PROT_READ | PROT_WRITE);  // nobody writes; wire::prefetch_alone needs the right to
    if (p == MAP_FAILED) p = map(PROT_READ);
    if (p == MAP_FAILED) return diags.error(what + std::strerror(errno));
    ::madvise(p, in.size_, MADV_RANDOM);
    in.memory_ = Mapping(static_cast<char*>(p), in.size_);
    return in;
  }
  PipeBytes pipe(file.get());
  if (!reader(pipe)) return diags.error(what + pipe.error());
  in.size_ = pipe.bytes().size();
  in.memory_ = std::move(pipe).take();
  return in;
}

}  // namespace perfc
