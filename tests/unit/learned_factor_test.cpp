/// The learned factor on products: as the study that trained it says, and never against physics.
#include "whitebox/price/learned_factor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "tests/unit/study_cases.h"

namespace perfc {
namespace {

/// An A100 in bfloat16.
constexpr ProductDevice kA100{.chip = ChipClass::Ga100,
                              .sms = 108,
                              .clock = 1.41e9,
                              .peak = 312e12,
                              .bandwidth = 2.039e12,
                              .cache = 40 * 1024.0 * 1024.0,
                              .tdp_w = 400};

TEST(LearnedFactor, IsTheStudys) {
  // studies/kernels/product_factor.py --write writes it
  double largest = 1, least = 1;
  const int cases = for_each_study_case("tests/unit/product_factors.tsv", [&](std::istream& fields) {
    std::string chip;
    ProductDevice d;
    Product p;
    double factor = 0;
    fields >> chip >> d.sms >> d.peak >> d.bandwidth >> d.cache >> d.tdp_w >> p.m >> p.n >> p.k >> factor;
    d.chip = *std::ranges::find_if(kChipClasses, [&](ChipClass c) { return name(c) == chip; });
    ASSERT_TRUE(has_learned_factor(d.chip, p));
    EXPECT_NEAR(learned_factor(d, p) / factor, 1, 1e-5);
    largest = std::max(largest, factor), least = std::min(least, factor);
  });
  EXPECT_GE(cases, 60);
  EXPECT_GT(largest / least, 1.2);
}

TEST(LearnedFactor, OfQuantisedProductsIsTheStudys) {
  // studies/kernels/quantised_factor.py --write writes it
  std::map<std::string, int> cases;
  for_each_study_case("tests/unit/quantised_factors.tsv", [&](std::istream& fields) {
    std::string chip, kind;
    ProductDevice d;
    Product p;
    double factor = 0;
    fields >> chip >> kind >> p.a_bytes >> p.b_bytes >> d.sms >> d.peak >> d.bandwidth >> d.cache >> d.tdp_w >> p.m >>
        p.n >> p.k >> factor;
    d.chip = *std::ranges::find_if(kChipClasses, [&](ChipClass c) { return name(c) == chip; });
    p.quantised = kind == "weights" ? Quantised::Weights : kind == "both" ? Quantised::Both : Quantised::Float8;
    ASSERT_TRUE(has_learned_factor(d.chip, p)) << chip << ' ' << kind;
    EXPECT_NEAR(learned_factor(d, p) / factor, 1, 1e-5) << chip << ' ' << kind << ' ' << p.m;
    ++cases[kind];
  });
  EXPECT_EQ(cases, (std::map<std::string, int>{{"both", 14}, {"float8", 21}, {"weights", 28}}));
}

TEST(LearnedFactor, IsOfKindsThatWereMeasuredOnAClass) {
  const auto has = [](ChipClass chip, Quantised q) {
    return has_learned_factor(chip, {.m = 64, .n = 64, .k = 64, .quantised = q});
  };
  EXPECT_TRUE(has(ChipClass::Hopper, Quantised::Float8));
  EXPECT_FALSE(has(ChipClass::Ga100, Quantised::Float8));
  EXPECT_FALSE(has(ChipClass::GeForce, Quantised::Float8));
  EXPECT_TRUE(has(ChipClass::Graphics, Quantised::Both));
  EXPECT_FALSE(has(ChipClass::Graphics, Quantised::Whole));
  EXPECT_FALSE(has(ChipClass::Hopper, Quantised::Weights));
}

TEST(LearnedFactor, ABetterDeviceOfAClassIsNotSlower) {
  for (const ChipClass chip : {ChipClass::Ga100, ChipClass::Graphics, ChipClass::Hopper, ChipClass::Blackwell}) {
    for (const double m : {1.0, 7.0, 64.0, 500.0, 4096.0, 20000.0}) {
      for (const double n : {64.0, 1000.0, 4096.0}) {
        ProductDevice d = kA100;
        d.chip = chip;
        const Product p{.m = m, .n = n, .k = 2048};
        for (double ProductDevice::*fact : {&ProductDevice::sms, &ProductDevice::peak, &ProductDevice::bandwidth,
                                            &ProductDevice::cache, &ProductDevice::tdp_w}) {
          for (const double ratio : {1.1, 2.0, 8.0}) {
            ProductDevice better = d;
            better.*fact *= ratio;
            if (fact == &ProductDevice::sms) better.peak *= ratio;  // an SM brings its tensor cores
            for (const Quantised q : {Quantised::None, Quantised::Weights, Quantised::Both, Quantised::Float8}) {
              Product of_kind = p;
              of_kind.quantised = q;
              if (q == Quantised::Weights) of_kind.b_bytes = 0.5;
              if (!has_learned_factor(chip, of_kind)) continue;
              EXPECT_LE(learned_factor(better, of_kind), learned_factor(d, of_kind) * (1 + 1e-9));
            }
          }
        }
      }
    }
  }
}

TEST(LearnedProductTime, IsNoMoreThanTwiceTheRows) {
  for (const ChipClass chip : {ChipClass::Ga100, ChipClass::Graphics, ChipClass::Hopper, ChipClass::Blackwell}) {
    ProductDevice d = kA100;
    d.chip = chip;
    for (const double n : {64.0, 768.0, 4096.0}) {
      for (Product p{.m = 1, .n = n, .k = 1024}; p.m <= 8192; p.m *= 2) {
        Product twice = p;
        twice.m *= 2;
        const double of_twice = product_time(d, twice).total * learned_factor(d, twice);
        EXPECT_LE(learned_product_time(d, p).total, of_twice * (1 + 1e-12)) << name(chip) << ": " << p.m << " x " << n;
      }
    }
  }
}

TEST(LearnedFactor, IsOneBeyondWhatWasMeasured) {
  EXPECT_EQ(learned_factor(kA100, {.m = 128, .n = 128, .k = 8}), 1);
  EXPECT_EQ(learned_factor(kA100, {.m = 1 << 17, .n = 4096, .k = 4096}), 1);
  EXPECT_EQ(learned_factor(kA100, {.batch = 2, .m = 512, .n = 512, .k = 64}), 1);
  EXPECT_FALSE(has_learned_factor(ChipClass::Ga100, {.batch = 2, .m = 512, .n = 512, .k = 64}));
  EXPECT_NE(learned_factor(kA100, {.m = 4096, .n = 4096, .k = 4096}), 1);
}

TEST(LearnedFactor, ComesToOneGradually) {
  const double within = std::log(learned_factor(kA100, {.m = 4096, .n = 65536, .k = 4096}));
  const double beyond = std::log(learned_factor(kA100, {.m = 4096, .n = 65536 * 1.9, .k = 4096}));
  EXPECT_LE(std::abs(beyond), 0.1 * 0.4);
  EXPECT_LE(std::abs(within), 0.4 + 1e-9);
}

TEST(LearnedFactor, IsOfMeasuredClassesOnly) {
  for (const ChipClass chip :
       {ChipClass::Vector, ChipClass::VectorHopper, ChipClass::VectorPascal, ChipClass::VectorVolta,
        ChipClass::VectorAmpere, ChipClass::VectorAda, ChipClass::GraphicsAmpere, ChipClass::GeForce, ChipClass::Turing,
        ChipClass::Volta, ChipClass::Cdna, ChipClass::CdnaHalf, ChipClass::Cdna3Half}) {
    EXPECT_FALSE(has_learned_factor(chip, {})) << name(chip);
  }
}

}  // namespace
}  // namespace perfc
