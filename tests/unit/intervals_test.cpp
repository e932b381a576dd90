/// How sure the whitebox is.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "graphs.h"
#include "round_device.h"
#include "whitebox/constants/runs.h"

namespace perfc {
namespace {

TEST(Whitebox, TheIntervalSaysWhatWasCalibrated) {
  Device d = round_device();
  const Graph g = graph_of(kDense);
  const Prediction unknown = predicted(g, {.precision = Precision::Amp}, d);
  EXPECT_GT(unknown.latency_hi_ms / unknown.latency_ms, 1.5);
  EXPECT_NEAR(unknown.latency_hi_ms / unknown.latency_ms, unknown.latency_ms / unknown.latency_lo_ms, 1e-9);
  EXPECT_EQ(unknown.novelty, (std::vector<std::string>{"device round was not calibrated with measurements"}));
  d.interval = {{"amp", 1.25}};
  const Prediction known = predicted(g, {.precision = Precision::Amp}, d);
  EXPECT_NEAR(known.latency_ms / known.latency_lo_ms, 1.25, 1e-9);
  EXPECT_TRUE(known.novelty.empty());
  EXPECT_EQ(predicted(g, {.precision = Precision::Fp32}, d).novelty,
            (std::vector<std::string>{"precision fp32 was not calibrated, only amp"}));
}

/// Half the width, in ln, of the interval of a graph, by default a dense layer.
double width_on(Device d, std::string_view architecture, int labels = 0, std::string_view graph = kDense) {
  d.architecture = architecture;
  d.boost_clock_mhz = 1000;
  d.l2_mib = 1;
  d.memory_type = "hbm";
  d.calibrated_labels = labels;
  const Prediction p = predicted(graph_of(std::string(graph)), {.precision = Precision::Fp16}, d);
  return std::log(p.latency_hi_ms / p.latency_ms);
}

TEST(Whitebox, TheLessWasMeasuredOfAChipTheWiderTheInterval) {
  const Device d = round_device();
  Device untold = d;  // a product's tiles take the sheet's power
  untold.tdp_w = 0;
  const double siblings = width_on(d, "ampere"), others = width_on(d, "volta"), nobody = width_on(untold, "cdna");
  EXPECT_LT(siblings, others);
  EXPECT_LT(others, nobody);
  const double none = std::log(constants::kGraphFactor);  // what labels of the device cannot take away
  double before = nobody;
  for (const int labels : {3, 10, 30, 1000}) {
    const double now = width_on(untold, "cdna", labels);
    EXPECT_LT(now, before) << labels;
    EXPECT_GT(now, none);
    before = now;
  }
  EXPECT_NEAR(before, none, 0.02);
}

TEST(Whitebox, GroupedHeadsAreAsUncertainAsOthers) {
  const auto width_of = [](std::string_view heads, std::string_view attention) {
    return width_on(round_device(), "ampere", 0,
                    fmt::format("def @main(%q: Tensor[(8, 32, 512, 64), float32], %k: Tensor[(8, {}, 512, 64), "
                                "float32]) {{\n  %2 = {}(%q, %k, %k);\n  (%2)\n}}",
                                heads, attention));
  };
  EXPECT_DOUBLE_EQ(width_of("8", "nn.attention"), width_of("32", "nn.sdpa"));
}

}  // namespace
}  // namespace perfc
