#include <fcntl.h>
#include <sys/stat.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "cli/cli.h"

namespace perfc::cli {

int fail(int code, const std::string& message) {
  fmt::print(stderr, "perfc: error: {}\n", message);
  return code;
}

void print(const Diagnostics& diags) { fmt::print(stderr, "{}", diags.str()); }

void print_warnings(const Diagnostics& diags) {
  for (const Diagnostic& d : diags.all()) {
    if (d.severity != Severity::Error) fmt::print(stderr, "{}\n", to_string(d));
  }
}

std::optional<Output> Output::open(const std::string& path) {
  Output out;
  if (path.empty() || path == "-") return out;
  out.path_ = path;
  out.temporary_ = path + ".XXXXXX";
  out.fd_ = ::mkstemp(out.temporary_.data());
  if (out.fd_ < 0) {
    fail(kBadInput, fmt::format("{}: cannot write: {}", path, std::strerror(errno)));
    return std::nullopt;
  }
  ::fchmod(out.fd_, 0644);
  return out;
}

Output::Output(Output&& other) noexcept
    : path_(std::move(other.path_)), temporary_(std::move(other.temporary_)), text_(std::move(other.text_)), fd_(std::exchange(other.fd_, 1)) {
  other.temporary_.clear();
}

Output::~Output() {
  if (temporary_.empty()) return;
  ::close(fd_);
  ::unlink(temporary_.c_str());
}

bool Output::commit() {
  std::string_view rest = text_;
  while (!rest.empty()) {
    const ssize_t n = ::write(fd_, rest.data(), rest.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      fail(kBadInput, fmt::format("{}: cannot write: {}", path_.empty() ? "standard output" : path_, std::strerror(errno)));
      return false;
    }
    rest.remove_prefix(static_cast<std::size_t>(n));
  }
  text_.clear();
  if (temporary_.empty()) return true;
  if (::close(fd_) != 0 || ::rename(temporary_.c_str(), path_.c_str()) != 0) {
    fail(kBadInput, fmt::format("{}: cannot write: {}", path_, std::strerror(errno)));
    ::unlink(temporary_.c_str());
    temporary_.clear();
    return false;
  }
  temporary_.clear();
  return true;
}

bool Output::is_terminal() const { return path_.empty() && ::isatty(1); }

Colour colour_for(const Output& out) {
  const char* no = std::getenv("NO_COLOR");
  return out.is_terminal() && !(no && *no) ? Colour::Yes : Colour::No;
}

}  // namespace perfc::cli
