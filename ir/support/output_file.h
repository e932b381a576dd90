#pragma once
/// Writing files: complete or not at all, and no failure unseen.
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "ir/support/diagnostics.h"

namespace perfc {

/// A file descriptor of our own, closed at the end; −1: none.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  /// Closes it; 0, or what went wrong as an errno.
  int close();

 private:
  int fd_;
};

/// Writes everything; 0, or what went wrong as an errno. A reader that closed its pipe has read all it wanted: 0.
int write_all(int fd, std::string_view bytes);

/// Bytes of a file.
struct FilePart {
  std::string path;
  std::uint64_t offset = 0, length = 0;
};
/// Appends them to a file in pieces of a MiB; of zeros a regular file gets a hole. 0, or what went wrong as an errno:
/// ENODATA where the file ends before.
int copy_part(const FilePart&, int to);

/// A file under a name that goes away with this.
class Temporary {
 public:
  explicit Temporary(std::string name = {}) : name_(std::move(name)) {}
  Temporary(Temporary&& other) noexcept : name_(std::exchange(other.name_, {})) {}
  Temporary& operator=(Temporary&& other) noexcept {
    std::swap(name_, other.name_);
    return *this;
  }
  ~Temporary();
  const std::string& name() const { return name_; }
  /// Gives it another name, under which it stays; 0 or an errno.
  int rename_to(const std::string& target);

 private:
  std::string name_;  ///< empty: none
};

/// Where a result goes, by name. A regular file is written beside itself and then renamed, where symbolic links point
/// to: whatever fails or is killed leaves the old file, whose mode the new one takes over. What else can be written (a
/// device, a FIFO, a descriptor of ours as /dev/stdout or /dev/fd/3) is written in place.
class OutputFile {
 public:
  /// Finds out, before long work, whether `path` can be written. Of a regular file nothing is there or changed yet; a
  /// FIFO waits for its reader.
  static Result<OutputFile> open(const std::string& path, Diagnostics&);
  /// The whole contents, once.
  Status commit(std::string_view bytes, Diagnostics&);

  /// Writes to a descriptor; 0 or an errno.
  using Writer = std::function<int(int fd)>;
  /// Commits in two steps, so that several files change together: the contents, which are gone with this unless they
  /// are published.
  Status stage(const Writer&, Diagnostics&);
  Status publish(Diagnostics&);

 private:
  std::string path_;    ///< as given, for messages
  std::string target_;  ///< the file that is replaced; empty: written in place
  Descriptor in_place_;
  Temporary staged_;
};

/// Opens and commits.
Status write_file(const std::string& path, std::string_view bytes, Diagnostics&);

/// A log, followed while it grows: written in place, whole lines at a time.
class LogFile {
 public:
  /// Goes on after the first `keep` bytes; 0: from the beginning. Of what is no regular file nothing is kept or lost.
  static Result<LogFile> open(const std::string& path, std::uint64_t keep, Diagnostics&);
  Status write(std::string_view lines, Diagnostics&);
  /// How many bytes the log has.
  std::uint64_t bytes() const { return bytes_; }

 private:
  std::string path_;
  Descriptor file_;
  std::uint64_t bytes_ = 0;
};

}  // namespace perfc
