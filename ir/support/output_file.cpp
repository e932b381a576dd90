#include "ir/support/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdio>
#include <cstring>
#include <optional>
#include <vector>

namespace perfc {
namespace {

constexpr int kMostLinks = 40;     ///< that Linux follows
constexpr mode_t kNewFile = 0666;  ///< less the umask

Failure cannot_write(const std::string& path, int error, Diagnostics& diags) {
  return diags.error(fmt::format("{}: cannot write: {}", path, std::strerror(error)));
}

/// N of /dev/fd/N and its other names. To open these would empty the file that a shell appends to.
std::optional<int> own_descriptor(std::string_view path) {
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder)) continue;
    const std::string_view digits = path.substr(folder.size());
    int n = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
    if (error == std::errc{} && end == digits.data() + digits.size() && n >= 0) return n;
  }
  return {};
}

/// "" for a name without a folder.
std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }

/// The name at the end of the links, which need not exist.
std::string resolved(std::string path) {
  char link[PATH_MAX];
  for (int i = 0; i < kMostLinks && !own_descriptor(path); ++i) {
    const ssize_t n = ::readlink(path.c_str(), link, sizeof link);
    if (n < 0 || n == sizeof link) break;
    const std::string_view to(link, static_cast<std::size_t>(n));
    path = to.starts_with("/") ? std::string(to) : folder_of(path) + std::string(to);
  }
  return path;
}

bool same_file(const struct stat& a, const std::string& name) {
  struct stat b {};
  return ::stat(name.c_str(), &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

int open_file(const std::string& path, int flags) {
  for (;;) {
    const int fd = ::open(path.c_str(), flags | O_WRONLY | O_CLOEXEC | O_NOCTTY, kNewFile);
    if (fd >= 0 || errno != EINTR) return fd;
  }
}

/// A new file in the folder of `target`, and its name.
std::pair<Descriptor, std::string> beside(const std::string& target) {
  static std::atomic<unsigned> count = 0;
  for (;;) {
    std::string name = fmt::format("{}.perfc-{}-{}", folder_of(target), ::getpid(), count++);
    Descriptor file(open_file(name, O_CREAT | O_EXCL));
    if (file || errno != EEXIST) return {std::move(file), std::move(name)};
  }
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Descriptor::~Descriptor() { close(); }

int Descriptor::close() {
  const int fd = std::exchange(fd_, -1);
  return fd < 0 || ::close(fd) == 0 ? 0 : errno;
}

int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno == EAGAIN) {  // a pipe that its other owner made non-blocking
      struct pollfd ready {
        .fd = fd, .events = POLLOUT, .revents = 0
      };
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return errno == EPIPE ? 0 : errno;
    }
  }
  return 0;
}

