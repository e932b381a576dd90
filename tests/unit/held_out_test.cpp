/// What intervals are made from: quantiles of held-out errors, and devices that were left out as nobody knew them.
#include "learning/held_out.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "ir/support/csv.h"
#include "learning/predictors.h"

namespace perfc {
namespace {

/// Errors of 1, 2, … 99 % in ln: the 90th of them bounds nine in ten of 100 (Lei et al., JASA 2018).
TEST(HeldOut, NineInTenErrorsAreInsideTheInterval) {
  HeldOut held_out;
  const Residuals none;
  for (int error = 99; error > 0; --error) {
    const Label label{.model = "m", .device = "t4", .latency_ms = 1};
    const CorrectedItem item{
        .label = &label, .graph = std::make_shared<KernelGraph>(), .device = 1, .chip = 0, .fold = 0};
    const double ms = std::exp(error / 100.0);
    held_out.add(item, {.kind = LeftOut::Family, .fold = 0}, 0, {.network_ms = ms, .whitebox_ms = ms}, none);
  }
  for (const double width : held_out.widths(ExecMode::Eager)) EXPECT_NEAR(width, 0.90, 1e-9);
}

/// Errors of graphs that look alike and are not widen what is less alike as far as they weigh, no further.
TEST(HeldOut, BinsOutOfOrderArePooled) {
  const std::vector<float> alike{0}, unlike{100};
  const std::vector<Residuals::Run> runs(4, {.fingerprint = alike, .group = 0, .log_error = 0});
  ThreadPool threads(1);
  Diagnostics diags("test");
  const auto residuals = Residuals::fit({runs, {}}, 1, {}, Random(1), threads, diags);
  ASSERT_TRUE(residuals) << diags.str();
  HeldOut held_out;
  const auto add = [&](std::span<const float> fingerprint, double error, int times) {
    for (int i = 0; i < times; ++i) {
      const Label label{.model = "m", .device = "t4", .latency_ms = 1};
      const CorrectedItem item{
          .label = &label, .graph = std::make_shared<KernelGraph>(), .device = 1, .chip = 0, .fold = 0};
      const double ms = std::exp(error);
      held_out.add(item, {.kind = LeftOut::Family, .fold = 0}, 0,
                   {.network_ms = ms, .whitebox_ms = ms, .fingerprint = fingerprint}, *residuals);
    }
  };
  add(unlike, 0.1, 1000);
  add(alike, 0.5, 50);
  for (const double width : held_out.widths(ExecMode::Eager)) EXPECT_NEAR(width, 0.1, 1e-6);
  add(alike, 0.5, 100);
  for (const double width : held_out.widths(ExecMode::Eager)) EXPECT_NEAR(width, 0.5, 1e-6);
}

/// A device is off by a factor as a whole, of which three that were left out say less than many would (Student's
/// quantile is 2.353, the normal one 1.645); how its graphs scatter is theirs.
TEST(HeldOut, FewDevicesMakeItWider) {
  HeldOut held_out;
  const Residuals none;
  const Label label{.model = "m", .device = "t4", .latency_ms = 1};
  const auto add = [&](std::size_t chip, double off) {
    const CorrectedItem item{
        .label = &label, .graph = std::make_shared<KernelGraph>(), .device = chip, .chip = chip, .fold = 0};
    for (int i = -15; i <= 15; ++i) {
      const double ms = std::exp(off + i / 100.0);
      held_out.add(item, {.kind = LeftOut::Device, .chip = chip}, 0, {.network_ms = ms, .whitebox_ms = ms}, none);
    }
  };
  add(1, 0.03);
  add(2, -0.04);
  add(3, 0);
  EXPECT_NEAR(held_out.other_device_width(), 2.35336 * std::sqrt(0.0025 / 3), 1e-5);
  // Who never saw the first does not know how far that was off.
  EXPECT_NEAR(held_out.other_device_width(1), 2.91999 * std::sqrt(0.0016 / 2), 1e-5);
}

/// Nobody corrects a graph like none in training: what is left out is judged as the predictor would answer.
TEST(HeldOut, StrangersAreThePhysics) {
  HeldOut held_out;
  const Label label{.model = "m", .device = "t4", .latency_ms = 1};
  const CorrectedItem item{
      .label = &label, .graph = std::make_shared<KernelGraph>(), .device = 1, .chip = 0, .fold = 0};
  for (int i = 0; i < 30; ++i)
    held_out.add(item, {.kind = LeftOut::Family, .fold = 0}, 0, {.network_ms = 2, .whitebox_ms = 1.1}, Residuals());
  for (const double width : held_out.widths(ExecMode::Eager)) EXPECT_NEAR(width, std::log(1.1), 1e-9);
}

TEST(Residuals, BeliefGrowsWithSimilarity) {
  EXPECT_EQ(belief_in_networks(0), 0);
  EXPECT_NEAR(belief_in_networks(0.2), 0.5, 1e-12);
  EXPECT_EQ(belief_in_networks(0.4), 1);
  EXPECT_EQ(belief_in_networks(1), 1);
}

/// Nobody ran a batch of 1 in training, and on an H100 nothing: what networks would say there has no ground.
TEST(Corrected, StrangersAreLeftToPhysics) {
  Diagnostics diags("test");
  const auto on = [&](int batch, const char* device, const char* predictor) {
    const Request request{
        .model = std::string(PERFC_SOURCE_DIR) + "/examples/resnet50.onnx", .batch = batch, .predictor = predictor};
    const auto graph = load_graph(request, diags);
    return (*(*find_predictor(request, diags))->prepare(*graph, {.precision = Precision::Amp}, diags))
        ->on(*DeviceTable::builtin().find(device, diags));
  };
  const Prediction stranger = on(1, "h100-sxm", "default");
  EXPECT_EQ(stranger.predictor, "corrected");
  EXPECT_NEAR(stranger.device_ms / on(1, "h100-sxm", "whitebox").device_ms, 1, 0.01);
  EXPECT_GT(std::abs(std::log(on(256, "rtx4090", "default").device_ms / on(256, "rtx4090", "whitebox").device_ms)),
            0.01);  // where training has such runs, networks do say something
}

/// A tiny training set of eight models on three devices, of which "mine" is described in a file.
class LeavingOut : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / fmt::format("perfc_held_out_{}", ::getpid());
    std::filesystem::create_directories(folder_);
    std::ofstream labels(path("labels.csv")), split(path("split.csv"));
    labels << "model,device,dtype,mode,latency_ms,architecture,family\n";
    split << "architecture,split\n";
    for (int m = 0; m < 8; ++m) {
      std::ofstream(path(fmt::format("{}.pir", m)))
          << "#[version = \"perfc-ir/1\"]\ndef @main(%x: Tensor[(" << (m + 1) * 512
          << ", 1024), float32]) {\n  %1 = nn.relu(%x);\n  %2 = tanh(%1);\n  (%2)\n}\n";
      for (const char* device : {"t4", "v100-16gb", "mine"})
        labels << fmt::format("{}.pir,{},fp32,eager,{},a{},f{}\n", m, device, 0.1 * (m + 1), m, m);
      split << fmt::format("a{},training\n", m);
    }
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  /// The whitebox's ms for the runs on "mine" when it was left out; `constants`: what its file says beside the sheet.
  std::vector<std::string> judged_with(const std::string& constants) const {
    std::ofstream(path("mine.json"))
        << R"({"schema": "perfc.devices/1", "devices": [{"name": "mine", "kind": "gpu", "architecture": "turing",
               "sms": 20, "boost_clock_mhz": 1500, "vector_tflops": {"float32": 4}, "matrix_tflops": {"float16": 32},
               "bandwidth_gb_s": 200, "l2_mib": 2, "memory_mib": 8192, "tdp_w": 100, )"
        << constants << "}]}";
    SingleProcess alone;
    Diagnostics diags("test");
    TrainRequest request{.model = "corrected",
                         .data = path("labels.csv"),
                         .split = path("split.csv"),
                         .out = path("out.safetensors"),
                         .epochs = 1,
                         .threads = 1,
                         .resume = Resume::No};
    request.corrected = {.device_file = path("mine.json"), .folds = 2, .held_out = path("held.csv")};
    EXPECT_TRUE(train(request, alone, diags)) << diags.str();
    std::ifstream in(path("held.csv"));
    std::stringstream text;
    text << in.rdbuf();
    const auto table = parse_csv(text.str(), diags);
    std::vector<std::string> found;
    if (!table) return found;
    for (const CsvTable::Row& row : table->rows) {
      if (row.fields[*table->column("left_out")] == "device" && row.fields[*table->column("device")] == "mine")
        found.push_back(row.fields[*table->column("whitebox_ms")]);
    }
    return found;
  }

  std::filesystem::path folder_;
};

/// Otherwise the error on it says nothing of devices that nobody measured.
TEST_F(LeavingOut, ADevicesOwnConstantsAreNotKnown) {
  const auto slow = judged_with(R"("launch_us": 9, "host": "migprofiler-40gb", "efficiency": {"bandwidth": 0.3})");
  const auto fast = judged_with(R"("launch_us": 1, "host": "desktop", "efficiency": {"bandwidth": 0.9})");
  EXPECT_EQ(slow.size(), 8U);
  EXPECT_EQ(slow, fast);
}

}  // namespace
}  // namespace perfc
