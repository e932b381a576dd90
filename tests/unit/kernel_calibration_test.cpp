/// Calibration on measured products: what 24 of them say of others, and what is wrong with a table.
#include "learning/kernel_calibration.h"
#include "learning/calibration.h"

#include <gtest/gtest.h>

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "learning/predictors.h"
#include "whitebox/price/learned_factor.h"
#include "whitebox/price/roofline.h"

namespace perfc {
namespace {

constexpr std::string_view kFixtures = PERFC_SOURCE_DIR "/tests/fixtures/";
constexpr std::string_view kHead = "device,kind,m,n,k,dtype,us,copies\n";

class CalibratingOnKernels : public ::testing::Test {
 protected:
  void SetUp() override { path_ = std::filesystem::temp_directory_path() / fmt::format("kernels_{}.csv", ::getpid()); }
  void TearDown() override { std::filesystem::remove(path_); }

  Result<Calibration> calibrated(std::string_view rows, Diagnostics& diags) {
    std::ofstream(path_) << kHead << rows;
    return calibrate({.data = path_.string()}, diags);
  }

  std::filesystem::path path_;
};

/// Mean error of a device's prices on the rows of a table.
double mean_error(const Device& d, const std::string& table) {
  std::ifstream in(table);
  std::string line;
  std::getline(in, line);
  const Rates rates(d, Precision::Bf16);
  double sum = 0;
  int rows = 0;
  for (; std::getline(in, line); ++rows) {
    for (char& c : line) c = c == ',' ? ' ' : c;
    std::istringstream fields(line);
    std::string device, kind, dtype;
    Product p;
    double us = 0;
    fields >> device >> kind >> p.m >> p.n >> p.k >> dtype >> us >> p.turns;
    const double seconds = learned_product_time(*rates.product[1], p).total;
    sum += std::abs(seconds * 1e6 / us - 1);
  }
  return sum / rows;
}

TEST_F(CalibratingOnKernels, TwoDozenProductsSayWhatOthersTake) {
  // studies/kernels/chosen_products.py --write writes both tables: a B300's products, of shapes that no table shares
  const std::string judged = fmt::format("{}products_to_judge.csv", kFixtures);
  Diagnostics diags("test");
  const auto b300 = DeviceTable::builtin().find("b300", diags);
  ASSERT_TRUE(b300);
  const auto found = calibrate({.data = fmt::format("{}products_to_calibrate.csv", kFixtures)}, diags);
  ASSERT_TRUE(found) << diags.str();
  EXPECT_EQ(found->labels, 24);
  EXPECT_LT(found->error_after, found->error_before);
  EXPECT_LT(mean_error(found->device, judged), mean_error(*b300, judged) + 0.002);  // was in what its class learned
  EXPECT_LT(mean_error(found->device, judged), 0.05);
}

TEST_F(CalibratingOnKernels, ADataSheetThatSaysTooLittle) {
  constexpr std::string_view kSheet = R"({"schema": "perfc.devices/1", "devices": [{"name": "b300", "kind": "gpu",
    "architecture": "blackwell", "vector_tflops": {"float32": 60}, "matrix_tflops": {"bfloat16": 1800, "float16": 1800},
    "memory_type": "hbm", "bandwidth_gb_s": 6000, "l2_mib": 126, "sms": 148, "boost_clock_mhz": 1600,
    "memory_mib": 275040, "tdp_w": 900, "idle_w": 150}]})";
  const std::string judged = fmt::format("{}products_to_judge.csv", kFixtures);
  Diagnostics diags("test");
  const std::filesystem::path file = path_.string() + ".json";
  std::ofstream(file) << kSheet;
  const auto found =
      calibrate({.data = fmt::format("{}products_to_calibrate.csv", kFixtures), .device_file = file.string()}, diags);
  std::filesystem::remove(file);
  const auto table = DeviceTable::parse(kSheet, diags);
  ASSERT_TRUE(found && table) << diags.str();
  const auto before = table->find("b300", diags);
  ASSERT_TRUE(before);
  EXPECT_GT(mean_error(*before, judged), 0.12);
  EXPECT_LT(mean_error(found->device, judged), 0.08);
}

TEST_F(CalibratingOnKernels, FindsADeviceOfWhichNothingIsAsItsClassSays) {
  Diagnostics diags("test");
  const auto sheet = DeviceTable::builtin().find("h200", diags);
  ASSERT_TRUE(sheet);
  Device truth = *sheet;
  truth.efficiency["product_launch"] = 1.6;
  truth.efficiency["product_tensor"] = 0.7;
  truth.efficiency["product_read"] = 0.8;
  const Rates rates(truth, Precision::Bf16);
  std::string rows;
  for (const double m : {1.0, 16.0, 128.0, 1024.0, 8192.0}) {
    for (const double n : {256.0, 2048.0, 16384.0}) {
      for (const double k : {512.0, 8192.0}) {
        const Product p{.m = m, .n = n, .k = k};
        const double us = learned_product_time(*rates.product[1], p).total * 1e6;
        rows += fmt::format("h200,gemm,{},{},{},bf16,{:.4f},0\n", m, n, k, us);
      }
    }
  }
  const auto found = calibrated(rows, diags);
  ASSERT_TRUE(found) << diags.str();
  EXPECT_GT(found->error_before, 0.2);
  EXPECT_LT(found->error_after, 0.03);
  EXPECT_NEAR(found->device.efficiency.at("product_launch"), 1.6, 0.2);
  EXPECT_NEAR(found->device.efficiency.at("product_read"), 0.8, 0.1);
}

TEST_F(CalibratingOnKernels, RefusesWhatItCannotRead) {
  const std::pair<std::string_view, std::string_view> all[] = {
      {"h200,conv,1,2,3,bf16,5,\n", "kind: 'conv' is not gemm"},
      {"h200,gemm,1,2,3,fp32,5,\n", "dtype: 'fp32' is not fp16 or bf16"},
      {"h200,gemm,1.5,2,3,bf16,5,\n", "m: '1.5' is not a whole number"},
      {"h200,gemm,1,2,3,bf16,0,\n", "us: '0' is not a positive number"},
      {"h200,gemm,1,2,3,bf16,5,-1\n", "copies: '-1' is not a number from 0"},
      {"h200,gemm,1,2,3,bf16,5,\nb200,gemm,1,2,3,bf16,5,\n", "'h200'"},
      {"", "no rows"},
      {"i9-10940x,gemm,64,64,64,bf16,5,\n", "no model on this device"}};
  for (const auto& [rows, message] : all) {
    Diagnostics diags("test");
    EXPECT_FALSE(calibrated(rows, diags)) << rows;
    EXPECT_NE(diags.str().find(message), std::string::npos) << diags.str();
  }
}

}  // namespace
}  // namespace perfc