int copy_part(const FilePart& part, int to) {
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  const Descriptor from(::open(part.path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!from) return errno;
  struct stat st {};
  const bool holes = ::fstat(to, &st) == 0 && S_ISREG(st.st_mode);
  std::vector<char> piece(std::min<std::uint64_t>(kPiece, part.length));
  for (std::uint64_t done = 0; done < part.length;) {
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(piece.size(), part.length - done));
    const ssize_t n = ::pread(from.get(), piece.data(), wanted, static_cast<off_t>(part.offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n < 0 ? errno : ENODATA;
    const std::string_view bytes(piece.data(), static_cast<std::size_t>(n));
    done += bytes.size();
    const bool zeros = holes && bytes[0] == 0 && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
    if (!zeros) {
      if (const int error = write_all(to, bytes)) return error;
      continue;
    }
    const off_t end = ::lseek(to, static_cast<off_t>(bytes.size()), SEEK_CUR);
    if (end < 0 || (done == part.length && ::ftruncate(to, end) != 0)) return errno;
  }
  return 0;
}

Temporary::~Temporary() {
  if (!name_.empty()) ::unlink(name_.c_str());
}

int Temporary::rename_to(const std::string& target) {
  if (std::rename(name_.c_str(), target.c_str()) != 0) return errno;
  name_.clear();
  return 0;
}

Result<OutputFile> OutputFile::open(const std::string& path, Diagnostics& diags) {
  OutputFile out;
  out.path_ = path;
  const std::string target = resolved(path);
  if (const auto own = own_descriptor(target)) {
    out.in_place_ = Descriptor(::fcntl(*own, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    if (!out.in_place_) return cannot_write(path, errno, diags);
    return out;
  }
  struct stat st {};
  const bool there = ::stat(path.c_str(), &st) == 0;
  if (!there && errno != ENOENT) return cannot_write(path, errno, diags);
  if (there && S_ISDIR(st.st_mode)) return cannot_write(path, EISDIR, diags);
  if (there && S_ISSOCK(st.st_mode))
    return diags.error(fmt::format("{}: cannot write: it is a socket; name a file, a FIFO or a device", path));
  if (there && (!S_ISREG(st.st_mode) || !same_file(st, target))) {
    out.in_place_ = Descriptor(open_file(path, O_TRUNC));
    if (!out.in_place_) return cannot_write(path, errno, diags);
    return out;
  }
  if (there && ::access(path.c_str(), W_OK) != 0) return cannot_write(path, errno, diags);  // a rename would not ask
  if (target.empty() || target.ends_with('/')) return cannot_write(path, target.empty() ? ENOENT : EISDIR, diags);
  if (::access((folder_of(target) + ".").c_str(), W_OK | X_OK) != 0) return cannot_write(path, errno, diags);
  out.target_ = target;
  return out;
}

Status OutputFile::commit(std::string_view bytes, Diagnostics& diags) {
  if (!stage([&](int fd) { return write_all(fd, bytes); }, diags)) return Failure{};
  return publish(diags);
}

Status OutputFile::stage(const Writer& write, Diagnostics& diags) {
  if (target_.empty()) {
    const int error = write(in_place_.get()), at_end = in_place_.close();
    if (error || at_end) return cannot_write(path_, error ? error : at_end, diags);
    return ok();
  }
  auto [file, name] = beside(target_);
  if (!file) return cannot_write(path_, errno, diags);
  staged_ = Temporary(name);
  struct stat old {};
  if (::stat(target_.c_str(), &old) == 0) {
    // Only root may give a file away; whoever else replaces another's file becomes its owner.
    [[maybe_unused]] const int given = ::fchown(file.get(), old.st_uid, old.st_gid);
    ::fchmod(file.get(), old.st_mode & 0777);
  }
  int error = write(file.get());
  const int at_end = file.close();
  if (!error) error = at_end;
  if (!error) return ok();
  staged_ = Temporary();
  return cannot_write(path_, error, diags);
}

Status OutputFile::publish(Diagnostics& diags) {
  if (target_.empty()) return ok();
  if (const int error = staged_.rename_to(target_)) return cannot_write(path_, error, diags);
  return ok();
}

Status write_file(const std::string& path, std::string_view bytes, Diagnostics& diags) {
  auto file = OutputFile::open(path, diags);
  return file ? file->commit(bytes, diags) : Failure{};
}

Result<LogFile> LogFile::open(const std::string& path, std::uint64_t keep, Diagnostics& diags) {
  LogFile log;
  log.path_ = path;
  const auto own = own_descriptor(resolved(path));
  log.file_ = Descriptor(own ? ::fcntl(*own, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) : open_file(path, O_CREAT | O_APPEND));
  struct stat st {};
  if (!log.file_ || ::fstat(log.file_.get(), &st) != 0) return cannot_write(path, errno, diags);
  if (own || !S_ISREG(st.st_mode)) return log;
  log.bytes_ = std::min(keep, static_cast<std::uint64_t>(st.st_size));
  if (::ftruncate(log.file_.get(), static_cast<off_t>(log.bytes_)) != 0) return cannot_write(path, errno, diags);
  return log;
}

Status LogFile::write(std::string_view lines, Diagnostics& diags) {
  if (const int error = write_all(file_.get(), lines)) return cannot_write(path_, error, diags);
  bytes_ += lines.size();
  return ok();
}

}  // namespace perfc
