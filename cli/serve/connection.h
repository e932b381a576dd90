#pragma once
/// A client's connection as cpp-httplib reads and writes it, with limits on what a client can make the server hold and
/// on how long it can take.
#include <httplib.h>
#undef _res  // of <resolv.h>, which httplib.h includes: a parameter's name in Eigen

#include <array>
#include <atomic>
#include <chrono>
#include <functional>

#include "ir/support/output_file.h"

namespace perfc::cli {

class Connection : public httplib::Stream {
 public:
  using Clock = std::chrono::steady_clock;

  /// `stopping`: no request is read any further.
  Connection(Descriptor socket, const std::atomic<bool>& stopping);

  /// Waits for the next request; false: none came, or `unwanted` said so.
  bool await_request(std::chrono::milliseconds, const std::function<bool()>& unwanted);
  /// From here on a request's head is read, which has a limit in bytes and in time.
  void begin_head();
  /// From here on its body is, until `end`.
  void begin_body(Clock::time_point end);

  bool head_too_large() const { return head_too_large_; }
  bool late() const { return late_; }
  std::uint64_t received() const { return received_; }  ///< bytes, of this request
  /// No further request is read from it, or, after all, one is.
  void close_after() { closing_ = true; }
  void keep() { closing_ = false; }
  bool closing() const { return closing_; }
  /// Ends it so that an answer arrives that was given before the whole request was read.
  void finish();

  bool is_readable() const override;
  bool is_writable() const override;
  ssize_t read(char* to, std::size_t size) override;
  ssize_t write(const char* from, std::size_t size) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  socket_t socket() const override { return socket_.get(); }

 private:
  bool fill();
  Descriptor socket_;
  const std::atomic<bool>& stopping_;
  std::array<char, 16384> buffer_{};
  std::size_t next_ = 0, end_ = 0;  ///< in the buffer
  std::uint64_t received_ = 0;
  Clock::time_point until_{};
  bool in_head_ = true, head_too_large_ = false, late_ = false, closing_ = false;
};

}  // namespace perfc::cli
