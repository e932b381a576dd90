#include "cli/serve/connection.h"

#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace perfc::cli {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMostHead = 64 << 10;  ///< bytes of a request line and its headers
constexpr auto kHeadTime = 10s, kWriteTime = 30s;
constexpr auto kSlice = 100ms;  ///< how long nobody looks whether the server stops
// Of a request that was answered before it was read, what is read and forgotten so that the client reads the answer.
constexpr std::uint64_t kMostForgotten = std::uint64_t{1} << 30;
constexpr auto kForgettingTime = 2s;

/// Waits for an event; false: it did not come in time.
bool ready(int fd, short event, std::chrono::milliseconds time) {
  pollfd waiting{fd, event, 0};
  int found = 0;
  do found = ::poll(&waiting, 1, static_cast<int>(time.count()));
  while (found < 0 && errno == EINTR);
  return found > 0;
}

std::chrono::milliseconds left(Connection::Clock::time_point until) {
  return std::max(0ms, std::chrono::ceil<std::chrono::milliseconds>(until - Connection::Clock::now()));
}

}  // namespace

Connection::Connection(Descriptor socket, const std::atomic<bool>& stopping)
    : socket_(std::move(socket)), stopping_(stopping) {
  const int yes = 1;  // head and body of an answer are written one after the other
  ::setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

bool Connection::await_request(std::chrono::milliseconds time, const std::function<bool()>& unwanted) {
  const auto until = Clock::now() + time;
  while (next_ == end_ && !ready(socket_.get(), POLLIN, std::min<std::chrono::milliseconds>(kSlice, left(until)))) {
    if (unwanted() || left(until) == 0ms) return false;
  }
  return true;
}

void Connection::begin_head() {
  received_ = end_ - next_;
  until_ = Clock::now() + kHeadTime;
  in_head_ = true;
  head_too_large_ = late_ = false;
}

void Connection::begin_body(Clock::time_point end) {
  until_ = end;
  in_head_ = false;
}

bool Connection::fill() {
  while (!stopping_) {
    if (left(until_) == 0ms) return !(late_ = true);
    if (!ready(socket_.get(), POLLIN, std::min<std::chrono::milliseconds>(kSlice, left(until_)))) continue;
    const ssize_t got = ::recv(socket_.get(), buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) return false;
    next_ = 0;
    end_ = static_cast<std::size_t>(got);
    received_ += end_;
    return true;
  }
  return false;
}

ssize_t Connection::read(char* to, std::size_t size) {
  if (in_head_ && received_ - (end_ - next_) >= kMostHead) head_too_large_ = true;
  if (in_head_ && head_too_large_) return -1;
  if (next_ == end_ && !fill()) return -1;
  const std::size_t count = std::min(size, end_ - next_);
  std::memcpy(to, buffer_.data() + next_, count);
  next_ += count;
  return static_cast<ssize_t>(count);
}

ssize_t Connection::write(const char* from, std::size_t size) {
  const auto until = Clock::now() + kWriteTime;
  std::size_t done = 0;
  while (done < size) {
    const ssize_t sent = ::send(socket_.get(), from + done, size - done, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) done += static_cast<std::size_t>(sent);
    else if (errno == EAGAIN ? !ready(socket_.get(), POLLOUT, left(until)) : errno != EINTR) return -1;
  }
  return static_cast<ssize_t>(done);
}

void Connection::finish() {
  ::shutdown(socket_.get(), SHUT_WR);
  const auto until = Clock::now() + kForgettingTime;
  std::uint64_t forgotten = end_ - next_;
  while (closing_ && !stopping_ && forgotten < kMostForgotten && left(until) > 0ms) {
    if (!ready(socket_.get(), POLLIN, std::min<std::chrono::milliseconds>(kSlice, left(until)))) continue;
    const ssize_t got = ::recv(socket_.get(), buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) break;
    if (got > 0) forgotten += static_cast<std::uint64_t>(got);
  }
  socket_ = Descriptor();
}

bool Connection::is_readable() const { return next_ < end_ || ready(socket_.get(), POLLIN, kSlice); }
bool Connection::is_writable() const { return ready(socket_.get(), POLLOUT, kWriteTime); }

void Connection::get_remote_ip_and_port(std::string& ip, int& port) const { ip.clear(), port = 0; }
void Connection::get_local_ip_and_port(std::string& ip, int& port) const { ip.clear(), port = 0; }

}  // namespace perfc::cli
