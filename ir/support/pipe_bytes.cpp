#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "ir/support/input_file.h"

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

}  // namespace

bool PipeBytes::keep(std::size_t n) { return advance(n, true); }
bool PipeBytes::skip(std::size_t n) { return advance(n, false); }

bool PipeBytes::leave_out(std::size_t ahead, std::uint64_t n) {
  size_ -= ahead;
  kept_ -= ahead;
  left_out_ += n;
  return seek();
}

bool PipeBytes::restart(std::uint64_t position) {
  size_ = kept_ = 0;
  left_out_ = position;
  return seek();
}

bool PipeBytes::seek() {
  at_end_ = false;
  if (::lseek(fd_, static_cast<off_t>(position()), SEEK_SET) >= 0) return true;
  error_ = std::strerror(errno);
  return false;
}

std::string PipeBytes::too_much() const {
  if (file_size_) return fmt::format("more than {} MiB beside weights; perfc's program reads it", kMostKept >> 20);
  return fmt::format("more than {} MiB{} come through a pipe; write them to a file and give its name",
                     (kept_ > kMostKept ? kMostKept : kMost) >> 20,
                     kept_ > kMostKept && kept_ < size_ ? " beside weights" : "");
}

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
      error_ = too_much();
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

}  // namespace perfc
