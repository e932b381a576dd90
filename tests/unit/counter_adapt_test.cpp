#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "counters/models/machine_transfer.h"
#include "gnn/checkpoint.h"
#include "ir/support/output_file.h"

namespace perfc {
namespace {

/// Machines that differ in rate alone: time = 1e-6 × launch + efficiency × words / rate, the same efficiency of 2 on
/// all. Rates: a 1, b 2, c 4, new 8 (× 1e9 words/s). What a workload's quirk multiplies, it multiplies on every
/// machine.
std::string workloads(bool with_new) {
  std::string csv =
      std::string("workload,work:launch,work:words,time:a,time:b,time:c") + (with_new ? ",time:new\n" : "\n");
  for (int i = 0; i < 24; ++i) {
    const double words = std::pow(10.0, 5 + i / 6.0), quirk = std::exp(0.5 * Random(5).normal(i));
    csv += std::to_string(i) + ",1," + std::to_string(words);
    for (const double rate : {1e9, 2e9, 4e9, 8e9}) {
      if (rate < 8e9 || with_new) csv += "," + std::to_string(quirk * (1e-6 + 2 * words / rate));
    }
    csv += "\n";
  }
  return csv;
}

struct Case {
  CounterDataset data;
  CounterProblem problem;
};

void prepare(Case& c, const std::string& sheet) {
  Diagnostics diags;
  auto d = parse_counter_dataset(workloads(true), diags);
  ASSERT_TRUE(d) << diags.str();
  c.data = std::move(*d);
  c.problem.data = &c.data;
  const auto file = fmt::format("perfc_adapt_sheet_{}.csv", ::getpid());  // tests run at the same time
  const std::string path = (std::filesystem::temp_directory_path() / file).string();
  ASSERT_TRUE(write_file(path, sheet, diags));
  const auto read = read_data_sheet(path, c.problem, diags);
  std::filesystem::remove(path);
  ASSERT_TRUE(read) << diags.str();
}

constexpr const char* kSheet = "machine,work,units_per_s\na,words,1e9\nb,words,2e9\nc,words,4e9\nnew,words,8e9\n";

TEST(MachineTransfer, AnUnseenMachineByItsDataSheet) {
  Case c;
  prepare(c, kSheet);
  const std::vector<std::size_t> known{0, 1, 2};
  const auto model = MachineTransfer::fit(c.problem, known, 3, {});
  EXPECT_GT(model.likeness()[2], model.likeness()[1]);
  for (std::size_t r = 6; r < 24; ++r) {  // where words, not launches, take the time
    EXPECT_NEAR(model.predict(c.problem, r), std::log(c.data.workloads[r].seconds[3]), 0.35) << r;
  }
  // Without a data sheet all that is known is that machines differ.
  c.problem.data_sheet.clear();
  const auto blind = MachineTransfer::fit(c.problem, known, 3, {});
  EXPECT_GT(blind.predict(c.problem, 20) - std::log(c.data.workloads[20].seconds[3]), 0.8);
}

TEST(MachineTransfer, MeasuredWorkloadsPullItRight) {
  Case c;
  // A data sheet that promises four times too much.
  prepare(c, "machine,work,units_per_s\na,words,1e9\nb,words,2e9\nc,words,4e9\nnew,words,32e9\n");
  const std::vector<std::size_t> known{0, 1, 2}, few{8, 14};
  std::vector<std::size_t> many;
  for (std::size_t r = 2; r < 24; r += 2) many.push_back(r);
  const auto off = [&](std::span<const std::size_t> rows) {
    return std::abs(MachineTransfer::fit(c.problem, known, 3, rows).predict(c.problem, 21) -
                    std::log(c.data.workloads[21].seconds[3]));
  };
  EXPECT_GT(off({}), 1);
  EXPECT_LT(off(few), 0.5);
  EXPECT_LT(off(many), 0.4);
}

TEST(MachineTransfer, LearningCurveFalls) {
  Case c;  // data sheets that tell nothing of which machine is faster
  prepare(c, "machine,work,units_per_s\na,words,1e9\nb,words,1e9\nc,words,1e9\nnew,words,1e9\n");
  const std::vector<std::size_t> all{0, 1, 2, 3};
  const auto curve = learning_curve(c.problem, all, {.samples = {0, 10}, .seeds = 2});
  ASSERT_EQ(curve.size(), 2U);
  EXPECT_EQ(curve[0].scores.size(), 4U);  // nothing is drawn: one seed
  EXPECT_EQ(curve[1].scores.size(), 8U);
  EXPECT_EQ(curve[0].errors.size(), 4U * 24);
  EXPECT_EQ(curve[1].errors.size(), 8U * 14);
  EXPECT_LT(interval_of(curve[1].errors), interval_of(curve[0].errors) / 2);
  EXPECT_GT(curve[1].covered, 0.6);
}

TEST(MachineTransfer, IntervalHoldsNineOfTen) {
  EXPECT_EQ(interval_of({-10, 1, 2, 3, 4, 5, 6, 7, 8, 9}), 10);
  EXPECT_EQ(interval_of({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19}), 18);
}

}  // namespace
}  // namespace perfc
