#include "whitebox/price/matmul_time.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/study_cases.h"
#include "whitebox/price/roofline.h"

namespace perfc {
namespace {

/// An H100 SXM in bfloat16.
constexpr ProductDevice kH100{.chip = ChipClass::Hopper,
                              .sms = 132,
                              .clock = 1.98e9,
                              .peak = 989.4e12,
                              .bandwidth = 3.352e12,
                              .cache = 50 * 1024.0 * 1024.0,
                              .tdp_w = 700};
constexpr Product kProducts[] = {{.m = 1, .n = 4096, .k = 4096},
                                 {.m = 16, .n = 11008, .k = 4096},
                                 {.m = 197, .n = 768, .k = 3072},
                                 {.m = 4096, .n = 4096, .k = 64},
                                 {.m = 8192, .n = 8192, .k = 8192},
                                 {.m = 65, .n = 33, .k = 20000},
                                 {.batch = 96, .m = 128, .n = 128, .k = 64}};

ChipClass chip_named(std::string_view name) {
  return *std::ranges::find_if(kChipClasses, [name](ChipClass c) { return perfc::name(c) == name; });
}

/// Every chip class with every product of the list.
template <class Check>
void for_each_case(Check&& check) {
  for (const ChipClass chip : kChipClasses) {
    ProductDevice d = kH100;
    d.chip = chip;
    for (const Product& p : kProducts) {
      SCOPED_TRACE(testing::Message() << name(chip) << ": " << p.batch << " x " << p.m << ", " << p.n << ", " << p.k);
      check(d, p);
    }
  }
}

TEST(ProductTime, IsTheStudys) {
  // studies/kernels/fit_products.py --write writes it
  const int cases = for_each_study_case("tests/unit/product_times.tsv", [](std::istream& fields) {
    std::string chip;
    ProductDevice d;
    Product p;
    double seconds = 0;
    fields >> chip >> d.sms >> d.clock >> d.peak >> d.bandwidth >> d.cache >> d.tdp_w >> p.batch >> p.m >> p.n >> p.k >>
        p.a_bytes >> p.turns >> seconds;
    p.b_bytes = p.a_bytes;
    d.chip = chip_named(chip);
    EXPECT_NEAR(product_time(d, p).total / seconds, 1, 1e-6);
  });
  EXPECT_GE(cases, 100);
}

TEST(ProductTime, OfQuantisedOperandsIsTheStudys) {
  // studies/kernels/fit_quantised.py --write writes it
  const int cases = for_each_study_case("tests/unit/quantised_times.tsv", [](std::istream& fields) {
    std::string chip, kind;
    ProductDevice d;
    Product p;
    double seconds = 0;
    fields >> chip >> kind >> d.sms >> d.clock >> d.peak >> d.bandwidth >> d.cache >> d.tdp_w >> d.half_peak >> p.m >>
        p.n >> p.k >> seconds;
    ASSERT_TRUE(fields);
    d.chip = chip_named(chip);
    p.quantised = kind.starts_with("both")     ? Quantised::Both
                  : kind.starts_with("float8") ? Quantised::Float8
                                               : Quantised::Weights;
    p.a_bytes = p.quantised == Quantised::Weights ? 2 : 1;
    p.b_bytes = std::stod(kind.substr(kind.find(':') + 1));
    EXPECT_NEAR(product_time(d, p).total / seconds, 1, 1e-6);
  });
  EXPECT_EQ(cases, 45);
}

TEST(ProductTime, MoreOfADeviceIsNeverSlower) {
  for_each_case([](const ProductDevice& d, const Product& p) {
    const double time = product_time(d, p).total;
    const auto with = [&](double ProductDevice::*fact, double factor) {
      ProductDevice more = d;
      more.*fact *= factor;
      return product_time(more, p).total;
    };
    for (const double factor : {1.1, 2.0, 10.0}) {
      EXPECT_LE(with(&ProductDevice::bandwidth, factor), time);
      EXPECT_LE(with(&ProductDevice::clock, factor), time);
      EXPECT_LE(with(&ProductDevice::peak, factor), time);
      EXPECT_LE(with(&ProductDevice::tdp_w, factor), time);
    }
    ProductDevice wider = d;  // SMs come with their rate
    wider.sms *= 2;
    wider.peak *= 2;
    EXPECT_LE(product_time(wider, p).total, time);
  });
}

TEST(ProductTime, MoreWorkIsNeverFaster) {
  for_each_case([](const ProductDevice& d, const Product& p) {
    const double time = product_time(d, p).total;
    for (double Product::*extent : {&Product::batch, &Product::k}) {
      for (const double factor : {2.0, 3.0, 17.0}) {
        Product more = p;
        more.*extent *= factor;
        EXPECT_GE(product_time(d, more).total, time);
      }
    }
    ProductDevice narrow_device = d;  // half of the bytes, at twice the rate
    narrow_device.peak *= 2;
    Product narrow = p;
    narrow.a_bytes = narrow.b_bytes = 1;
    EXPECT_LE(product_time(narrow_device, narrow).total, time);
    Product hot = p;
    hot.second = SecondOperand::Data;
    EXPECT_LE(product_time(d, hot).total, time);
  });
}

TEST(ProductTime, ReachesWhatADeviceHas) {
  const auto flops_rate = [](const Product& p) { return 2 * p.m * p.n * p.k / product_time(kH100, p).total; };
  EXPECT_GT(flops_rate({.m = 8192, .n = 8192, .k = 8192}), 0.6 * kH100.peak);
  EXPECT_LT(flops_rate({.m = 65536, .n = 65536, .k = 65536}), kH100.peak);
  // One token: the weights' bytes.
  const double bytes = 2.0 * 16384 * 16384;
  const double rate = bytes / product_time(kH100, {.m = 1, .n = 16384, .k = 16384}).total;
  EXPECT_GT(rate, 0.75 * kH100.bandwidth);
  EXPECT_LT(rate, kH100.bandwidth);
  // Nothing to do: a launch.
  const double least = product_time(kH100, {.m = 1, .n = 1, .k = 1}).total;
  EXPECT_GT(least, 1e-6);
  EXPECT_LT(least, 6e-6);
}

TEST(ProductTime, KnowsChips) {
  const auto chip = [](const char* name, Units units = Units::Matrix) {
    Diagnostics diags;
    return chip_class(*DeviceTable::builtin().find(name, diags), units);
  };
  EXPECT_EQ(chip("a100-80gb"), ChipClass::Ga100);
  EXPECT_EQ(chip("l40s"), ChipClass::Graphics);
  EXPECT_EQ(chip("l4"), ChipClass::Graphics);
  EXPECT_EQ(chip("rtx5090"), ChipClass::GeForce);
  EXPECT_EQ(chip("t4"), ChipClass::Turing);
  EXPECT_EQ(chip("h200"), ChipClass::Hopper);
  EXPECT_EQ(chip("t4", Units::Vector), ChipClass::VectorVolta);
  EXPECT_EQ(chip("p4", Units::Vector), ChipClass::VectorPascal);
  EXPECT_EQ(chip("h200", Units::Vector), ChipClass::VectorHopper);
  EXPECT_EQ(chip("l4", Units::Vector), ChipClass::VectorAda);
  EXPECT_EQ(chip("rtx-pro-6000", Units::Vector), ChipClass::VectorAda);
  EXPECT_EQ(chip("a10", Units::Vector), ChipClass::VectorAmpere);
  EXPECT_EQ(chip("a10"), ChipClass::GraphicsAmpere);
  EXPECT_EQ(chip("v100-16gb"), ChipClass::Volta);
  EXPECT_EQ(chip("mi210"), ChipClass::CdnaHalf);
  EXPECT_EQ(chip("mi300x"), ChipClass::Cdna3Half);
  EXPECT_EQ(chip("mi300x", Units::FullMatrix), ChipClass::Cdna);
  EXPECT_EQ(chip("mi300x", Units::Vector), std::nullopt);
}

/// Which no fit saw: what AMD publishes as the most that bfloat16 achieves, 708 and 843 TFLOP/s
/// (rocm.blogs.amd.com, "Measuring Max-Achievable FLOPs – Part 2").
TEST(ProductTime, LongWorkOnMi300KeepsToWhatAmdMeasured) {
  const auto sustained = [](const char* name) {
    Diagnostics diags;
    return Rates(*DeviceTable::builtin().find(name, diags), Precision::Bf16).sustained[1] / 1e12;
  };
  EXPECT_NEAR(sustained("mi300x"), 708, 36);
  EXPECT_NEAR(sustained("mi325x"), 843, 60);
}

TEST(ProductTime, Tf32TakesTwiceTheEnergyOf16Bits) {
  for (const ChipClass chip : kChipClasses) {
    ProductDevice d = kH100;
    d.chip = chip;
    const double half = sustained_flops(d);
    d.half_peak = d.peak;
    d.peak /= 2;
    EXPECT_NEAR(sustained_flops(d) / half, 0.5, 1e-9) << name(chip);
  }
}

Rates rates_of(const char* name, Precision precision) {
  Diagnostics diags;
  return Rates(*DeviceTable::builtin().find(name, diags), precision);
}

TEST(ProductTime, LongWorkKeepsToThePowerThatSquareProductsShow) {
  // studies/kernels/square_products.tsv, 10,240 rows: TFLOP/s
  EXPECT_NEAR(rates_of("l4", Precision::Tf32).sustained[0], 26.2e12, 2e12);
  EXPECT_NEAR(rates_of("l4", Precision::Fp32).sustained[0], 11.1e12, 1e12);
  EXPECT_NEAR(rates_of("a100-pcie-40gb", Precision::Tf32).sustained[0], 102e12, 6e12);
  EXPECT_NEAR(rates_of("rtx-pro-6000-server", Precision::Bf16).sustained[1], 400e12, 30e12);
}

// Two of NeuSight's linear layers in float32 on an A100 of 40 GB, PCIe: ms.
TEST(ProductTime, ShallowProductsOnVectorUnitsHaveShortEpilogues) {
  const ProductDevice d = *rates_of("a100-pcie-40gb", Precision::Fp32).product[0];
  const auto ms = [&](double batch, double m, double n, double k) {
    return product_time(d, {.batch = batch, .m = m, .n = n, .k = k, .a_bytes = 4, .b_bytes = 4, .c_bytes = 4}).total *
           1e3;
  };
  EXPECT_NEAR(ms(1, 7222, 46866, 26) / 2.646, 1, 0.2);
  EXPECT_NEAR(ms(1, 6512, 15395, 16) / 0.725, 1, 0.2);
  EXPECT_GT(ms(2, 4096, 4096, 16), 2.5 * ms(1, 4096, 4096, 16));  // batches of products have them whole
}

TEST(ProductTime, Tf32HidesLessOnDataCentreChips) {
  // bfloat16 of twice the depth has as many bytes and, at twice the rate, as long arithmetic
  ProductDevice d = kH100;
  const auto seconds = [&](double width, double k) {
    d.half_peak = kH100.peak;
    d.peak = width == 4 ? kH100.peak / 2 : kH100.peak;
    return product_time(d, {.m = 2048, .n = 2048, .k = k, .a_bytes = width, .b_bytes = width, .c_bytes = 2}).total;
  };
  for (const ChipClass chip : {ChipClass::Ga100, ChipClass::Hopper, ChipClass::Blackwell}) {
    d.chip = chip;
    EXPECT_GT(seconds(4, 512), 1.05 * seconds(2, 1024)) << name(chip);
  }
  d.chip = ChipClass::Graphics;
  EXPECT_NEAR(seconds(4, 512) / seconds(2, 1024), 1, 0.05);
}

TEST(ProductTime, WhatL40STaughtIsForChipsLikeIt) {
  EXPECT_TRUE(rates_of("l40s", Precision::Bf16).product[1]->learned);
  EXPECT_TRUE(rates_of("rtx6000-ada", Precision::Bf16).product[1]->learned);
  for (const char* other : {"l4", "a10", "a40", "rtx-pro-6000", "v100-16gb"}) {
    EXPECT_FALSE(rates_of(other, Precision::Fp16).product[1]->learned) << other;
  }
}

TEST(ProductTime, GeForceMultipliesTf32OnTensorCores) {
  const Rates r = rates_of("rtx4090", Precision::Tf32);  // at the rate of its float32 lanes
  EXPECT_FALSE(r.on_vector[0]);
  EXPECT_EQ(r.product[0]->chip, ChipClass::GeForce);
}

}  // namespace
}  // namespace perfc
