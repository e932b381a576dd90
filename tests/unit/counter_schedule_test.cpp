#include <gtest/gtest.h>

#include <cmath>

#include "counters/schedule/jobs.h"

namespace perfc {
namespace {

const std::vector<MachineKind> kTwo{{"fast", 1}, {"slow", 1}};

/// All at once; times on fast and slow.
std::vector<Job> jobs(const std::vector<std::pair<double, double>>& times) {
  std::vector<Job> out;
  out.reserve(times.size());
  for (const auto& [fast, slow] : times) out.push_back({std::to_string(out.size()), 0, {fast, slow}, {fast, slow}});
  return out;
}

double makespan(const std::vector<Job>& j, Policy p) { return simulate(j, kTwo, p, Random(1)).makespan_s; }

TEST(Schedule, MakespansByHand) {
  // Longest first: c (mean 9) to fast 0–6; b (6) to slow 0–8, since fast would end at 10; a (4.5) to fast 6–9.
  const auto j = jobs({{3, 6}, {4, 8}, {6, 12}});
  const JobSchedule s = simulate(j, kTwo, Policy::Predicted, Random(1));
  ASSERT_EQ(s.placements.size(), 3U);
  EXPECT_EQ(s.placements[0].job, 2U);
  EXPECT_EQ(s.placements[0].kind, 0U);
  EXPECT_EQ(s.placements[1].job, 1U);
  EXPECT_EQ(s.placements[1].kind, 1U);
  EXPECT_EQ(s.placements[2].start_s, 6);
  EXPECT_EQ(s.makespan_s, 9);
  EXPECT_NEAR(s.mean_turnaround_s, (6 + 8 + 9) / 3.0, 1e-12);
  EXPECT_EQ(makespan(j, Policy::Oracle), 9);
  // a fast 0–3, b slow 0–8, c fast 3–9.
  EXPECT_EQ(makespan(j, Policy::RoundRobin), 9);
  EXPECT_EQ(makespan(j, Policy::SingleBest), 13);
}

TEST(Schedule, WrongPredictionsCost) {
  // Predicted as above, but the job that goes to slow takes 20 there; the oracle puts it on fast.
  auto j = jobs({{3, 6}, {4, 8}, {6, 12}});
  j[1].actual_s = {4, 20};
  EXPECT_EQ(makespan(j, Policy::Predicted), 20);
  // Longest first by mean actual time: b (12) fast 0–4; c (9) fast 4–10, before slow 0–12; a fast 10–13 or slow 0–6.
  EXPECT_EQ(makespan(j, Policy::Oracle), 10);
}

TEST(Schedule, ArrivalsSeeWhatHasEnded) {
  // The first was believed to take 10 on fast and took 1: at 2 the scheduler sees fast idle.
  std::vector<Job> j{{"a", 0, {10, 30}, {1, 30}}, {"b", 2, {5, 6}, {5, 6}}};
  const JobSchedule s = simulate(j, kTwo, Policy::Predicted, Random(1));
  EXPECT_EQ(s.placements[1].kind, 0U);
  EXPECT_EQ(s.makespan_s, 7);
  // Still running at 2, believed to end at 10: b goes to slow.
  j[0].actual_s = {4, 30};
  EXPECT_EQ(simulate(j, kTwo, Policy::Predicted, Random(1)).placements[1].kind, 1U);
  EXPECT_EQ(simulate(j, kTwo, Policy::Predicted, Random(1)).makespan_s, 8);
}

TEST(Schedule, SeveralOfAKindAndWhatRunsNowhereElse) {
  const std::vector<MachineKind> fleet{{"fast", 2}, {"slow", 1}};
  auto j = jobs({{4, 9}, {4, 9}, {4, 9}, {4, 9}});
  j[3].predicted_s[0] = j[3].actual_s[0] = std::nan("");
  const JobSchedule s = simulate(j, fleet, Policy::Predicted, Random(1));
  EXPECT_EQ(s.makespan_s, 9);  // the last on slow 0–9; two on each fast one would be 8
  for (const Policy p : {Policy::Random, Policy::RoundRobin, Policy::SingleBest, Policy::Oracle}) {
    for (const JobPlacement& at : simulate(j, fleet, p, Random(3)).placements) EXPECT_TRUE(at.job != 3 || at.kind == 1);
  }
}

TEST(Schedule, RandomDependsOnTheSeedAlone) {
  const auto j = jobs({{1, 2}, {2, 3}, {3, 5}, {4, 7}, {5, 11}, {6, 13}, {7, 17}, {8, 19}});
  const auto kinds = [&](std::uint64_t seed) {
    std::vector<std::size_t> out;
    for (const JobPlacement& p : simulate(j, kTwo, Policy::Random, Random(seed)).placements) out.push_back(p.kind);
    return out;
  };
  EXPECT_EQ(kinds(1), kinds(1));
  EXPECT_NE(kinds(1), kinds(2));
}

TEST(Schedule, FilesAreRefusedWithTheirPlace) {
  const auto fleet_message = [](const char* text) {
    Diagnostics diags("m.json");
    EXPECT_FALSE(parse_fleet(text, diags));
    return diags.str();
  };
  EXPECT_EQ(fleet_message(R"({"machines": [{"name": "a", "count": 0}]})"),
            "m.json: error: machines[0]: count must be a whole number from 1 to 10000\n");
  EXPECT_EQ(fleet_message(R"({"machines": [{"name": "a"}, {"name": "a"}]})"),
            "m.json: error: machines[1]: 'a' stands twice; use count\n");
  EXPECT_EQ(fleet_message("{"),
            "m.json: error: not valid JSON; wants {\"machines\": [{\"name\": \"quartz\", \"count\": 2}, ...]}\n");
  const auto job_message = [](const char* text) {
    Diagnostics diags("j.csv");
    EXPECT_FALSE(parse_jobs(text, kTwo, diags));
    return diags.str();
  };
  EXPECT_EQ(job_message("job,predicted:other\na,1\n"),
            "j.csv:2:1: error: 'a' has a predicted time on none of fast, slow\n");
  EXPECT_EQ(job_message("job,predicted:fast\na,0\n"),
            "j.csv:2:1: error: predicted:fast: '0' is not a positive number\n");
  EXPECT_EQ(job_message("job,arrival_s,predicted:fast\na,-1,1\n"),
            "j.csv:2:1: error: arrival_s: '-1' is not a finite, non-negative number\n");
  EXPECT_EQ(job_message("job,seconds\na,1\n"),
            "j.csv:1:1: error: column 'seconds' is none of job, arrival_s, predicted:MACHINE, time:MACHINE\n");
}

TEST(Schedule, JobsFromATable) {
  Diagnostics diags;
  const auto list =
      parse_jobs("job,arrival_s,predicted:fast,predicted:slow,time:fast\na,,1,,2\nb,3,1,4,\n", kTwo, diags);
  ASSERT_TRUE(list) << diags.str();
  EXPECT_FALSE(list->measured);
  EXPECT_EQ(list->jobs[0].actual_s[0], 2);
  EXPECT_TRUE(std::isnan(list->jobs[0].predicted_s[1]));
  EXPECT_EQ(list->jobs[1].arrival_s, 3);
  EXPECT_EQ(list->jobs[1].actual_s[1], 4);
}

}  // namespace
}  // namespace perfc
