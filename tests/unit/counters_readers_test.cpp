/// PAPI, Caliper, Nsight Compute, nvprof and plain tables, with exact values.
#include <gtest/gtest.h>

#include "counters_profile.h"

namespace perfc {
namespace {

TEST(PapiHl, RanksThreadsAndNestedRegions) {
  const Profile p = Fixture("papi_hl_output").read();
  EXPECT_EQ(p.format, "papi-hl");
  EXPECT_EQ(tree(p),
            ">rank_000000\n>>thread 0\n>>>outer\n>>>>inner\n>>>after\n>>thread 1\n>>>outer\n>rank_000001\n>>thread 0\n"
            ">>>outer\n");
  EXPECT_EQ(total(p, "PAPI_TOT_INS"), 80 + 20 + 60 + 40);  // what is inside of "outer" is in its value
  EXPECT_EQ(total(p, "real_time_nsec"), 150);              // the slowest thread's
  EXPECT_EQ(value(p, "thread 0", "real_time_nsec"), 55);
  EXPECT_EQ(total(p, "coretemp:::temp"), 51);
  EXPECT_EQ(p.regions[5].weight, 3);
  EXPECT_EQ(p.about[1], (std::pair<std::string, std::string>("cpu_info", "Test CPU")));
  const Derived d = derive(p);
  EXPECT_EQ(d.record[Counter::Instructions], 200);
  EXPECT_EQ(d.record[Counter::ControlRatio], 0.1);
  EXPECT_EQ(d.record[Counter::Threads], 3);
  EXPECT_DOUBLE_EQ(*quantity(d, "seconds"), 150e-9);
}

TEST(PapiHl, RefusesWithThePlace) {
  const auto thread = [](const std::string& regions) {
    return complaint("r.json", R"({"papi_version": "7", "threads": {"0": {"regions": )" + regions + "}}}");
  };
  EXPECT_EQ(thread(R"({"0": {"name": "a", "parent_region_id": "1", "c": "1"}, )"
                   R"("1": {"name": "b", "parent_region_id": "0", "c": "1"}})"),
            "r.json: 'thread 0': error: regions are within themselves: the tree has a cycle\n");
  EXPECT_EQ(thread(R"({"0": {"name": "a", "parent_region_id": "5", "c": "1"}})"),
            "r.json: 'region 0': error: its parent 5 is missing\n");
  EXPECT_EQ(thread(R"({"0": {"name": "a", "PAPI_TOT_INS": "many"}})"),
            "r.json: 'a': error: the value of PAPI_TOT_INS is no number\n");
  EXPECT_EQ(thread("[]"), "r.json: 'thread 0': error: \"regions\" is no object\n");
  EXPECT_EQ(complaint("r.json", R"({"papi_version": "6", "threads": []})"),
            "r.json: error: \"threads\" is no object; files of PAPI before 6.0.0.1 are not read\n");
  EXPECT_EQ(complaint("r.json", R"({"papi_version": "6", "threads": {)"),
            "r.json:1:35: error: malformed JSON: the text ends too early; is the file complete?\n");
}

TEST(Caliper, SplitJson) {
  const Profile p = Fixture("caliper.json").read();
  EXPECT_EQ(p.format, "caliper-json");
  EXPECT_EQ(tree(p), ">(outside of regions)\n>main\n>>solve\n>>>apply\n");
  EXPECT_EQ(total(p, "time"), 6);
  EXPECT_EQ(value(p, "apply", "time"), 4);
  EXPECT_EQ(value(p, "solve", "time"), 1);
  EXPECT_EQ(total(p, "mpi.rank"), std::nullopt);
  // apply: the mean of two ranks, 0.625; weighted with the seconds 1, 1 and the last row's 1.
  EXPECT_DOUBLE_EQ(*total(p, "topdown.retiring"), (0.25 + 0.5 + 0.625) / 3);
  const Derived d = derive(p);
  EXPECT_EQ(d.record[Counter::Instructions], 500);
  EXPECT_EQ(quantity(d, "seconds"), 6);
}

TEST(Caliper, Records) {
  const Profile p = Fixture("caliper_records.json").read();
  EXPECT_EQ(tree(p), ">main\n>>solve\n>(outside of regions)\n");
  EXPECT_EQ(total(p, "inclusive#sum#time.duration"), 5);
  EXPECT_EQ(total(p, "sum#PAPI_TOT_INS"), 42);
  EXPECT_EQ(derive(p).record[Counter::Instructions], 42);
}

TEST(Caliper, RefusesWithThePlace) {
  const auto split = [](const std::string& data, const std::string& nodes) {
    return complaint(
        "c.json",
        R"({"data": )" + data +
            R"(, "columns": ["n", "path"], "column_metadata": [{"is_value": true}, {"is_value": false}], "nodes": )" +
            nodes + "}");
  };
  EXPECT_EQ(split("[[1, 0]]", R"([{"label": "a", "parent": 1}, {"label": "b", "parent": 0}])"),
            "c.json: node 0 'a': error: its parent is no node that stands before it\n");
  EXPECT_EQ(split("[[1, 0]]", R"([{"label": "a", "parent": 0}])"),
            "c.json: node 0 'a': error: its parent is no node that stands before it\n");
  EXPECT_EQ(split("[[1, 7]]", R"([{"label": "a"}])"),
            "c.json: node 0: error: a row's path is no number of the 1 nodes\n");
  EXPECT_EQ(split("[[1]]", R"([{"label": "a"}])"), "c.json: node 0: error: a row of \"data\" is no list of 2 cells\n");
  EXPECT_EQ(complaint("c.json", R"([{"a": 1}, 2])"), "c.json: node 1: error: a record is no object\n");
}

TEST(NsightCompute, ARowPerMetric) {
  const Profile p = Fixture("ncu.csv").read();
  EXPECT_EQ(p.format, "ncu-csv");
  EXPECT_EQ(tree(p), ">add(int *, int)\n>mul(int *, int)\n");
  EXPECT_EQ(total(p, "smsp__inst_executed.sum"), 1500);
  EXPECT_EQ(value(p, "mul(int *, int)", "lts__t_sector_hit_rate.pct"), std::nullopt);
  EXPECT_EQ(total(p, "GPU Speed Of Light Throughput: Duration"), 2);
  EXPECT_EQ(total(p, "launch__grid_size"), 18);
  const Derived d = derive(p);
  EXPECT_EQ(d.record[Counter::Instructions], 1500);
  EXPECT_DOUBLE_EQ(*d.record[Counter::CacheMissRatio], 0.25);
  EXPECT_EQ(d.record[Counter::Threads], 2);
  EXPECT_EQ(d.record[Counter::WarpBlocks], 18);
  EXPECT_DOUBLE_EQ(*quantity(d, "gpu.seconds"), 2e-6);
}

TEST(NsightCompute, RawPage) {
  const Profile p = Fixture("ncu_raw.csv").read();
  EXPECT_EQ(p.format, "ncu-csv");
  ASSERT_EQ(p.regions.size(), 3u);
  EXPECT_EQ(total(p, "gpu__time_duration.sum"), 4);
  const Derived d = derive(p);
  EXPECT_EQ(d.record[Counter::Instructions], 600);
  EXPECT_EQ(d.record[Counter::WarpBlocks], 128);
  EXPECT_DOUBLE_EQ(*d.record[Counter::CpuToGpuBandwidth], 2000 * 32 / 4e-3);
}

TEST(Nvprof, TraceAndMetrics) {
  const Profile p = Fixture("nvprof.csv").read();
  EXPECT_EQ(p.format, "nvprof-csv");
  EXPECT_EQ(tree(p), ">[CUDA memcpy HtoD]\n>add(int*)\n>mul(int*)\n");
  EXPECT_EQ(total(p, "inst_integer"), 300);
  EXPECT_DOUBLE_EQ(*total(p, "l2_tex_hit_rate"), (3 * 90 + 50) / 4.0);
  const Derived d = derive(p);
  EXPECT_EQ(d.record[Counter::IntegerRatio], 0.5);
  EXPECT_EQ(d.record[Counter::FloatRatio], 0.25);
  EXPECT_EQ(d.record[Counter::MemoryRatio], 0.15);
  EXPECT_EQ(d.record[Counter::ControlRatio], 0.1);
  EXPECT_DOUBLE_EQ(*d.record[Counter::CacheMissRatio], 0.25);
  EXPECT_DOUBLE_EQ(*d.record[Counter::CpuToGpuBandwidth], 1e10);
  EXPECT_DOUBLE_EQ(*d.record[Counter::GpuToCpuBandwidth], 1.5e6);
  EXPECT_EQ(d.record[Counter::WarpBlocks], 20);
  EXPECT_EQ(d.record[Counter::Threads], 2);
}

TEST(Nvprof, SummaryAndLaunches) {
  const Profile s = read_text(
      "n.csv",
      "\"Type\",\"Time(%)\",\"Time\",\"Calls\",\"Avg\",\"Min\",\"Max\",\"Name\"\n,%,ms,,ms,ms,ms,\n"
      "\"GPU activities\",60.0,6.0,3,2.0,1.0,3.0,\"k(int)\"\n\"GPU activities\",40.0,4.0,1,4.0,4.0,4.0,\"[CUDA memcpy "
      "DtoH]\"\n"
      "\"API calls\",90.0,50.0,4,5.0,1.0,9.0,\"cudaMemcpy\"\n");
  EXPECT_EQ(total(s, "Kernel Duration"), 6);
  EXPECT_DOUBLE_EQ(*quantity(derive(s), "from_gpu.seconds"), 4e-3);
  const Profile w = read_text("n.csv",
                              "\"Device\",\"Context\",\"Stream\",\"Kernel\",\"inst_executed\",\"cf_executed\"\n"
                              "\"V100\",1,7,\"k\",100,20\n\"V100\",1,7,\"k\",300,60\n");
  EXPECT_EQ(derive(w).record[Counter::ControlRatio], 0.2);
}

TEST(GpuCsv, RefusesWithThePlace) {
  EXPECT_EQ(
      complaint("n.csv",
                "\"Device\",\"Kernel\",\"Invocations\",\"Metric Name\",\"Metric Description\",\"Min\",\"Max\",\"Avg\"\n"
                "\"V100\",\"k\",3\n"),
      "n.csv:2:1: error: 3 fields, but the head has 8; is the file complete?\n");
  EXPECT_EQ(complaint("n.csv", "==PROF== x\n\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Value\"\n\"0\",\"k"),
            "n.csv:3:1: error: the file ends inside quotes\n");
}

TEST(PlainCsv, WithAndWithoutAMapping) {
  const Profile bare = Fixture("table.csv").read();
  EXPECT_EQ(bare.format, "csv");
  EXPECT_EQ(tree(bare), ">lulesh\n>lulesh\n");
  EXPECT_EQ(total(bare, "ins"), 400);
  EXPECT_EQ(total(bare, "br_pct"), 20);
  EXPECT_EQ(derive(bare).record.known(), 0u);
  const Profile p = Fixture("table.csv", "table_mapping.csv").read();
  EXPECT_EQ(tree(p), ">setup\n>solve\n");
  EXPECT_EQ(value(p, "solve", "MEM_LOAD_RETIRED.L1_HIT"), std::nullopt);
  const Derived d = derive(p);
  EXPECT_EQ(d.record[Counter::Instructions], 400);
  EXPECT_EQ(d.record[Counter::ControlRatio], 0.2);
  EXPECT_EQ(d.record[Counter::CacheMissRatio], 0.4);
  EXPECT_EQ(d.record.known(), 3u);
}

TEST(PlainCsv, Rocprof) {
  const Derived d = derive(read_text(
      "results.csv",
      "\"Index\",\"KernelName\",\"SQ_INSTS_VALU\",\"SQ_INSTS_SALU\",\"SQ_INSTS_VMEM_RD\",\"SQ_INSTS_VMEM_WR\","
      "\"SQ_INSTS_SMEM\",\"SQ_INSTS_LDS\",\"TCC_HIT_sum\",\"TCC_MISS_sum\"\n"
      "0,\"add\",30,20,10,10,5,5,90,10\n1,\"mul\",10,5,2,1,1,1,10,40\n"));
  EXPECT_EQ(d.record[Counter::Instructions], 100);
  EXPECT_EQ(d.record[Counter::MemoryRatio], 0.35);
  EXPECT_EQ(d.record[Counter::CacheMissRatio], 0.5);
  EXPECT_FALSE(d.record[Counter::ControlRatio]);
}

TEST(PlainCsv, RefusesWithThePlace) {
  Fixture f("table.csv", "table_mapping.csv");
  f.files.mapping = "column,counter\ninns,instructions\nins,PAPI_TOT_INZ\n";
  EXPECT_EQ(f.complaint(),
            "table_mapping.csv:2:1: 'inns': error: table.csv has no such column (did you mean 'ins'?)\n"
            "table_mapping.csv:3:1: 'ins': error: 'PAPI_TOT_INZ' is no counter that perfc knows, nor region, weight or "
            "ignore "
            "(did you mean 'PAPI_TOT_INS'?)\n");
  f.files.mapping = "a,b\n";
  EXPECT_EQ(f.complaint(),
            "table_mapping.csv: error: a mapping has the head column,counter,unit (unit may be left out)\n");
  EXPECT_EQ(complaint("t.csv", "a,b\n1,2\n3,x\n"), "t.csv:3:1: 'b': error: 'x' is no number\n");
  EXPECT_EQ(complaint("t.csv", "a,b\nx,y\n"), "t.csv: error: no counter in it has a value\n");
}

TEST(Readers, RefuseWhatTheyDoNotKnow) {
  EXPECT_EQ(complaint("x.bin", ""), "x.bin: error: the file is empty; a profile was expected\n");
  EXPECT_EQ(complaint("x.bin",
                      "\x7f"
                      "ELF")
                .substr(0, 56),
            "x.bin: error: not a profile that perfc reads; it reads h");
}

}  // namespace
}  // namespace perfc
