/// Kernels and suites that are held back, and what `perfc` says of such: half costs, half trees.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "counters/models/costs_and_trees.h"
#include "counters/models/counter_predictor.h"
#include "counters/models/evaluation.h"

namespace perfc {
namespace {

CounterDataset parsed(const std::string& csv) {
  Diagnostics diags;
  auto d = parse_counter_dataset(csv, diags);
  EXPECT_TRUE(d) << diags.str();
  return std::move(*d);
}

TEST(HeldBack, KernelsAndSuitesStayTogether) {
  const CounterDataset d =
      parsed("workload,application,suite,region,time:a\n1,x,s,k,1\n2,x,s,l,1\n3,x,s,k,1\n4,y,s,k,1\n5,z,t,k,1\n");
  const std::vector<std::size_t> rows{0, 1, 2, 3, 4};
  const auto parts = [&](SplitKind kind) {
    auto all = held_back(d, rows, kind, 0, Random(1));
    std::sort(all.begin(), all.end());
    return all;
  };
  using Parts = std::vector<std::vector<std::size_t>>;
  EXPECT_EQ(parts(SplitKind::Kernel), (Parts{{0, 2}, {1}, {3}, {4}}));
  EXPECT_EQ(parts(SplitKind::Application), (Parts{{0, 1, 2}, {3}, {4}}));
  EXPECT_EQ(parts(SplitKind::Suite), (Parts{{0, 1, 2, 3}, {4}}));
}

TEST(HeldBack, WithoutSuitesNoneCanBe) {
  const CounterDataset d = parsed("workload,suite,time:a,time:b\n1,s,1,1\n2,,1,1\n");
  Diagnostics diags("d.csv");
  const auto p = make_problem(d, {}, "a", diags);
  ASSERT_TRUE(p);
  EXPECT_FALSE(evaluate_counters(*p, {.models = {"mean"}, .split = SplitKind::Suite}, diags));
  EXPECT_EQ(diags.str(),
            "d.csv: error: the column 'suite' is missing or empty: without it no suite can be held back\n");
}

/// Times that only names tell: all is known of a kernel that training has, nothing of another.
TEST(Lookup, KnowsNamesAlone) {
  std::string csv = "workload,application,region,time:a,time:b\n";
  for (int i = 0; i < 40; ++i) csv += fmt::format("{},x,k{},1,{}\n", i, i / 10, 1 + i / 10);
  const CounterDataset d = parsed(csv);
  Diagnostics diags;
  const auto p = make_problem(d, {}, "a", diags);
  ASSERT_TRUE(p) << diags.str();
  const auto r2 = [&](SplitKind split) {
    const auto table = evaluate_counters(*p, {.models = {"lookup"}, .split = split, .seeds = 1}, diags);
    return table ? (*table)[0][0].mean : std::nan("");
  };
  EXPECT_NEAR(r2(SplitKind::Random), 1, 1e-9);
  EXPECT_LT(r2(SplitKind::Kernel), 0);
}

/// Kernels of five suites on a GPU of 1e9 bytes/s, with a factor of their own that a counter tells; seconds on the CPU
/// have little to do with it. The last kernel moves a thousand times as many bytes.
constexpr int kKernels = 25;
constexpr double kBandwidth = 1e9, kLarge = 1e10;
std::string kernels() {
  const Random random(7);
  std::string csv =
      "workload,application,suite,region,counter:c,work:launch,work:bytes,work:seconds,time:cpu,time:gpu\n";
  for (int i = 0; i < kKernels; ++i) {
    const auto n = static_cast<std::uint64_t>(i);
    const double bytes = i == kKernels - 1 ? kLarge : std::exp(random.uniform(n, std::log(1e5), std::log(1e7)));
    const double factor = std::exp(random.normal(100 + n)), cpu = bytes / 1e8 * std::exp(2 * random.normal(200 + n));
    for (int build = 0; build < 4; ++build)
      csv += fmt::format("{0}/{1},k{0},s{2},k{0},{3},1,{4},{5},{5},{6}\n", i, build, i % 5, std::log(factor), bytes,
                         cpu * (1 + 0.05 * build), 1e-5 + bytes / kBandwidth * (1 + factor));
  }
  return csv;
}

struct Fixture {
  CounterDataset data = parsed(kernels());
  CounterProblem problem;
  std::vector<std::size_t> seen, unseen;  ///< unseen: the builds of the last kernel
  Fixture() {
    Diagnostics diags;
    problem = *make_problem(data, {}, "cpu", diags);
    for (std::size_t r = 0; r < data.workloads.size(); ++r) (r < 4 * (kKernels - 1) ? seen : unseen).push_back(r);
  }
  void give_data_sheet() {
    problem.data_sheet.assign(data.machines.size(), std::vector<double>(data.work.size(), kMissing));
    problem.data_sheet[*data.machine("gpu")][1] = 1 / kBandwidth;
  }
};

TEST(CostsAndTrees, SecondsOfTheProfileAreNoWorkOfTheProgram) {
  const CounterDataset d =
      parsed("workload,work:bytes,work:starved_seconds,work:seconds_per_thread,time:a\nx,1,1,1,1\n");
  EXPECT_EQ(work_of_the_program(d), (WorkKinds{true, false, false}));
  const CounterProblem p{.data = &d, .machines = {0}};
  const std::vector<std::size_t> rows{0};
  const auto costs = fit_machine_costs(p, rows, 1, work_of_the_program(d));
  const std::vector<double> slow{1, 1e9, 1e9};
  EXPECT_NEAR(predict_log_seconds(costs[0], slow), predict_log_seconds(costs[0], d.workloads[0].work), 1e-9);
}

/// Trees know times of up to 0.1 s or so; the bytes of the kernel that they did not see take 10 s at the peak.
TEST(CostsAndTrees, NoFasterThanTheDataSheet) {
  Fixture f;
  Diagnostics diags;
  const auto error = [&] {
    CostsAndTrees model;
    EXPECT_TRUE(model.fit(f.problem, f.seen, SplitKind::Kernel, Random(1), diags)) << diags.str();
    EXPECT_EQ(model.findings(), "trees count 50 %, costs the rest");
    const FeatureMatrix y = model.predict(f.problem, f.unseen), truth = f.problem.target(f.unseen);
    return y.at(0, 0) - truth.at(0, 0);
  };
  EXPECT_LT(error(), -1.5);
  f.give_data_sheet();
  EXPECT_GT(error(), -1);
}

TEST(CostsAndTrees, BetterThanEitherOnUnseenSuites) {
  Fixture f;
  f.give_data_sheet();
  Diagnostics diags;
  const auto table = evaluate_counters(
      f.problem, {.models = {"mean", "costs", "perfc"}, .split = SplitKind::Suite, .seeds = 1}, diags);
  ASSERT_TRUE(table) << diags.str();
  EXPECT_GT((*table)[2][0].mean, (*table)[0][0].mean);
  EXPECT_GT((*table)[2][0].mean, (*table)[1][0].mean);
}

/// A file says what was trained, the data sheet's bound among it, which is not at hand when it is asked.
TEST(CostsAndTrees, SavedAndOpened) {
  Fixture f;
  f.give_data_sheet();
  f.data.workloads.resize(f.seen.size());
  Diagnostics diags;
  const auto trained = CounterPredictor::train(stored_model_table()[0], {}, f.problem, SplitKind::Kernel, 1, diags);
  ASSERT_TRUE(trained) << diags.str();
  Checkpoint c = trained->checkpoint({});
  const auto opened = CounterPredictor::parse(write_checkpoint(c), diags);
  ASSERT_TRUE(opened) << diags.str();
  EXPECT_EQ(opened->findings(), trained->findings());
  const CounterDataset all = parsed(kernels());
  const auto here = trained->predict(trained->aligned(all)), there = opened->predict(opened->aligned(all));
  for (std::size_t w = 0; w < here.size(); ++w)
    EXPECT_NEAR(here[w].machines[0].log_ratio, there[w].machines[0].log_ratio, 1e-4);
  c.settings["trees.share"] = 2;
  EXPECT_FALSE(CounterPredictor::parse(write_checkpoint(c), diags));
  EXPECT_EQ(diags.str(), "perfc: error: checkpoint: trees.share is missing or out of range\n");
}

}  // namespace
}  // namespace perfc
