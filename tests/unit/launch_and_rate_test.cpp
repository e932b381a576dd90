/// A launch and a rate per kernel: what they say of sizes that were not seen, with names and without.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "counters/data/profile_workloads.h"
#include "counters/models/counter_predictor.h"
#include "counters/models/launch_and_rate.h"

namespace perfc {
namespace {

constexpr std::size_t kRegions = 12, kSizes = 5;

/// Kernels of four applications at five sizes; each has launches and rates of its own that no counter tells.
std::string kernels() {
  const Random random(3);
  std::string csv = "workload,application,region,counter:items,work:instructions,work:footprint,time:cpu,time:gpu\n";
  for (std::size_t r = 0; r < kRegions; ++r) {
    const auto own = [&](std::uint64_t n) { return std::exp(0.5 * random.normal(10 * r + n)); };
    for (std::size_t s = 0; s < kSizes; ++s) {
      const double work = 1e3 * std::pow(10.0, static_cast<double>(s));
      csv += fmt::format("{}/{},app{},kernel{},{},{},{},{},{}\n", r, s, r % 4, r, 7 + r, work, 4 * work,
                         1e-6 * own(0) + 1e-10 * own(1) * work, 1e-5 * own(2) + 1e-11 * own(3) * work);
    }
  }
  return csv;
}

struct Case {
  CounterDataset data;
  CounterProblem problem;
  CounterInputs inputs;
  std::vector<std::size_t> seen, unseen;
  LaunchAndRate model;

  explicit Case(CounterDataset d) : data(std::move(d)) {
    Diagnostics diags;
    problem = *make_problem(data, {}, {}, diags);
    // Of each kernel the second and the last size are held back.
    for (std::size_t w = 0; w < data.workloads.size(); ++w)
      (w % kSizes == 1 || w % kSizes == kSizes - 1 ? unseen : seen).push_back(w);
    inputs = CounterInputs::fit(data, seen, InputKind::CountersAndWork);
    model = LaunchAndRate::fit(problem, seen, inputs);
  }
  double median_error() const {
    const FeatureMatrix y = problem.target(unseen), predicted = model.predict(problem, unseen, inputs);
    std::vector<double> errors;
    for (std::size_t i = 0; i < y.values.size(); ++i) errors.push_back(std::abs(predicted.values[i] - y.values[i]));
    std::nth_element(errors.begin(), errors.begin() + static_cast<std::ptrdiff_t>(errors.size() / 2), errors.end());
    return errors[errors.size() / 2];
  }
};

CounterDataset parsed(const std::string& csv) {
  Diagnostics diags;
  auto d = parse_counter_dataset(csv, diags);
  EXPECT_TRUE(d) << diags.str();
  return std::move(*d);
}

TEST(LaunchAndRate, SmallSizesTellTheLaunchAndLargeOnesTheRate) {
  const Case named(parsed(kernels()));
  EXPECT_LT(named.median_error(), 0.06);
  CounterDataset d = parsed(kernels());
  forget_names(d);
  EXPECT_GT(Case(std::move(d)).median_error(), 0.15);
}

TEST(LaunchAndRate, SavedAndRestored) {
  const Case c(parsed(kernels()));
  std::vector<NamedTensor> tensors;
  c.model.save("rate.", tensors);
  Diagnostics diags;
  const auto restored = LaunchAndRate::restore("rate.", tensors, c.data, c.inputs, 2, diags);
  ASSERT_TRUE(restored) << diags.str();
  const FeatureMatrix before = c.model.predict(c.problem, c.unseen, c.inputs),
                      after = restored->predict(c.problem, c.unseen, c.inputs);
  for (std::size_t i = 0; i < before.values.size(); ++i) EXPECT_NEAR(after.values[i], before.values[i], 1e-4);
  for (NamedTensor& t : tensors) {
    if (t.name == "rate.region.app0/kernel0") t.name = "rate.region.app0/none", t.value.resize(1, 3);
  }
  EXPECT_FALSE(LaunchAndRate::restore("rate.", tensors, c.data, c.inputs, 2, diags));
  EXPECT_NE(diags.str().find("rate.region.app0/none"), std::string::npos) << diags.str();
}

/// Relative to a machine whose time is known, from one workload, without counters or work.
TEST(LaunchAndRate, LittleToReadIsEnough) {
  const CounterDataset d = parsed("workload,application,region,time:cpu,time:gpu\na,x,k,2,1\nb,x,k,4,1\n");
  Diagnostics diags;
  const auto problem = make_problem(d, {}, "cpu", diags);
  ASSERT_TRUE(problem) << diags.str();
  const std::vector<std::size_t> first{0}, second{1};
  const CounterInputs inputs = CounterInputs::fit(d, first, InputKind::CountersAndWork);
  const FeatureMatrix y = LaunchAndRate::fit(*problem, first, inputs).predict(*problem, second, inputs);
  EXPECT_NEAR(y.at(0, 0), -std::log(4.0), 0.02);  // a second, as before
}

TEST(LaunchAndRate, HalfOfWhatPerfcSaysWhereSiblingsAgree) {
  const CounterDataset d = parsed(kernels());
  Diagnostics diags;
  const auto problem = make_problem(d, {}, {}, diags);
  ASSERT_TRUE(problem) << diags.str();
  const auto trained = CounterPredictor::train(stored_model_table()[0], {}, *problem, SplitKind::Random, 1, diags);
  ASSERT_TRUE(trained) << diags.str();
  EXPECT_NE(trained->findings().find("a launch and a rate per kernel count 50 %"), std::string::npos)
      << trained->findings();
  Checkpoint c = trained->checkpoint({});
  const auto opened = CounterPredictor::parse(write_checkpoint(c), diags);
  ASSERT_TRUE(opened) << diags.str();
  const auto here = trained->predict(trained->aligned(d)), there = opened->predict(opened->aligned(d));
  c.settings.erase("rate.share");
  const auto without = CounterPredictor::parse(write_checkpoint(c), diags);
  ASSERT_TRUE(without) << diags.str();
  const auto less = without->predict(without->aligned(d));
  double furthest = 0;
  for (std::size_t w = 0; w < here.size(); ++w) {
    EXPECT_NEAR(there[w].machines[0].log_ratio, here[w].machines[0].log_ratio, 1e-4);
    furthest = std::max(furthest, std::abs(less[w].machines[0].log_ratio - here[w].machines[0].log_ratio));
  }
  EXPECT_GT(furthest, 0.01);
  c.settings["rate.share"] = 2;
  EXPECT_FALSE(CounterPredictor::parse(write_checkpoint(c), diags));
  EXPECT_EQ(diags.str(), "perfc: error: checkpoint: rate.share is out of range\n");
}

}  // namespace
}  // namespace perfc
