#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ostream>
#include <streambuf>

#include "cli/cli.h"

namespace perfc::cli {

namespace {

/// What went wrong when messages were written, as an errno; 0: nothing, or nobody reads them.
int messages_lost = 0;

/// Standard error as a stream.
class Messages : public std::streambuf {
  std::streamsize xsputn(const char* text, std::streamsize n) override {
    to_stderr({text, static_cast<std::size_t>(n)});
    return n;
  }
  int_type overflow(int_type c) override {
    const char byte = traits_type::to_char_type(c);
    if (!traits_type::eq_int_type(c, traits_type::eof())) to_stderr({&byte, 1});
    return traits_type::not_eof(c);
  }
};

}  // namespace

void keep_standard_descriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    // Reads and writes of it fail as they would of none, but no file that is opened later takes its number.
    if (::fcntl(fd, F_GETFD) < 0) [[maybe_unused]]
      const int same = ::open("/", O_PATH);
  }
}

int finished(int code) { return code == kFine && messages_lost != 0 ? int{kBadInput} : code; }

void to_stderr(std::string_view text) {
  const int error = write_all(STDERR_FILENO, text);
  if (error != EBADF && error != 0) messages_lost = error;
}

std::ostream& messages() {
  static Messages buffer;
  static std::ostream stream(&buffer);
  return stream;
}

int fail(int code, const std::string& message) {
  say("perfc: error: {}\n", message);
  return code;
}

void print(const Diagnostics& diags) { to_stderr(diags.str()); }

void print_warnings(const Diagnostics& diags) {
  for (const Diagnostic& d : diags.all()) {
    if (d.severity != Severity::Error) say("{}\n", to_string(d));
  }
}

void print_new_warnings(const Diagnostics& diags, std::set<std::string>& said) {
  for (const Diagnostic& d : diags.all()) {
    const std::string text = to_string(d);
    if (d.severity != Severity::Error && said.insert(text).second) say("{}\n", text);
  }
}

std::optional<Output> Output::open(const std::string& path) {
  Output out;
  if (path.empty() || path == "-") return out;
  Diagnostics diags;
  auto file = OutputFile::open(path, diags);
  print(diags);
  if (!file) return std::nullopt;
  out.file_ = std::move(*file);
  return out;
}

bool Output::commit() {
  if (file_) {
    Diagnostics diags;
    const Status written = file_->commit(text_, diags);
    print(diags);
    return bool(written);
  }
  const int error = write_all(STDOUT_FILENO, text_);
  text_.clear();
  if (error) fail(kBadInput, fmt::format("standard output: cannot write: {}", std::strerror(error)));
  return error == 0;
}

bool Output::is_terminal() const { return !file_ && ::isatty(STDOUT_FILENO); }

Colour colour_for(const Output& out) {
  const char* no = std::getenv("NO_COLOR");
  return out.is_terminal() && !(no && *no) ? Colour::Yes : Colour::No;
}

}  // namespace perfc::cli
