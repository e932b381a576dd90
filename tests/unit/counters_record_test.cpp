#include "counters/record.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace perfc {
namespace {

TEST(CounterRecord, ColumnsHaveNamesUnitsAndMeanings) {
  ASSERT_EQ(counter_columns().size(), kCounterCount);
  ASSERT_EQ(counter_scales().size(), kCounterCount);
  for (std::size_t i = 0; i < kCounterCount; ++i) {
    const Column& c = counter_columns()[i];
    EXPECT_FALSE(c.unit.empty() || c.meaning.empty()) << c.name;
    EXPECT_EQ(find_counter(c.name), static_cast<Counter>(i)) << c.name;
  }
  EXPECT_EQ(counter_columns()[static_cast<std::size_t>(Counter::CpuToGpuBandwidth)].unit, "B/s");
  EXPECT_FALSE(find_counter("instruction"));
}

TEST(CounterRecord, MissingIsNoNumber) {
  CounterRecord r;
  EXPECT_EQ(r.known(), 0u);
  EXPECT_FALSE(r[Counter::PageFaults]);
  EXPECT_TRUE(r.set(Counter::PageFaults, 0));
  EXPECT_EQ(r[Counter::PageFaults], 0.0);
  EXPECT_EQ(r.known(), 1u);
  for (const double nothing : {-1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_FALSE(r.set(Counter::Threads, nothing));
    EXPECT_FALSE(r[Counter::Threads]);
  }
}

}  // namespace
}  // namespace perfc
