/// perf stat's two formats, and what follows from counters in general.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sstream>

#include "counters/derive.h"
#include "counters/names.h"
#include "counters_profile.h"

namespace perfc {
namespace {

TEST(PerfStat, CsvOfAWholeRun) {
  const auto p = read_text("run.csv",
                           "# started on Sat Nov 21 2026\n\n"
                           "12.50,msec,task-clock:u,12500000,100.00,0.9,CPUs utilized\n"
                           "8000,,instructions:u,12500000,75.00,2.0,insn per cycle\n"
                           ",,,,,0.50,stalled cycles per insn\n"
                           "1000,,branches:u,12500000,100.00,,\n"
                           "50,,branch-misses:u,12500000,100.00,5.00,of all branches\n"
                           "<not supported>,,cache-misses:u,0,100.00,,\n"
                           "7,,cpu/event=0x3c,umask=0x0/u,12500000,100.00,,\n");
  EXPECT_EQ(p.format, "perf-stat-csv");
  EXPECT_EQ(total(p, "task-clock:u"), 12.5);
  EXPECT_EQ(total(p, "cpu/event=0x3c,umask=0x0/u"), 7);
  EXPECT_EQ(total(p, "cache-misses:u"), std::nullopt);
  ASSERT_EQ(p.unmeasured.size(), 1u);
  EXPECT_EQ(p.unmeasured[0].metric, "cache-misses:u");
  const Derived d = derive(p);
  EXPECT_EQ(d.record[Counter::Instructions], 8000);
  EXPECT_EQ(d.record[Counter::ControlRatio], 0.125);
  EXPECT_EQ(d.record[Counter::BranchMissRatio], 0.05);
  EXPECT_EQ(d.how[static_cast<std::size_t>(Counter::BranchMissRatio)], "branch-misses:u / branches:u");
  EXPECT_EQ(d.record.known(), 3u);
  EXPECT_EQ(quantity(d, "cpu_seconds"), 0.0125);
}

TEST(PerfStat, IntervalsPartsAndBothAddUp) {
  for (const char* text :
       {"1.0,100,,instructions,5,100.00,,\n2.0,50,,instructions,5,100.00,,\n",                // -I
        "S0-D0-C0,2,100,,instructions,5,100.00,,\nS0-D0-C1,2,50,,instructions,5,100.00,,\n",  // --per-core
        "CPU0,100,,instructions,5,100.00,,\nCPU1,50,,instructions,5,100.00,,\n",              // -A
        "1.0,S0,2,100,,instructions,5,100.00,,\n1.0,S1,2,50,,instructions,5,100.00,,\n",
        "150,,instructions,0.40%,5,100.00,,\n",                                              // -r
        "100,,cpu_core/instructions/,5,50.00,,\n50,,cpu_atom/instructions/,5,50.00,,\n"}) {  // hybrid
    EXPECT_EQ(derive(read_text("run.csv", text)).record[Counter::Instructions], 150) << text;
  }
}

TEST(PerfStat, AnEventTwiceIsCountedOnce) {
  Diagnostics diags("run.csv");
  const auto p = read_text("run.csv", "100,,instructions,5,100.00,,\n70,,instructions,5,100.00,,\n", diags);
  EXPECT_EQ(total(p, "instructions"), 100);
  EXPECT_EQ(
      diags.str(),
      "run.csv:2:1: 'instructions': warning: the event was counted before in this file; the first value stands\n");
}

TEST(PerfStat, Json) {
  const auto p = read_text(
      "run.json",
      R"({"core" : "S0-D0-C0", "aggregate-number" : 2, "counter-value" : "100.000000", "unit" : "", )"
      R"("event" : "page-faults", "pcnt-running" : 100.00, })"
      "\n"
      R"({"core" : "S0-D0-C1", "counter-value" : 11, "unit" : "", "event" : "page-faults", "pcnt-running" : 60.00})"
      "\n"
      R"({"metric-value" : "1.0", "metric-unit" : "of all branches"})"
      "\n"
      R"({"counter-value" : "<not counted>", "unit" : "", "event" : "cycles"})"
      "\n");
  EXPECT_EQ(p.format, "perf-stat-json");
  ASSERT_EQ(p.regions.size(), 3u);
  EXPECT_EQ(p.regions[2].name, "S0-D0-C1");
  EXPECT_EQ(p.value(2, 0), 11);
  EXPECT_EQ(derive(p).record[Counter::PageFaults], 111);
  ASSERT_EQ(p.about.size(), 1u);
  EXPECT_EQ(p.about[0].second, "60 % (perf has scaled the values)");
}

TEST(PerfStat, RefusesWithThePlace) {
  EXPECT_EQ(
      complaint("run.json",
                "{\"counter-value\" : \"1\", \"event\" : \"cycles\"}\n{\"counter-value\" : \"1\", \"event\" : \n"),
      "run.json:2:34: error: malformed JSON: the text ends too early; is the file complete?\n");
  EXPECT_EQ(complaint("run.json", R"({"counter-value" : [], "event" : "cycles"})"),
            "run.json:1:1: 'cycles': error: \"counter-value\" is neither a number nor a text\n");
  EXPECT_EQ(complaint("run.csv", "<not counted>,,cycles,0,100.00,,\n"),
            "run.csv: error: no counter in it has a value\n");
}

TEST(CounterNames, SpellingsOfOneCounter) {
  for (const char* name : {"instructions", "instructions:u", "cpu_core/instructions/", "armv8_pmuv3_0/instructions/u",
                           "perf::INSTRUCTIONS:Sum (I)", "sum#inclusive#sum#instructions"}) {
    EXPECT_EQ(canonical_name(name), "instructions") << name;
  }
  EXPECT_EQ(canonical_name("INST_RETIRED.ANY_P"), canonical_name("INST_RETIRED:ANY_P"));
  EXPECT_EQ(canonical_name("GXCOPY:H2D (B):Sum (I)"), canonical_name("GXCOPY:H2D (B)"));
  EXPECT_NE(canonical_name("GXCOPY:H2D (B)"), canonical_name("GXCOPY (sec)"));
  EXPECT_NE(canonical_name("PAPI_TOT_INS:Mean (I)"), canonical_name("PAPI_TOT_INS:Sum (I)"));
  EXPECT_NE(canonical_name("avg#papi.PAPI_TOT_INS"), canonical_name("PAPI_TOT_INS"));
  EXPECT_EQ(find_counter_name("sum#papi.PAPI_TOT_INS")->quantity, "instructions");
  EXPECT_EQ(find_counter_name("no such counter"), nullptr);
  EXPECT_EQ(unit_in_name("CPUTIME (usec):Sum (I)"), "usec");
}

TEST(CounterNames, Units) {
  for (const auto& [unit, factor] : {std::pair{"usecond", 1e-6},
                                     {"ns", 1e-9},
                                     {"msec", 1e-3},
                                     {"s", 1.0},
                                     {"sec", 1.0},
                                     {"%", 0.01},
                                     {"Kbyte", 1e3},
                                     {"GB/s", 1e9},
                                     {"byte/second", 1.0},
                                     {"MiB", 1048576.0},
                                     {"", 1.0},
                                     {"inst", 1.0},
                                     {"sector", 1.0},
                                     {"M", 1.0},
                                     {"us", 1e-6}}) {
    EXPECT_EQ(base_unit(unit), factor) << unit;
  }
}

/// Every row of the two tables is reachable and means something.
TEST(CounterNames, TablesAgree) {
  for (const CounterName& n : counter_names()) {
    EXPECT_TRUE(find_quantity(n.quantity)) << n.name;
    ASSERT_TRUE(find_counter_name(n.name)) << n.name;
    EXPECT_EQ(find_counter_name(n.name)->quantity, n.quantity)
        << n.name << " is spelt like " << find_counter_name(n.name)->name;
  }
  for (const Quantity& q : quantity_table()) {
    EXPECT_TRUE(std::any_of(counter_names().begin(), counter_names().end(), [&](const CounterName& n) {
      return n.quantity == q.name;
    })) << q.name;
  }
  for (const Formula& f : formulas()) {
    std::istringstream terms(std::string(f.numerator) + " " + std::string(f.denominator));
    for (std::string term; terms >> term;) {
      const std::string name = term.substr(term.find_first_not_of("-?"));
      EXPECT_TRUE(name == "1" || find_quantity(name)) << term;
    }
  }
}

TEST(Derive, ADenominatorOfZeroLeavesTheColumnMissing) {
  const Derived d = derive(read_text("run.csv", "0,,branches,5,100.00,,\n0,,branch-misses,5,100.00,,\n"));
  EXPECT_FALSE(d.record[Counter::BranchMissRatio]);
  EXPECT_EQ(d.how[static_cast<std::size_t>(Counter::BranchMissRatio)],
            "branch-misses / branches: the denominator is 0");
}

/// Table I of the paper: misses to hits.
TEST(Derive, TheCacheMissRatioIsMissesByHits) {
  const auto ratio_of = [](std::string_view loads, std::string_view misses) {
    return derive(read_text("run.csv", fmt::format("100,,{},5,100.00,,\n20,,{},5,100.00,,\n", loads, misses)))
        .record[Counter::CacheMissRatio];
  };
  EXPECT_EQ(ratio_of("L1-dcache-loads", "L1-dcache-load-misses"), 20.0 / 80.0);
  EXPECT_EQ(ratio_of("PM_LD_REF_L1", "PM_LD_MISS_L1"), 20.0 / 80.0);
}

TEST(Derive, TellsWhatIsLacking) {
  const Derived d = derive(read_text("run.csv", "9,,instructions,5,100.00,,\n"));
  EXPECT_EQ(d.how[static_cast<std::size_t>(Counter::BranchMissRatio)], "not measured; needs branch-misses, branches");
  EXPECT_EQ(d.how[static_cast<std::size_t>(Counter::IntegerRatio)],
            "not measured; needs DP_SPEC (arm) or PM_FXU_FIN (power)");
  EXPECT_EQ(d.how[static_cast<std::size_t>(Counter::WarpBlocks)], "not measured; this tool has no counter for it");
}

TEST(ProfileBuilder, TotalsOfATree) {
  ProfileBuilder b("p", "perf-stat-csv");
  const auto inclusive = b.metric({.name = "i"}), exclusive = b.metric({.name = "e", .scope = Scope::Exclusive});
  const auto mean = b.metric({.name = "m", .combine = Combine::Mean}),
             most = b.metric({.name = "x", .combine = Combine::Max});
  const auto a = b.region("a"), c = b.region("b"), aa = b.region("aa", a), ca = b.region("ba", c);
  b.add(a, inclusive, 10), b.add(aa, inclusive, 4), b.add(ca, inclusive, 3);
  b.add(a, exclusive, 6), b.add(aa, exclusive, 4), b.add(ca, exclusive, 3);
  b.add(a, mean, 1), b.add(c, mean, 4), b.weigh(a, 2), b.add(a, most, 5), b.add(c, most, 7);
  b.add(a, most, std::nan(""));
  Diagnostics diags("p");
  const auto p = b.finish(diags);
  ASSERT_TRUE(p);
  EXPECT_EQ(p->total(inclusive), 13);
  EXPECT_EQ(p->total(exclusive), 13);
  EXPECT_EQ(p->total(mean), 2);
  EXPECT_EQ(p->total(most), 7);
}

}  // namespace
}  // namespace perfc
