#pragma once
/// When a run ends that a host dispatches kernel by kernel while a device computes what it has got, in order.
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace perfc {

/// How runs follow each other.
enum class Pacing : std::uint8_t {
  Awaited,  ///< each is waited for before the next begins: a service, most benchmarks
  Queued,   ///< queued up while the device still works: training steps, loops between two events
};

/// A kernel as the host sends it, `repeat` times in a loop together with its neighbours of as many repeats.
struct Dispatched {
  double host_ms = 0;    ///< what the host did until the call that sends it is over, all repeats
  double device_ms = 0;  ///< one launch
  double repeat = 1;
};

/// A kernel starts when it was sent and those before it are done. So a run takes the longest of: the host's time until
/// a kernel is sent and the device's from there on, over all kernels; or all of the host's. Of these sums only those
/// matter that are the longest for some speed of either.
class Timeline {
 public:
  /// `host_ms`, here and below: all that the host does in a run.
  static Timeline of(std::span<const Dispatched>, double host_ms, Pacing);
  /// Each run is waited for before the next begins: the device starts with nothing to do.
  static Timeline awaited(std::span<const Dispatched>, double host_ms);
  /// Runs queue up behind each other: either sets the pace.
  static Timeline queued(double device_ms, double host_ms);

  /// With the device's and the host's times these factors longer.
  double ms(double device_factor = 1, double host_factor = 1) const;
  /// Of `ms`, what the host sets: the time in which a host twice as slow would take twice as long.
  double host_ms() const { return longest(1, 1).host_ms; }

 private:
  struct Sum {
    double host_ms = 0, device_ms = 0;
    double ms(double device_factor, double host_factor) const {
      return host_ms * host_factor + device_ms * device_factor;
    }
  };
  explicit Timeline(std::vector<Sum> sums) : sums_(std::move(sums)) {}
  void add(Sum);
  const Sum& longest(double device_factor, double host_factor) const;
  std::vector<Sum> sums_;  ///< never empty; from one to the next the host's part falls and the device's grows
};

/// Factors down and up from a predicted time that hold 90 % of the measured ones.
struct TimeInterval {
  double down = 1, up = 1;
};
/// Of a time that the device's and the host's make together, where each is uncertain by a factor of its own: what
/// either moves the time by, joined in squares of logarithms, for the two are independent. So the host's factor holds
/// alone where it bounds the run, and does not count where the device does by far.
TimeInterval time_interval(const Timeline&, double device_factor, double host_factor);

}  // namespace perfc
