/// Calibration finds the constants that made its labels, and says no to labels it cannot use.
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "learning/calibration.h"
#include "learning/predictors.h"

namespace perfc {
namespace {

/// A copy: memory-bound. A product: compute-bound. A tiny addition: nothing but a launch. A recurrence: kernels that
/// wait for each other.
const char* const kModels[] = {
    "def @main(%x: Tensor[(4096, 4096), float32]) {\n  %1 = nn.relu(%x);\n  (%1)\n}\n",
    "def @main(%x: Tensor[(4096, 4096), float32], %y: Tensor[(4096, 4096), float32]) {\n  %2 = nn.batch_matmul(%x, "
    "%y);\n  (%2)\n}\n",
    "def @main(%x: Tensor[(8,), float32]) {\n  %1 = tanh(%x);\n  (%1)\n}\n",
    "def @main(%x: Tensor[(2000, 1, 64), float32]) {\n  %1 = weight : Tensor[(1, 256, 64), float32];\n"
    "  %2 = weight : Tensor[(1, 256, 64), float32];\n"
    "  %3:3 = nn.lstm(%x, %1, %2, hidden_size=64, direction=\"forward\");\n  (%3.0)\n}\n",
};

class Calibrating : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / fmt::format("perfc_calibration_{}", ::getpid());
    std::filesystem::create_directories(folder_);
    for (std::size_t m = 0; m < std::size(kModels); ++m)
      std::ofstream(folder_ / fmt::format("{}.pir", m)) << "#[version = \"perfc-ir/1\"]\n" << kModels[m];
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string labels(const std::vector<std::string>& rows) {
    std::ofstream f(folder_ / "labels.csv");
    f << "model,batch,device,dtype,mode,task,latency_ms,memory_mib,energy_j\n";
    for (const std::string& r : rows) f << r << "\n";
    return (folder_ / "labels.csv").string();
  }

  /// What the whitebox says of model `m` on `device`, in ms.
  double whitebox_ms(std::size_t m, const Device& device) {
    Diagnostics diags("test");
    const auto graph = load_graph({.model = (folder_ / fmt::format("{}.pir", m)).string()}, diags);
    EXPECT_TRUE(graph) << diags.str();
    const auto model = make_whitebox()->prepare(*graph, {.precision = Precision::Fp32}, diags);
    EXPECT_TRUE(model) << diags.str();
    return (*model)->on(device).latency_ms;
  }

