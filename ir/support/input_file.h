#pragma once
/// Reading files: regular ones are mapped and cost what is looked at; pipes and terminals are read into bounded memory;
/// devices are refused.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "ir/support/diagnostics.h"

namespace perfc {

/// An anonymous mapping, or that of a file.
class Mapping {
 public:
  Mapping() = default;
  Mapping(char* data, std::size_t size) : data_(data), size_(size) {}
  Mapping(Mapping&& other) noexcept { *this = std::move(other); }
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();
  char* data() const { return data_; }
  std::size_t size() const { return size_; }
  /// Of an anonymous one: more bytes, zero until written. False: no address space.
  bool grow(std::size_t size);

 private:
  char* data_ = nullptr;
  std::size_t size_ = 0;
};

/// What comes through a pipe, or out of a file where none is mapped (web/). Bytes that were stepped over read as zeros
/// and cost no memory; those that were left out are not there.
class PipeBytes {
 public:
  static constexpr std::size_t kMostKept = std::size_t{256} << 20;  ///< of a graph without its weights, or of a table
  static constexpr std::size_t kMost = std::size_t{2} << 30;        ///< of it all: protobuf's largest message

  explicit PipeBytes(int fd) : fd_(fd) {}
  /// A file of `size` bytes that can be sought in: weights are left out, and there may be any number of them.
  PipeBytes(int fd, std::uint64_t size) : fd_(fd), file_size_(size) {}
  /// Keeps the next `n` bytes, or those up to the end. False: failed, see error().
  bool keep(std::size_t n);
  /// Steps over the next `n` bytes, or those up to the end.
  bool skip(std::size_t n);
  /// Of a seekable file: takes back the last `ahead` bytes, and goes on `n` bytes from where they began.
  bool leave_out(std::size_t ahead, std::uint64_t n);
  /// Of a seekable file: forgets what is kept, and goes on at a place.
  bool restart(std::uint64_t position);
  bool at_end() const { return at_end_; }
  /// Of a seekable file.
  const std::optional<std::uint64_t>& file_size() const { return file_size_; }
  std::string_view bytes() const { return {memory_.data(), size_}; }
  /// What is kept, to say in it that something was left out.
  char* kept() { return memory_.data(); }
  std::uint64_t left_out() const { return left_out_; }
  /// Where the next byte comes from, in the file.
  std::uint64_t position() const { return size_ + left_out_; }
  const std::string& error() const { return error_; }
  Mapping take() && { return std::move(memory_); }

 private:
  bool advance(std::size_t n, bool kept);
  bool seek();
  std::string too_much() const;
  int fd_;
  std::optional<std::uint64_t> file_size_;
  Mapping memory_;
  std::size_t size_ = 0, kept_ = 0;
  std::uint64_t left_out_ = 0;
  bool at_end_ = false;
  std::string error_;
};

/// Reads a pipe as far as its contents are wanted; false: failed.
using PipeReader = std::function<bool(PipeBytes&)>;
/// Everything.
bool read_to_end(PipeBytes&);

/// A file's bytes, or standard input's. They live as long as this does.
class InputFile {
 public:
  /// "-" is standard input. Diagnostics name the file already.
  static Result<InputFile> open(const std::string& path, Diagnostics&, const PipeReader& = read_to_end);
  std::string_view bytes() const { return {memory_.data(), size_}; }

 private:
  Mapping memory_;
  std::size_t size_ = 0;
};

}  // namespace perfc
