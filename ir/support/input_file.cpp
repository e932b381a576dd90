#include "ir/support/input_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "ir/support/output_file.h"

namespace perfc {
namespace {

/// Why nothing is read from what has this status; empty: it is read.
std::string why_not(int fd, const struct stat& st) {
  if (S_ISDIR(st.st_mode)) return std::strerror(EISDIR);
  if (S_ISBLK(st.st_mode) || (S_ISCHR(st.st_mode) && !::isatty(fd)))
    return "it is a device; name a file, or pipe one in";
  return {};
}

}  // namespace

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