  std::filesystem::path folder_;
};

TEST_F(Calibrating, FindsTheConstantsThatMadeTheLabels) {
  Diagnostics diags("test");
  const auto t4 = DeviceTable::builtin().find("t4", diags);
  ASSERT_TRUE(t4);
  Device truth = *t4;
  truth.efficiency["bandwidth"] *= 0.7;
  truth.efficiency["dense_product"] *= 0.5;
  truth.host = truth.host.slowed(2);
  std::vector<std::string> rows;
  for (int repeat = 0; repeat < 10; ++repeat) {
    for (std::size_t m = 0; m < std::size(kModels); ++m)
      rows.push_back(fmt::format("{}.pir,,t4,fp32,eager,,{:.9g},,", m, whitebox_ms(m, truth)));
  }
  const auto found = calibrate({.data = labels(rows), .predictor = "whitebox", .name = "mine"}, diags);
  ASSERT_TRUE(found) << diags.str();
  EXPECT_EQ(found->device.name, "mine");
  EXPECT_EQ(found->device.calibrated_labels, 40);
  EXPECT_GT(found->error_before, 0.3);
  EXPECT_LT(found->error_after, 0.02);
  EXPECT_NEAR(found->device.efficiency.at("bandwidth") / truth.efficiency.at("bandwidth"), 1, 0.03);
  EXPECT_NEAR(found->device.efficiency.at("dense_product") / truth.efficiency.at("dense_product"), 1, 0.03);
  for (std::size_t c = 0; c < truth.host.eager_us.size(); ++c)
    EXPECT_NEAR(found->device.host.eager_us[c] / truth.host.eager_us[c], 1, 0.03) << kHostCallNames[c];
  EXPECT_LT(found->device.host.interval, 1.2);  // a third of the labels waits for the host
  EXPECT_GT(found->device.host.interval, 1);
  EXPECT_EQ(found->device.efficiency.at("layout"),
            t4->efficiency.at("layout"));  // nothing measured says anything about it
}

TEST_F(Calibrating, FindsThePowerThatMadeTheEnergy) {
  Diagnostics diags("test");
  const auto t4 = DeviceTable::builtin().find("t4", diags);
  ASSERT_TRUE(t4);
  Device truth = *t4;
  truth.idle_w *= 0.7;
  truth.active_power = 0.45;
  truth.memory_power = 0.5;
  std::vector<std::string> rows;
  for (std::size_t m = 0; m < std::size(kModels); ++m) {
    const auto graph = load_graph({.model = (folder_ / fmt::format("{}.pir", m)).string()}, diags);
    ASSERT_TRUE(graph) << diags.str();
    const auto model = make_whitebox()->prepare(*graph, {.precision = Precision::Fp32}, diags);
    ASSERT_TRUE(model) << diags.str();
    const Prediction p = (*model)->on(truth);
    for (int repeat = 0; repeat < 20; ++repeat)
      rows.push_back(fmt::format("{}.pir,,t4,fp32,eager,,{:.9g},,{:.9g}", m, p.latency_ms, p.energy_j));
  }
  const auto found = calibrate({.data = labels(rows), .predictor = "whitebox"}, diags);
  ASSERT_TRUE(found) << diags.str();
  EXPECT_EQ(found->power_labels, 80u);
  EXPECT_GT(found->power_error_before, 0.08);
  EXPECT_LT(found->power_error_after, 0.02);
  EXPECT_NEAR(found->device.idle_w / truth.idle_w, 1, 0.05);
  EXPECT_NEAR(found->device.active_power / truth.active_power, 1, 0.05);
  EXPECT_NEAR(found->device.memory_power / truth.memory_power, 1, 0.05);
}

TEST_F(Calibrating, WithoutEnergyThePowerTermsStay) {
  Diagnostics diags("test");
  const auto t4 = DeviceTable::builtin().find("t4", diags);
  ASSERT_TRUE(t4);
  const auto found = calibrate({.data = labels({"0.pir,,t4,fp32,eager,,1,,"}), .predictor = "whitebox"}, diags);
  ASSERT_TRUE(found) << diags.str();
  EXPECT_EQ(found->power_labels, 0u);
  EXPECT_EQ(found->device.active_power, t4->active_power);
  EXPECT_EQ(found->device.idle_w, t4->idle_w);
}

TEST_F(Calibrating, OneOutlierAmongThirtyHardlyMoves) {
  Diagnostics diags("test");
  const auto t4 = DeviceTable::builtin().find("t4", diags);
  ASSERT_TRUE(t4);
  std::vector<std::string> rows;
  rows.reserve(30);
  for (int repeat = 0; repeat < 30; ++repeat)
    rows.push_back(fmt::format("0.pir,,t4,fp32,eager,,{:.9g},,", whitebox_ms(0, *t4) * (repeat == 0 ? 20 : 1)));
  const auto found = calibrate({.data = labels(rows), .predictor = "whitebox"}, diags);
  ASSERT_TRUE(found) << diags.str();
  EXPECT_NEAR(found->device.efficiency.at("bandwidth") / t4->efficiency.at("bandwidth"), 1, 0.03);
}

TEST_F(Calibrating, LabelsOfTwoDevicesAreRefused) {
  Diagnostics diags("test");
  EXPECT_FALSE(calibrate(
      {.data = labels({"0.pir,,t4,fp32,eager,,1,,", "0.pir,,p4,fp32,eager,,1,,"}), .predictor = "whitebox"}, diags));
  EXPECT_NE(
      diags.str().find(
          "labels.csv:3:1: error: device 'p4' after 't4': one device is calibrated at a time; choose with --device"),
      std::string::npos)
      << diags.str();
}

TEST_F(Calibrating, WithoutLatenciesThereIsNothingToFit) {
  Diagnostics diags("test");
  EXPECT_FALSE(calibrate({.data = labels({"0.pir,,t4,fp32,eager,,,100,"}), .predictor = "whitebox"}, diags));
  EXPECT_NE(diags.str().find("no label has a latency of inference"), std::string::npos) << diags.str();
}

}  // namespace
}  // namespace perfc
