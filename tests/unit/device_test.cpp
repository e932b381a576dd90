/// The device table, device files, slices and nvidia-smi.
#include "devices/device.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace perfc {
namespace {

const char* const kCard =
    R"("vector_tflops": {"float32": 10}, "bandwidth_gb_s": 500, "memory_mib": 8000, "tdp_w": 100)";

std::string table_of(const std::string& device) {
  return R"({"schema": "perfc.devices/1", "devices": [{)" + device + "}]}";
}

/// The diagnostics of a device file that must not be accepted.
std::string refused(const std::string& json) {
  Diagnostics diags("my.json");
  EXPECT_FALSE(DeviceTable::parse(json, diags)) << json;
  return diags.str();
}

Device builtin(std::string_view name) {
  Diagnostics diags("--device");
  auto d = DeviceTable::builtin().find(name, diags);
  EXPECT_TRUE(d) << diags.str();
  return d ? *d : Device{};
}

TEST(DeviceTable, EveryBuiltinDeviceIsPhysicallySane) {
  std::set<std::string> names;
  for (const Device& d : DeviceTable::builtin().all()) {
    SCOPED_TRACE(d.name);
    EXPECT_TRUE(names.insert(d.name).second);
    EXPECT_GT(d.vector_tflops.at("float32"), 0);
    EXPECT_GT(d.bandwidth_gb_s, 0);
    EXPECT_LT(d.idle_w, d.tdp_w);
    for (const auto& [kind, share] : d.efficiency) EXPECT_GT(share, 0) << kind;
  }
}

/// FLOPs per clock of a multiprocessor's float32 lanes.
double flops_per_clock(const Device& d) {
  if (d.architecture == "cdna1" || d.architecture == "cdna2" || d.architecture == "volta") return 2 * 64;
  const bool narrow = d.name == "p100" || d.architecture == "turing" || d.name.starts_with("a100") ||
                      d.name == "a800" || d.name == "a30";  // GP100, TU10x, GA100
  return narrow ? 2 * 64 : 2 * 128;
}

// A typing error in a data sheet's figure shows where two of them say the same thing.
TEST(DeviceTable, FiguresOfADataSheetAgreeWithEachOther) {
  const std::map<std::string, std::pair<double, double>> kBandwidths = {
      {"hbm", {700, 9000}}, {"gddr", {150, 1900}}, {"lpddr", {60, 600}}};
  for (const Device& d : DeviceTable::builtin().all()) {
    if (d.kind != "gpu") continue;
    SCOPED_TRACE(d.name);
    const double peak = d.vector_tflops.at("float32");
    EXPECT_NEAR(d.sms * d.boost_clock_mhz * flops_per_clock(d) / 1e6 / peak, 1, 0.05);
    ASSERT_TRUE(kBandwidths.count(d.memory_type));
    EXPECT_GT(d.bandwidth_gb_s, kBandwidths.at(d.memory_type).first);
    EXPECT_LT(d.bandwidth_gb_s, kBandwidths.at(d.memory_type).second);
    for (const auto& [dtype, rate] : d.matrix_tflops) {
      const auto vector = d.vector_tflops.find(dtype);
      if (vector != d.vector_tflops.end()) { EXPECT_GE(rate, vector->second) << dtype; }
    }
    // Each halving of the width doubles the rate; CDNA 1 has bfloat16 at half of it, the int8 units of B300 are cut.
    const auto per_half = [&](const char* dtype, double otherwise) {
      const auto at = d.matrix_tflops.find(dtype);
      return at == d.matrix_tflops.end() ? otherwise : at->second / d.matrix_tflops.at("float16");
    };
    const bool ultra = d.name == "b300" || d.name == "gb300", gcn = d.architecture.starts_with("cdna");
    EXPECT_NEAR(per_half("tf32", 0.5), 0.5, 0.01);
    EXPECT_NEAR(per_half("bfloat16", 1), d.name == "mi100" ? 0.5 : 1, 0.001);
    EXPECT_NEAR(per_half("float8", 2), 2, 0.05);
    if (!ultra && !gcn) { EXPECT_GE(per_half("int8", 2), 1.95); }
    if (d.matrix_tflops.count("float16")) {
      EXPECT_LT(d.matrix_tflops.at("float16") / peak, 35);  // a sparse rate is twice the dense one
    }
  }
}

TEST(DeviceTable, AnA10IsNoA10g) {
  const Device a10 = builtin("a10"), a10g = builtin("a10g");
  EXPECT_EQ(a10.tdp_w, 150);
  EXPECT_EQ(a10.sms, 72);
  EXPECT_EQ(a10.matrix_tflops.at("float16"), 125);
  EXPECT_EQ(a10g.sms, 80);
  EXPECT_EQ(a10g.matrix_tflops.at("float16"), 70);
}

TEST(DeviceTable, MigProfilesFitTheirDevice) {
  for (const Device& d : DeviceTable::builtin().all()) {
    for (const MigProfile& p : d.mig) {
      SCOPED_TRACE(d.name + ":" + p.name);
      EXPECT_LE(p.sms * p.max_instances, d.sms);
      EXPECT_LE(p.memory_mib * p.max_instances, d.memory_mib * 1.01);
      EXPECT_LE(p.memory_slices * p.max_instances, 8);
      EXPECT_EQ(p.name.substr(0, p.name.find('g')), std::to_string(p.compute_slices));
    }
  }
}

TEST(DeviceTable, FindsByNameAliasAndTitleWithoutCase) {
  EXPECT_EQ(builtin("A100").name, "a100-40gb");
  EXPECT_EQ(builtin("NVIDIA A100-SXM4-80GB").name, "a100-80gb");
  EXPECT_EQ(builtin("rtx-pro-6000-maxq").kind, "gpu");
}

TEST(DeviceTable, SuggestsTheNearestName) {
  Diagnostics diags("--device");
  EXPECT_FALSE(DeviceTable::builtin().find("rtx409", diags));
  EXPECT_NE(diags.str().find("did you mean 'rtx4090'?"), std::string::npos) << diags.str();
  Diagnostics profile("--device");
  EXPECT_FALSE(DeviceTable::builtin().find("a100:1g.6gb", profile));
  EXPECT_NE(profile.str().find("it has 1g.5gb"), std::string::npos) << profile.str();
}

TEST(DeviceTable, ASliceHasItsShareOfTheChip) {
  const Device whole = builtin("a100-40gb"), part = builtin("a100-40gb:2g.10gb");
  EXPECT_EQ(part.parent, "a100-40gb");
  EXPECT_EQ(part.sms, 28);
  EXPECT_DOUBLE_EQ(part.vector_tflops.at("float32"), whole.vector_tflops.at("float32") * 28 / 108);
  EXPECT_DOUBLE_EQ(part.bandwidth_gb_s, whole.bandwidth_gb_s * 2 / 8);
  EXPECT_LT(part.tdp_w, whole.tdp_w / 2);
  EXPECT_TRUE(part.mig.empty());
}

TEST(DeviceFile, MissingTermsComeFromTheDefaults) {
  Diagnostics diags("my.json");
  const auto table = DeviceTable::parse(table_of(std::string(R"("name": "mine", )") + kCard), diags);
  ASSERT_TRUE(table) << diags.str();
  const Device& d = table->all().at(0);
  EXPECT_EQ(d.launch_us, builtin("t4").launch_us);
  EXPECT_EQ(d.title, "mine");
}

TEST(DeviceFile, NamesTheWrongField) {
  EXPECT_NE(refused(table_of(std::string(R"("name": "m", "tpd_w": 3, )") + kCard)).find("devices[0].tpd_w"),
            std::string::npos);
  EXPECT_NE(refused(table_of(R"("name": "m", "vector_tflops": {"float32": 1}, "memory_mib": 1, "tdp_w": 1)"))
                .find("bandwidth_gb_s"),
            std::string::npos);
  EXPECT_NE(refused(table_of(std::string(R"("name": "m", "launch_us": -1, )") + kCard)).find("devices[0].launch_us"),
            std::string::npos);
  EXPECT_NE(refused(table_of(std::string(R"("name": "m", "efficiency": {"matmull": 1}, )") + kCard)).find("matmull"),
            std::string::npos);
  const auto places = [&](const std::string& fields) {
    return refused(table_of(std::string(R"("name": "m", "mig": [{"name": "1g.5gb", "compute_slices": 1,
      "memory_slices": 1, "sms": 1, "memory_mib": 1, "max_instances": 1, )") +
                            fields + "}], " + kCard));
  };
  EXPECT_NE(places(R"("starts": [0])").find("mig[0].starts: and 'size' are given together"), std::string::npos);
  EXPECT_NE(places(R"("starts": [0, 0], "size": 1)").find("mig[0].starts: has 0 twice"), std::string::npos);
  EXPECT_NE(places(R"("starts": [31], "size": 2)").find("beyond 32 slots"), std::string::npos);
  EXPECT_NE(places(R"("starts": [-1], "size": 2)").find("whole numbers from 0 to 31"), std::string::npos);
  EXPECT_NE(places(R"("graphics": 1)").find("must be true or false"), std::string::npos);
  EXPECT_NE(refused(R"({"schema": "perfc.devices/2", "devices": []})").find("perfc.devices/1"), std::string::npos);
  EXPECT_NE(refused("{").find("not valid JSON"), std::string::npos);
}

std::string smi(const std::string& gpu) {
  return "<?xml version=\"1.0\"?><nvidia_smi_log><gpu id=\"0\">" + gpu + "</gpu></nvidia_smi_log>";
}

TEST(NvidiaSmi, KnownProductTakesTheTableRowAndItsOwnMemory) {
  Diagnostics diags("smi.xml");
  const auto hosts = read_nvidia_smi(
      smi("<product_name>NVIDIA A100-SXM4-40GB</product_name><mig_mode><current_mig>Enabled</current_mig></mig_mode>"
          "<fb_memory_usage><total>40960 MiB</total><used>960 MiB</used><free>40000 MiB</free></fb_memory_usage>"
          "<mig_devices><mig_device><device_attributes><shared><multiprocessor_count>28</multiprocessor_count>"
          "</shared></device_attributes><fb_memory_usage><total>9856 "
          "MiB</total></fb_memory_usage></mig_device></mig_devices>"),
      DeviceTable::builtin(), diags);
  ASSERT_TRUE(hosts) << diags.str();
  ASSERT_EQ(hosts->size(), 1u);
  const HostGpu& host = hosts->front();
  EXPECT_TRUE(host.in_table);
  EXPECT_EQ(host.device.name, "a100-40gb");
  EXPECT_EQ(host.device.memory_mib, 40960);
  EXPECT_EQ(host.free_mib, 40000);
  EXPECT_EQ(host.mig_mode, "Enabled");
  ASSERT_EQ(host.instances.size(), 1u);
  EXPECT_EQ(host.instances[0].profile.name, "2g.10gb");
}

TEST(NvidiaSmi, ComputeInstancesOfOneGpuInstanceAreOne) {
  const auto mig_device = [](int gi, int ci, int sms, int ofa, int mib) {
    return "<mig_device><gpu_instance_id>" + std::to_string(gi) + "</gpu_instance_id><compute_instance_id>" +
           std::to_string(ci) + "</compute_instance_id><device_attributes><shared><multiprocessor_count>" +
           std::to_string(sms) + "</multiprocessor_count><ofa_count>" + std::to_string(ofa) +
           "</ofa_count></shared></device_attributes><fb_memory_usage><total>" + std::to_string(mib) +
           " MiB</total></fb_memory_usage></mig_device>";
  };
  Diagnostics diags("smi.xml");
  const auto hosts = read_nvidia_smi(
      smi("<product_name>NVIDIA A100-SXM4-40GB</product_name>"
          "<fb_memory_usage><total>40960 MiB</total></fb_memory_usage>"
          "<mig_devices>" +
          mig_device(1, 0, 14, 0, 19968) + mig_device(1, 1, 28, 0, 19968) + mig_device(9, 0, 14, 1, 4864) +
          "</mig_devices><processes><process_info><gpu_instance_id>9</gpu_instance_id><pid>4711</pid>"
          "<process_name>python3</process_name></process_info></processes>"),
      DeviceTable::builtin(), diags);
  ASSERT_TRUE(hosts) << diags.str();
  const auto& instances = hosts->front().instances;
  ASSERT_EQ(instances.size(), 2u);
  EXPECT_EQ(instances[0].profile.name, "3g.20gb");
  EXPECT_EQ(instances[0].compute, (std::vector<int>{0, 1}));
  EXPECT_TRUE(instances[0].processes.empty());
  EXPECT_EQ(instances[1].profile.name, "1g.5gb+me");
  EXPECT_EQ(instances[1].id, 9);
  EXPECT_EQ(instances[1].processes, std::vector<std::string>{"4711 python3"});
}

TEST(NvidiaSmi, SaysWhatIsWrongAndWhere) {
  Diagnostics diags("smi.xml");
  EXPECT_FALSE(read_nvidia_smi("<nvidia_smi_log>\n<gpu>", DeviceTable::builtin(), diags));
  EXPECT_NE(diags.str().find("nvidia-smi -q -x"), std::string::npos) << diags.str();
  Diagnostics other("smi.xml");
  EXPECT_FALSE(read_nvidia_smi("<html/>", DeviceTable::builtin(), other));
  EXPECT_NE(other.str().find("has no <nvidia_smi_log>"), std::string::npos) << other.str();
}

TEST(DeviceTable, CpusAreNamedWithTheirThreads) {
  const Device whole = builtin("epyc-9004-2core"), one = builtin("EPYC-9004-2core:1t");
  EXPECT_EQ(one.sms, 1);
  EXPECT_EQ(one.parent, whole.name);
  EXPECT_DOUBLE_EQ(2 * one.vector_tflops.at("float32"), whole.vector_tflops.at("float32"));
  EXPECT_EQ(one.bandwidth_gb_s, whole.core_bandwidth_gb_s);
  EXPECT_EQ(builtin("i7-6700k:4t").bandwidth_gb_s, builtin("i7-6700k").bandwidth_gb_s);
  for (const char* wrong : {"i7-6700k:5t", "i7-6700k:0t", "i7-6700k:4", "i7-6700k:t", "i7-6700k:1g.5gb"}) {
    Diagnostics diags("--device");
    EXPECT_FALSE(DeviceTable::builtin().find(wrong, diags));
    EXPECT_NE(diags.str().find("is no number of threads of i7-6700k: write i7-6700k:1t to i7-6700k:4t"),
              std::string::npos)
        << diags.str();
  }
}

}  // namespace
}  // namespace perfc
