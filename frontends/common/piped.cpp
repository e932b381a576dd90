#include "frontends/common/piped.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

namespace perfc {
namespace {

constexpr std::size_t kAhead = 4096;  ///< bytes that are read at once, perhaps of weights
constexpr std::uint64_t kLarge = std::uint64_t{1}
                                 << 16;  ///< bytes from which on contents are never looked at: 4096 elements are kept
constexpr std::size_t kDeepest = 100;

/// Walks the fields of nested messages as they come.
class Walk {
 public:
  Walk(PipeBytes& pipe, const WeightFields& fields) : pipe_(pipe), rules_(fields.rules) {
    open_.push_back(
        {pipe.file_size().value_or(std::numeric_limits<std::uint64_t>::max()), fields.root(pipe.bytes()), {}});
  }

  bool run() {
    while (field()) {}
    return pipe_.error().empty();
  }

 private:
  /// A length as it stands in what is kept.
  struct Length {
    std::size_t at = 0, size = 0;
    std::uint64_t value = 0;
  };
  struct Open {
    std::uint64_t end;
    std::uint8_t message;
    Length length;
  };

  /// False at the end, at damage, and where the pipe fails.
  bool field() {
    while (open_.back().end == at_) open_.pop_back();
    const auto key = varint();
    if (!key || *key >> 3 == 0) return false;
    switch (*key & 7) {
      case 0:
        return varint().has_value();
      case 1:
        return step(8, true);
      case 5:
        return step(4, true);
      case 2:
        return bytes(static_cast<std::uint32_t>(*key >> 3));
      default:
        return false;
    }
  }

  bool bytes(std::uint32_t number) {
    const std::uint64_t before = at_;
    const auto length = varint();
    if (!length || *length > open_.back().end - at_) return false;
    const auto rule = std::find_if(rules_.begin(), rules_.end(), [&](const WeightRule& r) {
      return r.in == open_.back().message && r.field == number;
    });
    if (*length < kLarge || rule == rules_.end() || open_.size() == kDeepest) return step(*length, true);
    const Length kept{static_cast<std::size_t>(before - pipe_.left_out()), static_cast<std::size_t>(at_ - before),
                      *length};
    if (rule->is == kWeights) return pipe_.file_size() ? weights(kept) : step(*length, false);
    open_.push_back({at_ + *length, rule->is, kept});
    return true;
  }

  std::optional<std::uint64_t> varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (at_ >= open_.back().end || !have(at_ + 1)) return {};
      const auto byte = static_cast<unsigned char>(pipe_.bytes()[static_cast<std::size_t>(at_++ - pipe_.left_out())]);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (!(byte & 0x80)) return value;
    }
    return {};
  }

  bool have(std::uint64_t end) {
    while (pipe_.position() < end && !pipe_.at_end()) {
      if (!pipe_.keep(kAhead)) return false;
    }
    return pipe_.position() >= end;
  }

  /// Of a seekable file: leaves them out, but for a mask.
  bool weights(const Length& own) {
    if (own.value > open_.back().end - at_) return false;
    if (own.value <= kLargestMask - zeros_kept_ && zeros(own.value)) {
      zeros_kept_ += static_cast<std::size_t>(own.value);
      return step(own.value, true);
    }
    for (Open& message : open_) shorten(message.length, own.value);
    Length empty = own;
    shorten(empty, own.value);
    const std::uint64_t ahead = pipe_.position() - at_;
    at_ += own.value;
    return pipe_.leave_out(static_cast<std::size_t>(ahead), own.value);
  }

  bool zeros(std::uint64_t length) {
    for (std::uint64_t seen = 0; seen < length;) {
      const std::uint64_t upto = std::min(length, seen + kAhead);
      if (!have(at_ + upto)) return false;
      const auto part = pipe_.bytes().substr(static_cast<std::size_t>(at_ + seen - pipe_.left_out()),
                                             static_cast<std::size_t>(upto - seen));
      if (part.find_first_not_of('\0') != part.npos) return false;
      seen = upto;
    }
    return true;
  }

  /// Written as wide as it was, so that nothing moves: a varint may end in zeros.
  void shorten(Length& length, std::uint64_t by) {
    length.value -= length.size == 0 ? 0 : by;  // the file's own is nowhere
    std::uint64_t rest = length.value;
    for (std::size_t i = 0; i < length.size; ++i, rest >>= 7)
      pipe_.kept()[length.at + i] = static_cast<char>((rest & 0x7f) | (i + 1 < length.size ? 0x80 : 0));
  }

  bool step(std::uint64_t length, bool keep) {
    if (length > open_.back().end - at_) return false;
    at_ += length;
    const std::uint64_t there = pipe_.position();
    if (at_ <= there) return true;
    if (at_ - there > std::numeric_limits<std::size_t>::max()) return false;
    const auto more = static_cast<std::size_t>(at_ - there);
    return (keep ? pipe_.keep(more) : pipe_.skip(more)) && pipe_.position() >= at_;
  }

  PipeBytes& pipe_;
  std::span<const WeightRule> rules_;
  std::vector<Open> open_;
  std::uint64_t at_ = 0;
  std::size_t zeros_kept_ = 0;
};

}  // namespace

bool read_without_weights(PipeBytes& pipe, const WeightFields& fields) { return Walk(pipe, fields).run(); }

}  // namespace perfc
