#include "whitebox/timeline.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "whitebox/constants/runs.h"

namespace perfc {
namespace {

/// Kernels of a loop's body run `repeat` times in turn.
struct Body {
  std::vector<double> call_ms, device_ms;
  double repeat = 1;
};

/// Step by step: a kernel starts when it was sent and the device is done with those before it.
double simulated_ms(const std::vector<Body>& bodies, double host_after) {
  double host = 0, device = 0;
  for (const Body& b : bodies) {
    for (int trip = 0; trip < b.repeat; ++trip) {
      for (std::size_t i = 0; i < b.call_ms.size(); ++i) {
        device = std::max(device, host + constants::kSentInCall * b.call_ms[i]) + b.device_ms[i];
        host += b.call_ms[i];
      }
    }
  }
  return std::max(device, host + host_after);
}

std::vector<Dispatched> dispatched(const std::vector<Body>& bodies, double& host) {
  std::vector<Dispatched> out;
  for (const Body& b : bodies) {
    for (std::size_t i = 0; i < b.call_ms.size(); ++i) {
      host += b.repeat * b.call_ms[i];
      out.push_back({host, b.device_ms[i], b.repeat});
    }
  }
  return out;
}

/// A number below `n`.
unsigned draw(std::mt19937& random, unsigned n) { return static_cast<unsigned>(random() % n); }

std::vector<Body> random_bodies(std::mt19937& random) {
  std::vector<Body> out(1 + draw(random, 6));
  for (std::size_t at = 0; at < out.size(); ++at) {
    Body& b = out[at];
    b.repeat = 1 + static_cast<double>(draw(random, 2) * at);  // no two loops side by side of as many trips
    for (unsigned n = b.repeat > 1 ? 1 + draw(random, 4) : 1; n > 0; --n) {
      b.call_ms.push_back(0.4 * draw(random, 3));  // some are of the call before
      b.device_ms.push_back(0.1 * std::pow(10, 0.1 * draw(random, 20)));
    }
  }
  return out;
}

TEST(Timeline, IsWhatASimulationOfTheQueueTakes) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::vector<Body> bodies = random_bodies(random);
    const double after = static_cast<double>(draw(random, 3));
    double host = 0;
    const std::vector<Dispatched> kernels = dispatched(bodies, host);
    const Timeline t = Timeline::awaited(kernels, host + after);
    EXPECT_NEAR(t.ms(), simulated_ms(bodies, after), 1e-9) << "round " << round;
    for (Body& b : bodies) {
      for (double& ms : b.call_ms) ms *= 3;
      for (double& ms : b.device_ms) ms *= 1.5;
    }
    EXPECT_NEAR(t.ms(1.5, 3), simulated_ms(bodies, 3 * after), 1e-9) << "round " << round;
  }
}

TEST(Timeline, AKernelAtTheEndWaitsForTheHostAndOneAtTheBeginningHidesIt) {
  const std::vector<Dispatched> last{{1, 0.01}, {2, 0.01}, {3, 10}}, first{{1, 10}, {2, 0.01}, {3, 0.01}};
  EXPECT_NEAR(Timeline::awaited(last, 3).ms(), 2.5 + 10, 1e-9);
  EXPECT_NEAR(Timeline::awaited(first, 3).ms(), 0.5 + 10.02, 1e-9);
  EXPECT_NEAR(Timeline::awaited(last, 3).host_ms(), 2.5, 1e-9);
  EXPECT_NEAR(Timeline::awaited(first, 3).host_ms(), 0.5, 1e-9);
  EXPECT_NEAR(Timeline::awaited(last, 30).ms(), 30, 1e-9);  // calls that launch nothing follow
}

TEST(Timeline, ALoopThatMakesNoTripTakesNoTime) {
  const std::vector<Dispatched> kernels{{1, 5}, {1, 100, 0}, {1, 100, 0}, {3, 2}};
  EXPECT_NEAR(Timeline::awaited(kernels, 3).ms(), 0.5 + 7, 1e-9);
  EXPECT_NEAR(Timeline::of(kernels, 3, Pacing::Awaited).ms(), 0.5 + 7, 1e-9);
  EXPECT_NEAR(Timeline::of(kernels, 3, Pacing::Queued).ms(), 7, 1e-9);
}

TEST(Timeline, QueuedRunsTakeWhatIsLonger) {
  EXPECT_EQ(Timeline::queued(10, 3).ms(), 10);
  EXPECT_EQ(Timeline::queued(3, 10).ms(), 10);
  EXPECT_EQ(Timeline::queued(3, 10).ms(4), 12);
  EXPECT_EQ(Timeline::queued(10, 3).host_ms(), 0);
  EXPECT_EQ(Timeline::queued(0, 0).ms(), 0);
}

TEST(Timeline, NothingTakesNoTime) {
  EXPECT_EQ(Timeline::awaited({}, 0).ms(), 0);
  EXPECT_EQ(Timeline::awaited({}, 2).ms(), 2);
}

}  // namespace
}  // namespace perfc
