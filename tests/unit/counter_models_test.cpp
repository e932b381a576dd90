#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include <filesystem>
#include <numeric>
#include <set>

#include "counters/data/name_words.h"
#include "counters/data/profile_workloads.h"
#include "counters/models/cost_model.h"
#include "counters/models/counter_predictor.h"
#include "counters/models/evaluation.h"
#include "counters/models/trees.h"
#include "ir/support/output_file.h"

namespace perfc {
namespace {

FeatureMatrix matrix(std::size_t columns, std::vector<double> values) {
  return {values.size() / columns, columns, std::move(values)};
}

constexpr const char* kThree =
    "workload,application,counter:a,work:bytes,time:cpu,time:gpu\n"
    "one,x,1,100,2,1\n"
    "two,x,,200,4,2\n"
    "three,y,3,0,8,\n";

TEST(CounterDataset, ReadsColumnsByPrefix) {
  Diagnostics diags;
  const auto d = parse_counter_dataset(kThree, diags);
  ASSERT_TRUE(d) << diags.str();
  EXPECT_EQ(d->machines, (std::vector<std::string>{"cpu", "gpu"}));
  EXPECT_EQ(d->counters[0].name, "a");
  EXPECT_TRUE(std::isnan(d->workloads[1].counters[0]));
  EXPECT_TRUE(std::isnan(d->workloads[2].seconds[1]));
  EXPECT_EQ(d->workloads[2].application, "y");
}

TEST(CounterDataset, RefusesWithTheLine) {
  const auto message = [](const std::string& text) {
    Diagnostics diags("d.csv");
    EXPECT_FALSE(parse_counter_dataset(text, diags));
    return diags.str();
  };
  EXPECT_EQ(message("workload,seconds\na,1\n"),
            "d.csv:1:1: error: column 'seconds' is none of workload, application, suite, region, profiled, "
            "counter:NAME, work:NAME, time:MACHINE\n");
  EXPECT_EQ(message("workload,time:cpu\na,1\nb,-1\n"), "d.csv:3:1: error: time:cpu: '-1' is not a positive number\n");
  EXPECT_EQ(message("workload,work:w\na,-1\n"),
            "d.csv:2:1: error: work:w: '-1' is not a finite, non-negative number\n");
  EXPECT_EQ(message("workload,time:cpu\na,1\na,1\n"), "d.csv:3:1: error: workload: 'a' stands twice\n");
  std::string wide = "workload";
  for (int i = 0; i < 201; ++i) wide += ",work:" + std::to_string(i);
  EXPECT_EQ(message(wide + "\n"),
            "d.csv:1:1: error: 0 counters and 201 kinds of work; at most 2000 and 200 are read\n");
  EXPECT_EQ(message("time:cpu\n1\n"), "d.csv:1:1: error: the column 'workload' is missing\n");
}

TEST(NameWords, PartedAtCaseAndWhatIsNoLetter) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(words_of("Basic_PI_ATOMIC"), (Words{"atomic", "basic", "pi"}));
  EXPECT_EQ(words_of("matMul_gpu<float, 2D>::run"), (Words{"float", "gpu", "mat", "mul", "run"}));
  EXPECT_EQ(words_of("c_CopySrcToComponents"), (Words{"components", "copy", "src", "to"}));
  EXPECT_EQ(words_of("CRCTable"), (Words{"crc", "table"}));
  EXPECT_EQ(words_of("mat mat"), Words{"mat"});
  EXPECT_EQ(words_of("1D\xc3\xa9_"), Words{});
}

/// "all" is in every application, "own" in one, "later" in none of the rows.
TEST(NameWords, SharedByTwoApplicationsAndNotByAll) {
  Diagnostics diags;
  const auto d = parse_counter_dataset(
      "workload,application,region,time:m\n1,x,all_own_two,1\n2,x,all_own,1\n3,y,all_two,1\n4,z,all,1\n5,x,later,1\n6,y,later,1\n",
      diags);
  ASSERT_TRUE(d) << diags.str();
  EXPECT_EQ(shared_words(*d, std::vector<std::size_t>{0, 1, 2, 3}), std::vector<std::string>{"two"});
  EXPECT_EQ(shared_words(*d, std::vector<std::size_t>{0, 2}), std::vector<std::string>{});  // both applications have it
}

/// The whole run has the name of its region if that is the only one with values of its own.
TEST(NameWords, OfAProfile) {
  const auto whole_run = [](bool outer_too) {
    ProfileBuilder b("p", "test");
    const std::size_t outer = b.region("outer"), seconds = b.metric({.name = "s"});
    b.add(b.region("inner", outer), seconds, 1);
    if (outer_too) b.add(outer, seconds, 1);
    Diagnostics diags;
    const auto p = b.finish(diags);
    EXPECT_TRUE(p) << diags.str();
    EXPECT_EQ(workloads_of(*p, {}, false, WorkloadOf::Region).workloads.back().region, "inner");
    return workloads_of(*p, {}, false, WorkloadOf::WholeRun).workloads[0].region;
  };
  EXPECT_EQ(whole_run(false), "inner");
  EXPECT_EQ(whole_run(true), "");
}

/// Ten iterations that read and write one double by atomics wait ten times; on doubles of their own not at all;
/// unnamed, nobody knows.
TEST(WorkOfProfiles, AtomicsOnOneAddressWaitForEachOther) {
  const CounterDataset names{.work = {{"iterations", "1", {}}, {"serial_atomics", "1", {}}}};
  const auto workload = [&](const std::string& region, std::optional<double> bytes) {
    ProfileBuilder b("p", "test");
    const std::size_t r = b.region(region);
    b.add(r, b.metric({.name = "iterations_per_rep"}), 10);
    if (bytes) b.add(r, b.metric({.name = "bytes_per_rep"}), *bytes);
    Diagnostics diags;
    const auto p = b.finish(diags);
    EXPECT_TRUE(p) << diags.str();
    return workloads_of(*p, names, false, WorkloadOf::Region);
  };
  EXPECT_EQ(workload("Basic_PI_ATOMIC", 16).workloads[0].work, (std::vector<double>{10, 10}));
  EXPECT_EQ(workload("Basic_PI_ATOMIC", 0).workloads[0].work[1], 10);
  EXPECT_EQ(workload("DAXPY_ATOMIC", 240).workloads[0].work[1], 10 * (1.0 / 15));
  EXPECT_EQ(workload("Basic_PI_REDUCE", 16).workloads[0].work[1], 0);
  EXPECT_TRUE(std::isnan(workload("Basic_PI_ATOMIC", {}).workloads[0].work[1]));
  CounterDataset d = workload("Basic_PI_ATOMIC", 16);
  forget_names(d);
  EXPECT_EQ(d.workloads[0].region, "");
  EXPECT_EQ(d.workloads[0].work, (std::vector<double>{10, 0}));
}

TEST(CounterProblem, TargetsAreRelative) {
  Diagnostics diags;
  const auto d = parse_counter_dataset(kThree, diags);
  ASSERT_TRUE(d);
  const auto centred = make_problem(*d, {}, "", diags);
  ASSERT_TRUE(centred);
  const auto rows = centred->measured();
  EXPECT_EQ(rows, (std::vector<std::size_t>{0, 1}));
  const FeatureMatrix y = centred->target(rows);
  EXPECT_NEAR(y.at(0, 0), std::log(2) / 2, 1e-12);
  EXPECT_NEAR(y.at(0, 1), -std::log(2) / 2, 1e-12);
  const auto relative = make_problem(*d, {}, "cpu", diags);
  ASSERT_TRUE(relative);
  EXPECT_NEAR(relative->target(rows).at(1, 0), -std::log(2), 1e-12);
  const std::vector<std::string> unknown{"tpu"};
  EXPECT_FALSE(make_problem(*d, unknown, "", diags));
  EXPECT_EQ(diags.str(), "perfc: error: machine 'tpu' has no column of times; there are cpu, gpu\n");
}

/// y = 3 for x ≤ 0.5, else 7, and the negative of it.
TEST(Trees, EveryKindFindsAStep) {
  FeatureMatrix x{40, 2, {}}, y{40, 2, {}};
  for (std::size_t r = 0; r < 40; ++r) {
    const double v = static_cast<double>(r) / 40;
    x.values.insert(x.values.end(), {v, 5});
    y.values.insert(y.values.end(), {v <= 0.5 ? 3.0 : 7.0, v <= 0.5 ? -3.0 : -7.0});
  }
  for (const auto kind : {TreeOptions::Kind::Forest, TreeOptions::Kind::Extra, TreeOptions::Kind::Boosting}) {
    const Trees t = Trees::fit(x, y, {.kind = kind, .trees = 200, .deepest = 8}, Random(1));
    const std::vector<double> low{0.1, 5}, high{0.9, 5};
    EXPECT_NEAR(t.predict(low)[0], 3, 0.01);
    EXPECT_NEAR(t.predict(high)[1], -7, 0.01);
  }
}

TEST(Trees, SavedAndRestored) {
  const FeatureMatrix x = matrix(1, {1, 2, 3, 4, 5}), y = matrix(1, {1, 4, 9, 16, 25});
  const Trees t = Trees::fit(x, y, {.kind = TreeOptions::Kind::Extra, .trees = 3}, Random(2));
  std::vector<NamedTensor> tensors;
  t.save("t.", tensors);
  Diagnostics diags;
  const auto again = Trees::restore("t.", tensors, 1, 1, diags);
  ASSERT_TRUE(again) << diags.str();
  EXPECT_EQ(again->predict(x).values, t.predict(x).values);
  tensors[0].value(0, 2) = 0;  // a child before its parent: a walk would not end
  EXPECT_FALSE(Trees::restore("t.", tensors, 1, 1, diags));
  EXPECT_EQ(diags.str(), "perfc: error: checkpoint: node 0 of 't.' is none of a tree\n");
}

TEST(Costs, FoundFromTimes) {
  FeatureMatrix work{30, 2, {}};
  std::vector<double> logs;
  for (int i = 0; i < 30; ++i) {
    const double launches = 1, bytes = std::pow(10.0, i / 3.0);
    work.values.insert(work.values.end(), {launches, bytes});
    logs.push_back(std::log(1e-5 * launches + 2e-9 * bytes));
  }
  const MachineCosts c = fit_costs(work, logs, vague_prior(work, logs, 1e-6));
  EXPECT_NEAR(std::exp(c.log_cost[0]) / 1e-5, 1, 1e-3);
  EXPECT_NEAR(std::exp(c.log_cost[1]) / 2e-9, 1, 1e-3);
  const std::vector<double> more{1, 1e12};  // far outside: physics extrapolates
  EXPECT_NEAR(predict_log_seconds(c, more), std::log(2e3), 1e-2);
}

TEST(Costs, TheDearestHidesTheOthersWhenSharp) {
  const MachineCosts c{.log_cost = {0, 0}, .sharpness = 4};
  const std::vector<double> work{1, 2};
  EXPECT_NEAR(predict_log_seconds(c, work), std::log(17) / 4, 1e-12);
}

TEST(RelativeMetrics, ByHand) {
  // Three workloads, three machines; the second prediction swaps the two fastest.
  const FeatureMatrix y = matrix(3, {0, 1, 2, 0, 1, 2, 2, 1, 0}), p = matrix(3, {0, 1, 2, 1, 0, 2, 2, 1, 0});
  const RelativeMetrics m = measure(p, y, y, ReferenceColumn::No);
  EXPECT_NEAR(m.order, 2.0 / 3, 1e-12);
  EXPECT_NEAR(m.pairs, 8.0 / 9, 1e-12);
  EXPECT_NEAR(m.top1, 2.0 / 3, 1e-12);
  EXPECT_NEAR(m.regret, std::expm1(1) / 3, 1e-12);
  EXPECT_NEAR(m.r2, 1 - 2 / (8.0 / 3 + 0 + 8.0 / 3), 1e-12);
  EXPECT_NEAR(m.ratio_error, 0, 1e-12);
  EXPECT_NEAR(m.auc, 0.75, 1e-12);  // smallest gaps along 0, 1, 2: 1 and −1 where it is the order, −1 where it is not
}

TEST(RelativeMetrics, ReferenceIsAMachine) {
  const FeatureMatrix y = matrix(1, {-1, 1}), p = matrix(1, {-1, -1});
  const RelativeMetrics m = measure(p, y, y, ReferenceColumn::Yes);
  EXPECT_NEAR(m.top1, 0.5, 1e-12);
  EXPECT_NEAR(m.regret, std::expm1(1) / 2, 1e-12);
}

TEST(RelativeMetrics, IntervalOverSeeds) {
  const std::vector<double> v{1, 2, 3};
  EXPECT_NEAR(mean_over_seeds(v).mean, 2, 1e-12);
  EXPECT_NEAR(mean_over_seeds(v).half_width, 4.303 / std::sqrt(3), 1e-3);
}

/// What is reported and what models are chosen on are different workloads; what is left out is in neither.
TEST(EvaluateCounters, WithinAndWithout) {
  Diagnostics diags;
  std::string csv = "workload,application,counter:c,time:a,time:b\n";
  for (int i = 0; i < 40; ++i) csv += fmt::format("{},app{},{},{},{}\n", i, i / 4, i, 1 + i, 2 + i % 7);
  const auto d = parse_counter_dataset(csv, diags);
  const auto p = make_problem(*d, {}, "", diags);
  const auto predicted = [&](SplitKind split, MeasuredOn on) {
    std::vector<HeldBackPrediction> all;
    EXPECT_TRUE(
        evaluate_counters(*p, {.models = {"mean"}, .split = split, .seeds = 1, .on = on, .folds = 5}, diags, &all))
        << diags.str();
    std::set<std::size_t> workloads;
    for (const HeldBackPrediction& h : all) EXPECT_TRUE(workloads.insert(h.workload).second);
    return workloads;
  };
  const auto reported = predicted(SplitKind::Random, MeasuredOn::HeldBack),
             within = predicted(SplitKind::Random, MeasuredOn::Training);
  EXPECT_EQ(reported.size(), 8U);
  EXPECT_EQ(within.size(), 32U);
  for (const std::size_t w : reported) EXPECT_EQ(within.count(w), 0U);
  EXPECT_EQ(predicted(SplitKind::Application, MeasuredOn::HeldBack).size(), 40U);
  EXPECT_EQ(predicted(SplitKind::Application, MeasuredOn::Training).size(), 32U);

  std::vector<HeldBackPrediction> all;
  ASSERT_TRUE(evaluate_counters(
      *p, {.models = {"mean"}, .split = SplitKind::Application, .seeds = 1, .without = {"app0", "app9"}}, diags, &all))
      << diags.str();
  EXPECT_EQ(all.size(), 32U);
  for (const HeldBackPrediction& h : all) EXPECT_TRUE(h.workload >= 4 && h.workload < 36) << h.workload;
  EXPECT_FALSE(evaluate_counters(*p, {.models = {"mean"}, .without = {"app10"}}, diags));
  EXPECT_EQ(diags.str(), "perfc: error: no measured workload is of the application 'app10'\n");
}

TEST(HeldBack, ApplicationsStayTogether) {
  Diagnostics diags;
  const auto d =
      parse_counter_dataset("workload,application,time:a,time:b\n1,x,1,1\n2,y,1,1\n3,x,1,1\n4,z,1,1\n", diags);
  ASSERT_TRUE(d);
  const std::vector<std::size_t> rows{0, 1, 2, 3};
  const auto parts = held_back(*d, rows, SplitKind::Application, 0, Random(1));
  ASSERT_EQ(parts.size(), 3U);
  for (const auto& part : parts) {
    EXPECT_EQ(std::count(part.begin(), part.end(), 0U), std::count(part.begin(), part.end(), 2U));
  }
}

/// Machine b is ten times slower per byte and starts ten times faster: the costs say so for sizes that no one saw.
TEST(CorrectedCosts, ExtrapolatesAnApplication) {
  std::string csv = "workload,application,counter:bytes,work:launch,work:bytes,time:a,time:b\n";
  for (int i = 0; i < 24; ++i) {
    const double bytes = std::pow(10.0, 2 + i / 3.0);
    csv += std::to_string(i) + ",app" + std::to_string(i / 4) + "," + std::to_string(bytes) + ",1," +
           std::to_string(bytes) + "," + std::to_string(1e-2 + 1e-8 * bytes) + "," +
           std::to_string(1e-3 + 1e-7 * bytes) + "\n";
  }
  Diagnostics diags;
  const auto d = parse_counter_dataset(csv, diags);
  ASSERT_TRUE(d) << diags.str();
  const auto p = make_problem(*d, {}, "", diags);
  ASSERT_TRUE(p);
  const auto result =
      evaluate_counters(*p, {.models = {"mean", "costs", "perfc"}, .split = SplitKind::Application, .seeds = 1}, diags);
  ASSERT_TRUE(result) << diags.str();
  EXPECT_LT((*result)[0][0].mean, 0.1);
  EXPECT_GT((*result)[1][0].mean, 0.98);
  EXPECT_GT((*result)[2][0].mean, 0.98);
}

/// Same work, and no counters: only the word tells which are slow on b. It is read from the file's vocabulary again.
TEST(CorrectedCosts, LearnsAWord) {
  std::string csv = "workload,application,region,work:launch,time:a,time:b\n";
  for (int i = 0; i < 24; ++i)
    csv += fmt::format("{0},app{1},{2}_app{1},1,1,{3}\n", i, i / 4, i / 4 % 2 ? "slow" : "fast", i / 4 % 2 ? 10 : 1);
  Diagnostics diags;
  auto d = parse_counter_dataset(csv, diags);
  ASSERT_TRUE(d) << diags.str();
  const auto p = make_problem(*d, {}, "a", diags);
  ASSERT_TRUE(p) << diags.str();
  const auto trained = CounterPredictor::train(stored_model_table()[0], {}, *p, SplitKind::Application, 1, diags);
  ASSERT_TRUE(trained) << diags.str();
  const Checkpoint c = trained->checkpoint({});
  EXPECT_EQ(c.vocabulary, (std::vector<std::string>{"fast", "slow"}));
  const auto opened = CounterPredictor::parse(write_checkpoint(c), diags);
  ASSERT_TRUE(opened) << diags.str();
  const auto unseen = parse_counter_dataset("workload,region,work:launch,time:a\nx,new_slow,1,1\ny,fast,1,1\n", diags);
  ASSERT_TRUE(unseen) << diags.str();
  const auto predicted = opened->predict(opened->aligned(*unseen));
  EXPECT_EQ(predicted[0].words, std::vector<std::string>{"slow"});
  EXPECT_GT(predicted[0].machines[0].log_ratio, predicted[1].machines[0].log_ratio + 1);
  Checkpoint crowded = c;
  crowded.vocabulary.resize(kMostWords + 1, "w");
  EXPECT_FALSE(CounterPredictor::parse(write_checkpoint(crowded), diags));
  EXPECT_EQ(diags.str(), "perfc: error: checkpoint: more than 200 words\n");
  for (CounterDataset::Workload& w : d->workloads) w.region.clear();
  const auto nameless = CounterPredictor::train(stored_model_table()[0], {}, *p, SplitKind::Application, 1, diags);
  ASSERT_TRUE(nameless) << diags.str();
  const auto alike = nameless->predict(nameless->aligned(*unseen));
  EXPECT_NEAR(alike[0].machines[0].log_ratio, alike[1].machines[0].log_ratio, 1e-9);
}

/// Where single workloads are held back and counters tell much, networks on counters move predictions: by 0.1 in ln at
/// most, as the file says, and by nothing without its setting.
TEST(CorrectedCosts, StepsTowardsNetworksOnCounters) {
  std::string csv = "workload,application,counter:u,counter:v,work:launch,work:bytes,time:a,time:b\n";
  for (std::uint64_t i = 0; i < 40; ++i) {
    const double u = Random(1).uniform(i, -2, 2), v = Random(2).uniform(i, -2, 2);
    csv += fmt::format("{},app{},{},{},1,{},1,{}\n", i, i % 4, u, v, std::exp(2 * u),
                       std::exp(u + std::abs(u) * v + 0.3 * Random(3).normal(i)));
  }
  Diagnostics diags;
  const auto d = parse_counter_dataset(csv, diags);
  ASSERT_TRUE(d) << diags.str();
  const auto p = make_problem(*d, {}, "a", diags);
  ASSERT_TRUE(p) << diags.str();
  const auto trained = CounterPredictor::train(stored_model_table()[0], {}, *p, SplitKind::Random, 1, diags);
  ASSERT_TRUE(trained) << diags.str();
  Checkpoint c = trained->checkpoint({});
  ASSERT_TRUE(c.settings.contains("step.share")) << trained->findings();
  EXPECT_NE(trained->findings().find("networks on counters move predictions by up to 11 %"), std::string::npos)
      << trained->findings();
  const auto log_ratios = [&](const Checkpoint& checkpoint) {
    std::vector<double> all;
    const auto opened = CounterPredictor::parse(write_checkpoint(checkpoint), diags);
    EXPECT_TRUE(opened) << diags.str();
    if (!opened) return all;
    for (const auto& w : opened->predict(opened->aligned(*d))) all.push_back(w.machines[0].log_ratio);
    return all;
  };
  const auto with = log_ratios(c);
  const auto here = trained->predict(trained->aligned(*d));
  Checkpoint none = c;
  none.settings.erase("step.share");
  const auto without = log_ratios(none);
  ASSERT_EQ(with.size(), 40U);
  ASSERT_EQ(without.size(), 40U);
  double furthest = 0;
  for (std::size_t i = 0; i < with.size(); ++i) {
    EXPECT_NEAR(with[i], here[i].machines[0].log_ratio, 1e-4);
    furthest = std::max(furthest, std::abs(with[i] - without[i]));
  }
  EXPECT_GT(furthest, 0.01);
  EXPECT_LE(furthest, 0.1 + 1e-6);
  c.settings["step.limit"] = -1;
  EXPECT_FALSE(CounterPredictor::parse(write_checkpoint(c), diags));
  EXPECT_EQ(diags.str(), "perfc: error: checkpoint: step.share or step.limit is out of range\n");
}

/// b = 2a + noise of 0.1, c = −a in ln: what is missing follows from what is known.
TEST(LikelyInputs, FollowFromWhatIsKnown) {
  std::string csv = "workload,work:a,work:b,work:c,time:m\n";
  for (int i = 0; i < 200; ++i) {
    const double a = Random(1).normal(i);
    csv += std::to_string(i) + "," + std::to_string(std::exp(a)) + "," +
           std::to_string(std::exp(2 * a + 0.1 * Random(2).normal(i))) + "," + std::to_string(std::exp(-a)) + ",1\n";
  }
  Diagnostics diags;
  const auto d = parse_counter_dataset(csv, diags);
  ASSERT_TRUE(d) << diags.str();
  std::vector<std::size_t> rows(200);
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  const LikelyInputs likely = LikelyInputs::fit(*d, rows, {});
  const double nan = std::nan("");
  const auto filled = likely.complete({.work = {std::exp(1), nan, nan}, .seconds = {nan}}, 400, Random(3));
  ASSERT_EQ(filled.size(), 401U);
  EXPECT_EQ(filled[0].work[0], std::exp(1));
  EXPECT_NEAR(std::log(filled[0].work[1]), 2, 0.15);
  EXPECT_NEAR(std::log(filled[0].work[2]), -1, 0.15);
  double mean = 0, square = 0;
  for (std::size_t n = 1; n < filled.size(); ++n)
    mean += std::log(filled[n].work[1]) / 400, square += std::pow(std::log(filled[n].work[1]), 2) / 400;
  EXPECT_NEAR(mean, std::log(filled[0].work[1]), 0.15);
  EXPECT_LT(std::sqrt(square - mean * mean), 1);  // of 2 without knowing a
  EXPECT_GT(std::sqrt(square - mean * mean), 0.1);
  EXPECT_EQ(likely.complete({.work = {1, 2, 3}, .seconds = {nan}}, 400, Random(3)).size(), 1U);
}

/// Two machines, one cheap per launch and one per byte; where `profiled` stands, the first half has been on a CPU.
std::string two_machines(const char* profiled) {
  std::string csv = std::string("workload,application,counter:c,counter:d,work:launch,work:bytes,time:a,time:b") +
                    (*profiled ? ",profiled\n" : "\n");
  for (int i = 0; i < 24; ++i) {
    const double bytes = std::pow(10.0, 2 + i / 3.0);
    csv += std::to_string(i) + ",app" + std::to_string(i / 4) + "," + std::to_string(i % 4) + "," + (i % 3 ? "1" : "") +
           ",1," + std::to_string(bytes) + "," + std::to_string((1e-2 + 1e-8 * bytes) * (1 + i % 4)) + "," +
           std::to_string(1e-3 + 1e-7 * bytes) + (*profiled ? i < 12 ? ",cpu" : std::string(",") + profiled : "") +
           "\n";
  }
  return csv;
}

class Stored : public testing::TestWithParam<const char*> {};

/// What a file holds predicts what was trained, up to float32.
TEST_P(Stored, SavedAndOpened) {
  Diagnostics diags;
  const auto d = parse_counter_dataset(two_machines(""), diags);
  ASSERT_TRUE(d) << diags.str();
  const auto p = make_problem(*d, {}, "a", diags);
  ASSERT_TRUE(p) << diags.str();
  const auto row = std::find_if(stored_model_table().begin(), stored_model_table().end(),
                                [](const StoredModelRow& r) { return r.name == GetParam(); });
  ASSERT_NE(row, stored_model_table().end());
  const auto trained = CounterPredictor::train(*row, {}, *p, SplitKind::Random, 1, diags);
  ASSERT_TRUE(trained) << diags.str();
  const std::string path =
      (std::filesystem::temp_directory_path() / fmt::format("perfc_counter_{}.safetensors", GetParam())).string();
  ASSERT_TRUE(write_file(path, write_checkpoint(trained->checkpoint({})), diags));
  const auto opened = CounterPredictor::open(path, diags);
  ASSERT_TRUE(opened) << diags.str();
  EXPECT_NE(trained->findings(), "the correction by likeness counts 0 %");  // c says what the costs cannot
  EXPECT_EQ(opened->findings(), trained->findings());
  const auto here = trained->predict(trained->aligned(*d)), there = opened->predict(opened->aligned(*d));
  for (std::size_t w = 0; w < here.size(); ++w) {
    ASSERT_EQ(here[w].machines.size(), 2U);
    EXPECT_EQ(there[w].machines[1].machine, "a");
    EXPECT_NEAR(here[w].machines[0].log_ratio, there[w].machines[0].log_ratio, 1e-4);
    EXPECT_LT(there[w].machines[0].low, there[w].machines[0].high);
    EXPECT_NEAR(there[w].log_base_s, std::log(d->workloads[w].seconds[0]), 1e-12);
  }
  EXPECT_EQ(here[1].missing, std::vector<std::string>());
  EXPECT_EQ(here[0].missing, std::vector<std::string>{"counter:d"});
  if (row->name != "perfc") return;
  // Bytes decide between a and b: without them the interval is wider, by far.
  const auto lacking = parse_counter_dataset("workload,counter:c,counter:d,work:launch\nx,1,1,1\n", diags);
  ASSERT_TRUE(lacking);
  const auto guessed = opened->predict(opened->aligned(*lacking));
  EXPECT_EQ(guessed[0].missing, (std::vector<std::string>{"work:bytes", "time:a"}));
  const auto width = [](const RelativeTime& t) { return t.high - t.low; };
  EXPECT_GT(width(guessed[0].machines[0]), width(there[1].machines[0]) + 1);
}

INSTANTIATE_TEST_SUITE_P(Models, Stored, testing::Values("perfc", "dnn", "vae-dnn"), [](const auto& info) {
  std::string name = info.param;
  std::erase(name, '-');
  return name;
});

TEST(CounterPredictor, RefusesOtherModels) {
  Diagnostics diags("x");
  EXPECT_FALSE(CounterPredictor::parse(write_checkpoint({.model = "pmgns-sage"}), diags));
  EXPECT_EQ(diags.str(), "x: error: holds the model 'pmgns-sage', which is none of relative performance\n");
}

/// Every option of the paper's training changes the latent columns, and the same options give the same.
TEST(VaeTraining, OptionsReachTheVae) {
  RowTask::Rows rows{Matrix<float>(24, 3), Matrix<float>(24, 1)};
  for (std::size_t i = 0; i < rows.x.size(); ++i) rows.x.data()[i] = static_cast<float>(Random(2).normal(i));
  for (std::size_t i = 0; i < rows.y.size(); ++i) rows.y.data()[i] = rows.x(i, 0) - rows.x(i, 1);
  ThreadPool threads;
  const auto latent = [&](const VaeTraining& how, std::span<const std::size_t> first = {}) {
    SigmaVae<float> vae({.inputs = 3, .hidden = 8, .latent = 2});
    Diagnostics diags;
    EXPECT_TRUE(train_vae(vae, rows, first, how, Random(1), diags)) << diags.str();
    Context c{.threads = threads};
    return vae.forward(c, rows.x)(0, 0);
  };
  const std::vector<std::size_t> half{0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22};
  const float usual = latent({});
  EXPECT_EQ(latent({}), usual);
  EXPECT_NE(latent({.kl = {.shape = KlAnnealing::Shape::Constant}}), usual);
  EXPECT_NE(latent({.kl = {.shape = KlAnnealing::Shape::Cyclic}}), usual);
  EXPECT_NE(latent({.kl = {.peak = 0.1}}), usual);
  EXPECT_NE(latent({.feedback = 0}), usual);
  EXPECT_NE(latent({}, half), usual);
}

TEST(VaeTraining, NothingToCalibrateOnFirstIsAnError) {
  const auto message = [](const char* profiled, const std::string& first) {
    Diagnostics diags("d.csv");
    const auto d = parse_counter_dataset(two_machines(profiled), diags);
    const auto p = make_problem(*d, {}, "a", diags);
    EXPECT_FALSE(find_relative_model("vae-dnn")
                     ->make({.calibrate_first = first})
                     ->fit(*p, p->measured(), SplitKind::Random, Random(1), diags));
    return diags.str();
  };
  EXPECT_EQ(
      message("", "cpu"),
      "d.csv: error: none of 24 training workloads have 'cpu' in the column 'profiled': there is nothing to calibrate "
      "the decoder on first\n");
  EXPECT_EQ(
      message("cpu", "cpu"),
      "d.csv: error: all of 24 training workloads have 'cpu' in the column 'profiled': there is nothing to calibrate "
      "the decoder on first\n");
}

}  // namespace
}  // namespace perfc
