#pragma once
/// Writing files: complete or not at all, and no failure unseen.
#include <cstdint>
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

 private:
  std::string path_;    ///< as given, for messages
  std::string target_;  ///< the file that is replaced; empty: written in place
  Descriptor in_place_;
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
