#pragma once
/// What a server counts, in Prometheus' text format.
#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace perfc::cli {

/// Why a request was not taken on.
enum class Rejected { Full, Stopping, Waited, Body, Slow, Nodes, Time };
inline constexpr std::array<std::string_view, 7> kRejectedNames{"full", "stopping", "waited", "body",
                                                                "slow", "nodes",    "time"};

class Metrics {
 public:
  /// A request that was answered. `path`: one of the server's, else "other".
  void answered(std::string_view path, int status, std::uint64_t received, std::uint64_t sent);
  void rejected(Rejected);
  /// From a prediction's request to its answer.
  void predicted(double seconds);
  /// `working`, `waiting`: requests that are predicted now, and those before that.
  std::string text(std::size_t working, std::size_t waiting) const;

 private:
  static constexpr std::array kBounds{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0};  ///< s
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, std::uint64_t> requests_;
  std::array<std::uint64_t, kRejectedNames.size()> rejected_{};
  std::array<std::uint64_t, kBounds.size()> at_most_{};
  std::uint64_t predictions_ = 0, received_ = 0, sent_ = 0;
  double seconds_ = 0;
};

}  // namespace perfc::cli
