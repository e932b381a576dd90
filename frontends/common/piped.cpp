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
    open_.push_back({std::numeric_limits<std::uint64_t>::max(), fields.root(pipe.bytes())});
  }

  bool run() {
    while (field()) {}
    return pipe_.error().empty();
  }

 private:
  struct Open {
    std::uint64_t end;
    std::uint8_t message;
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
    const auto length = varint();
    if (!length || *length > open_.back().end - at_) return false;
    const auto rule = std::find_if(rules_.begin(), rules_.end(), [&](const WeightRule& r) {
      return r.in == open_.back().message && r.field == number;
    });
    if (*length < kLarge || rule == rules_.end() || open_.size() == kDeepest) return step(*length, true);
    if (rule->is == kWeights) return step(*length, false);
    open_.push_back({at_ + *length, rule->is});
    return true;
  }

  std::optional<std::uint64_t> varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (at_ >= open_.back().end || !have(at_ + 1)) return {};
      const auto byte = static_cast<unsigned char>(pipe_.bytes()[at_++]);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (!(byte & 0x80)) return value;
    }
    return {};
  }

  bool have(std::uint64_t end) {
    while (pipe_.bytes().size() < end && !pipe_.at_end()) {
      if (!pipe_.keep(kAhead)) return false;
    }
    return pipe_.bytes().size() >= end;
  }

  bool step(std::uint64_t length, bool keep) {
    if (length > open_.back().end - at_) return false;
    at_ += length;
    const std::uint64_t there = pipe_.bytes().size();
    if (at_ <= there) return true;
    const auto more = static_cast<std::size_t>(at_ - there);
    return (keep ? pipe_.keep(more) : pipe_.skip(more)) && pipe_.bytes().size() >= at_;
  }

  PipeBytes& pipe_;
  std::span<const WeightRule> rules_;
  std::vector<Open> open_;
  std::uint64_t at_ = 0;
};

}  // namespace

bool read_without_weights(PipeBytes& pipe, const WeightFields& fields) { return Walk(pipe, fields).run(); }

}  // namespace perfc
