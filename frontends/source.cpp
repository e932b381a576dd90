#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "frontends/foreign.h"
#include "frontends/frontend.h"

namespace perfc {
namespace {

constexpr std::size_t kMaxStdin = std::size_t{2} << 30;
constexpr std::size_t kHead = 4096;  ///< bytes that a front end looks at to know its format

/// Reads a pipe to its end. `limit` bounds what a hostile writer can make us allocate.
bool read_all(int fd, std::size_t limit, std::string& out) {
  char buffer[1 << 16];
  for (;;) {
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    if (n == 0) return true;
    if (out.size() + static_cast<std::size_t>(n) > limit) {
      errno = EFBIG;
      return false;
    }
    out.append(buffer, static_cast<std::size_t>(n));
  }
}

/// The model file of a SavedModel directory; other paths as they are.
std::string model_in(const std::string& path) {
  struct stat st{};
  if (::stat(path.c_str(), &st) != 0 || !S_ISDIR(st.st_mode)) return path;
  for (const char* name : {"/saved_model.pb", "/saved_model.pbtxt"}) {
    if (::stat((path + name).c_str(), &st) == 0 && S_ISREG(st.st_mode)) return path + name;
  }
  return path;
}

}  // namespace

Result<Source> Source::open(const std::string& given, Diagnostics& diags) {
  Source s;
  const std::string path = model_in(given);
  s.name_ = path == "-" ? "<stdin>" : path;
  if (path != given) diags.in_file(path);
  if (path == "-") {
    if (!read_all(STDIN_FILENO, kMaxStdin, s.owned_)) {
      return diags.error(fmt::format("cannot read standard input: {}", std::strerror(errno)));
    }
    s.data_ = s.owned_.data();
    s.size_ = s.owned_.size();
    return s;
  }
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return diags.error(fmt::format("cannot open: {}{}", std::strerror(errno),
                                   errno == ENOENT ? "; check the path" : ""));
  }
  struct stat st{};
  std::string problem;
  if (::fstat(fd, &st) != 0) {
    problem = std::strerror(errno);
  } else if (S_ISDIR(st.st_mode)) {
    problem = "is a directory without a saved_model.pb or saved_model.pbtxt; name the model file in it";
  } else if (S_ISREG(st.st_mode) && st.st_size > 0) {
    const auto map = [&](int access) {
      return ::mmap(nullptr, static_cast<std::size_t>(st.st_size), access, MAP_PRIVATE | MAP_NORESERVE, fd, 0);
    };
    void* p = map(PROT_READ | PROT_WRITE);  // nobody writes; wire::prefetch_alone needs the right to
    if (p == MAP_FAILED) p = map(PROT_READ);
    if (p == MAP_FAILED) {
      problem = std::strerror(errno);
    } else {
      ::madvise(p, static_cast<std::size_t>(st.st_size), MADV_RANDOM);
      s.data_ = static_cast<const char*>(p);
      s.size_ = static_cast<std::size_t>(st.st_size);
      s.mapped_ = true;
    }
  } else if (!read_all(fd, kMaxStdin, s.owned_)) {
    problem = std::strerror(errno);
  } else {
    s.data_ = s.owned_.data();
    s.size_ = s.owned_.size();
  }
  ::close(fd);
  if (!problem.empty()) return diags.error("cannot read: " + problem);
  return s;
}

Source Source::from_bytes(std::string name, std::string bytes) {
  Source s;
  s.name_ = std::move(name);
  s.owned_ = std::move(bytes);
  s.data_ = s.owned_.data();
  s.size_ = s.owned_.size();
  return s;
}

Source::Source(Source&& other) noexcept { *this = std::move(other); }

Source& Source::operator=(Source&& other) noexcept {
  if (this == &other) return *this;
  if (mapped_) ::munmap(const_cast<char*>(data_), size_);
  name_ = std::move(other.name_);
  owned_ = std::move(other.owned_);
  mapped_ = std::exchange(other.mapped_, false);
  size_ = std::exchange(other.size_, 0);
  data_ = mapped_ ? other.data_ : owned_.data();
  other.data_ = nullptr;
  return *this;
}

Source::~Source() {
  if (mapped_) ::munmap(const_cast<char*>(data_), size_);
}

Result<Graph> import_model(const Source& source, const ImportOptions& options, Diagnostics& diags) {
  if (source.bytes().empty()) return diags.error("the file is empty; a model file was expected");
  if (const auto foreign = foreign_format(source.bytes())) return diags.error(fmt::format("cannot import: {}", *foreign));
  const FrontendDef* chosen = nullptr;
  std::size_t longest = 0;
  for (const FrontendDef& f : frontend_table()) {
    std::string_view rest = f.extensions;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(' '), rest.size());
      const std::string_view extension = rest.substr(0, end);
      // Where several formats end alike (".json"), the content decides.
      const bool better = extension.size() > longest || (extension.size() == longest && !chosen->sniff(source.bytes().substr(0, kHead)) &&
                                                         f.sniff(source.bytes().substr(0, kHead)));
      if (source.name().ends_with(extension) && better) {
        chosen = &f;
        longest = extension.size();
      }
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  if (!chosen) {
    for (const FrontendDef& f : frontend_table()) {
      if (f.sniff(source.bytes().substr(0, kHead))) {
        chosen = &f;
        break;
      }
    }
  }
  if (!chosen) {
    std::string known;
    for (const FrontendDef& f : frontend_table()) {
      known += fmt::format("{}{} ({})", known.empty() ? "" : ", ", f.summary, f.extensions);
    }
    return diags.error(fmt::format("not a model format that perfc reads; it reads {}", known));
  }
  if (!options.signature.empty() && !chosen->signatures) {
    return diags.error(fmt::format("--signature: only TensorFlow models have signatures; this is {}", chosen->summary));
  }
  return chosen->import(source, options, diags);
}

}  // namespace perfc
