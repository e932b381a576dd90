#pragma once
/// Random numbers that depend on what they are for and on nothing else.
///
/// Counter-based: the n-th number of a stream is a hash of (seed, stream, n), so
/// it needs no state to save, is the same on every thread and survives a resume.
/// The hash is SplitMix64's finaliser (Steele, Lea, Flood: "Fast splittable
/// pseudorandom number generators", OOPSLA 2014), applied once per key word.
/// The standard library's distributions differ between implementations and are
/// not used.
#include <cstdint>
#include <cstring>
#include <string_view>

namespace perfc {

constexpr std::uint64_t mix64(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

class Random {
 public:
  constexpr explicit Random(std::uint64_t seed) : key_(mix64(seed + kGolden)) {}

  /// An independent generator for a purpose: a step, a layer, a row, a name.
  constexpr Random stream(std::uint64_t id) const { return Random(key_ ^ mix64(id + kGolden), 0); }
  constexpr Random stream(std::string_view name) const {
    std::uint64_t hash = 0xcbf29ce484222325ULL;  // FNV-1a
    for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    return stream(hash);
  }

  /// The n-th number: 64 random bits.
  constexpr std::uint64_t bits(std::uint64_t n) const { return mix64(key_ + (n + 1) * kGolden); }
  /// In [0, 1), 53 bits.
  constexpr double uniform(std::uint64_t n) const { return static_cast<double>(bits(n) >> 11) * 0x1p-53; }
  /// In [low, high).
  constexpr double uniform(std::uint64_t n, double low, double high) const { return low + (high - low) * uniform(n); }
  /// In [0, below); the bias is below 2^-32 for below < 2^32.
  constexpr std::uint64_t index(std::uint64_t n, std::uint64_t below) const {
    return static_cast<std::uint64_t>((static_cast<Wide>(bits(n)) * below) >> 64);
  }
  /// Mean 0, deviation 1: the sum of twelve uniforms less six (Irwin–Hall), which
  /// needs no function whose last bit differs between C libraries. |x| < 6.
  constexpr double normal(std::uint64_t n) const {
    double sum = -6;
    for (std::uint64_t i = 0; i < 12; ++i) sum += uniform(n * 12 + i);
    return sum;
  }

 private:
  __extension__ using Wide = unsigned __int128;
  static constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15ULL;
  constexpr Random(std::uint64_t key, int) : key_(mix64(key + kGolden)) {}
  std::uint64_t key_;
};

}  // namespace perfc
