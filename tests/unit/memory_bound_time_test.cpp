/// Times of memory-bound kernels: as the study that fitted them says, and never against physics.
#include "whitebox/price/memory_bound_time.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/unit/study_cases.h"
#include "whitebox/constants/memory_bound.h"

namespace perfc {
namespace {

constexpr MemoryBoundKind kKinds[] = {MemoryBoundKind::Elementwise,  MemoryBoundKind::SoftmaxWarp,
                                      MemoryBoundKind::SoftmaxTwice, MemoryBoundKind::LayerNorm,
                                      MemoryBoundKind::Gather,       MemoryBoundKind::SoftmaxBlock};
/// As the study has them; it has no SoftmaxBlock, which PyTorch did not have then.
constexpr const char* kNames[] = {"elementwise", "softmax_warp", "softmax_block", "layer_norm", "gather", ""};

/// Facts of an A100.
MemoryFacts a_gpu() { return {.bandwidth = 1.4e12, .l2_bytes = 40 << 20, .sms = 108, .clock_hz = 1.41e9, .lanes = 64}; }

MemoryBoundProblem problem(MemoryBoundKind kind, double rows, double columns, double width) {
  return {.kind = kind,
          .rows = rows,
          .columns = columns,
          .read = rows * columns * width,
          .written = rows * columns * width};
}

double work_s(const MemoryBoundProblem& k, const MemoryFacts& d) { return memory_bound_time(k, d).work_s; }

TEST(MemoryBoundTime, IsWhatTheStudySays) {
  const int cases = for_each_study_case("tests/fixtures/memory_bound_cases.tsv", [](std::istream& fields) {
    std::string name;
    MemoryFacts d;
    MemoryBoundProblem k;
    double memory_us, multiprocessor_us, work_us;
    fields >> name >> d.bandwidth >> d.l2_bytes >> d.sms >> d.clock_hz >> d.lanes >> k.rows >> k.columns >> k.read >>
        k.written >> memory_us >> multiprocessor_us >> work_us;
    for (std::size_t i = 0; i < std::size(kKinds); ++i) {
      if (name == kNames[i]) k.kind = kKinds[i];
    }
    const MemoryBoundTime t = memory_bound_time(k, d);
    EXPECT_NEAR(t.memory_s * 1e6, memory_us, 1e-6 * memory_us);
    EXPECT_NEAR(t.multiprocessor_s * 1e6, multiprocessor_us, 1e-6 * multiprocessor_us);
    EXPECT_NEAR(t.work_s * 1e6, work_us, 1e-6 * work_us);
  });
  EXPECT_GT(cases, 100);
}

TEST(MemoryBoundTime, ABetterDeviceIsNeverSlower) {
  for (const MemoryBoundKind kind : kKinds) {
    for (const double rows : {1.0, 20.0, 300.0, 5e4}) {
      for (const double columns : {1.0, 64.0, 1024.0, 8192.0}) {
        const MemoryBoundProblem k = problem(kind, rows, columns, 4);
        for (double MemoryFacts::*fact : {&MemoryFacts::bandwidth, &MemoryFacts::l2_bytes, &MemoryFacts::sms,
                                          &MemoryFacts::clock_hz, &MemoryFacts::lanes}) {
          MemoryFacts better = a_gpu();
          better.*fact *= 1.3;
          EXPECT_LE(work_s(k, better), work_s(k, a_gpu()) * (1 + 1e-12));
        }
      }
    }
  }
}

TEST(MemoryBoundTime, MoreBytesAreNeverFaster) {
  for (const MemoryBoundKind kind : kKinds) {
    double before = 0;
    for (double rows = 20; rows < 1e7; rows *= 1.5) {  // beyond the gather that walks over its rows
      const double now = work_s(problem(kind, rows, 768, 2), a_gpu());
      EXPECT_GE(now, before * (1 - 1e-12));
      EXPECT_LE(now, work_s(problem(kind, rows, 768, 4), a_gpu()) * (1 + 1e-12));  // nor are wider elements
      before = now;
    }
  }
}

TEST(MemoryBoundTime, LongStreamsTakeTheirBytesTime) {
  const MemoryBoundProblem k = problem(MemoryBoundKind::Elementwise, 1e6, 1024, 4);
  EXPECT_NEAR(work_s(k, a_gpu()), (k.read + k.written) / a_gpu().bandwidth, 0.01 * work_s(k, a_gpu()));
}

TEST(MemoryBoundTime, WhatTheCacheHoldsOnlyTheSmsLimit) {
  MemoryBoundProblem k = problem(MemoryBoundKind::Elementwise, 1024, 1024, 2);
  const MemoryBoundTime hot = memory_bound_time(k, a_gpu());
  EXPECT_LT(hot.memory_s, 0.01 * hot.multiprocessor_s);
  k.hot = 0;
  EXPECT_NEAR(memory_bound_time(k, a_gpu()).memory_s, (k.read + k.written) / a_gpu().bandwidth, 1e-15);
}

/// They are another kernel's, and do not wait as the rows of many do.
TEST(MemoryBoundTime, FewRowsOfAGatherComeOneAfterTheOther) {
  const auto clocks = [](double rows) {
    return memory_bound_time(problem(MemoryBoundKind::Gather, rows, 64, 2), a_gpu()).multiprocessor_s *
           a_gpu().clock_hz;
  };
  EXPECT_NEAR(clocks(1), constants::kSmallGatherClocks, 1e-6);
  EXPECT_NEAR(clocks(16), 16 * constants::kSmallGatherClocks, 1e-6);
  EXPECT_NEAR(clocks(17), constants::kGatherTime.alone, 1e-6);
}

TEST(MemoryBoundTime, NothingTakesNoTimeAndUnknownSmsCountNot) {
  for (const MemoryBoundKind kind : kKinds) {
    const double none = work_s({.kind = kind}, a_gpu());
    EXPECT_TRUE(std::isfinite(none));
    EXPECT_LT(none, 1e-6);
    const MemoryBoundTime t = memory_bound_time(problem(kind, 1000, 1000, 4), {.bandwidth = 1e12});
    EXPECT_EQ(t.multiprocessor_s, 0);
    EXPECT_GT(t.work_s, 0);
  }
}

}  // namespace
}  // namespace perfc
