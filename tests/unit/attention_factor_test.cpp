/// The learned factor on fused attention: as the study that trained it says, and never against physics.
#include "whitebox/price/attention_factor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/unit/study_cases.h"
#include "whitebox/price/learned_factor.h"

namespace perfc {
namespace {

AttentionChip chip_of(ChipClass products) {
  return products == ChipClass::Hopper      ? AttentionChip::Wgmma
         : products == ChipClass::Blackwell ? AttentionChip::Tcgen05
                                            : AttentionChip::MmaSync;
}

AttentionFacts a_gpu(ChipClass products) {
  return {.chip = chip_of(products),
          .products = products,
          .learned = true,
          .bandwidth = 1.8e12,
          .reading = 1.9e12,
          .l2_bytes = 40 << 20,
          .sms = 108,
          .clock_hz = 1.41e9,
          .matrix_flops = 312e12,
          .tdp_w = 400};
}
constexpr ChipClass kMeasured[] = {ChipClass::Ga100, ChipClass::Graphics, ChipClass::Hopper, ChipClass::Blackwell};

AttentionProblem a_problem(AttentionForm form, double batch, double heads, double tokens) {
  AttentionProblem a{.batch = batch, .heads = batch * heads, .key_heads = batch * heads, .keys = tokens};
  a.queries = form == AttentionForm::Decode ? 1 : tokens;
  a.channels = form == AttentionForm::Encoder ? 64 : 128;
  a.causal = form == AttentionForm::Prefill;
  return a;
}
constexpr AttentionForm kForms[] = {AttentionForm::Encoder, AttentionForm::Prefill, AttentionForm::Decode};

TEST(AttentionFactor, IsTheStudys) {
  double largest = 1, least = 1;
  const int cases = for_each_study_case("tests/unit/attention_factors.tsv", [&](std::istream& fields) {
    std::string chip;
    AttentionFacts d;
    AttentionProblem a;
    int form = 0;
    double factor = 0;
    fields >> chip >> d.grace >> d.bandwidth >> d.reading >> d.l2_bytes >> d.sms >> d.clock_hz >> d.matrix_flops >>
        d.exponentials >> d.lanes >> d.sustained >> d.resident >> d.tdp_w >> form >> a.batch >> a.heads >>
        a.key_heads >> a.queries >> a.keys >> a.channels >> a.window >> factor;
    d.products = *std::ranges::find_if(kChipClasses, [&](ChipClass c) { return name(c) == chip; });
    d.chip = chip_of(d.products);
    a.heads *= a.batch, a.key_heads *= a.batch;
    a.causal = a.writes_cache = form == 1;
    ASSERT_TRUE(learned_class(d.products));
    // Leaves are rounded in the program, and a quantity may lie on the other side of a step.
    EXPECT_NEAR(attention_factor(a, d) / factor, 1, 0.01);
    largest = std::max(largest, factor), least = std::min(least, factor);
  });
  EXPECT_GE(cases, 80);
  EXPECT_GT(largest / least, 1.2);
}

TEST(AttentionFactor, GraceIsAClassOfItsOwn) {
  AttentionFacts d = a_gpu(ChipClass::Blackwell);
  const AttentionProblem shortest = a_problem(AttentionForm::Encoder, 1, 1, 128);
  const double beside_x86 = attention_factor(shortest, d);
  d.grace = true;
  EXPECT_GT(attention_factor(shortest, d), beside_x86);
}

TEST(AttentionFactor, ABetterDeviceOfAClassIsNotSlower) {
  for (const ChipClass products : kMeasured) {
    for (const AttentionForm form : kForms) {
      for (const double tokens : {100.0, 1024.0, 5000.0}) {
        for (const double batch : {1.0, 16.0}) {
          const AttentionProblem a = a_problem(form, batch, 16, tokens);
          const AttentionFacts d = a_gpu(products);
          for (double AttentionFacts::*fact :
               {&AttentionFacts::bandwidth, &AttentionFacts::matrix_flops, &AttentionFacts::l2_bytes,
                &AttentionFacts::exponentials, &AttentionFacts::tdp_w}) {
            for (const double ratio : {1.1, 2.0, 8.0}) {
              AttentionFacts better = d;
              better.*fact *= ratio;
              EXPECT_LE(learned_attention_time(a, better).work_s, learned_attention_time(a, d).work_s * (1 + 1e-9));
            }
          }
        }
      }
    }
  }
}

TEST(LearnedAttentionTime, IsNoMoreThanTwiceTheBatch) {
  for (const ChipClass products : kMeasured) {
    const AttentionFacts d = a_gpu(products);
    for (const AttentionForm form : kForms) {
      for (double batch = 1; batch <= 64; batch *= 2) {
        const AttentionProblem a = a_problem(form, batch, 12, 1000), twice = a_problem(form, 2 * batch, 12, 1000);
        const double of_twice = attention_time(twice, d).work_s * attention_factor(twice, d);
        EXPECT_LE(learned_attention_time(a, d).work_s, of_twice * (1 + 1e-12)) << name(products) << ": " << batch;
      }
    }
  }
}

TEST(AttentionFactor, IsOneBeyondWhatWasMeasured) {
  const AttentionFacts d = a_gpu(ChipClass::Hopper);
  AttentionProblem a = a_problem(AttentionForm::Encoder, 1, 12, 1000);
  EXPECT_NE(attention_factor(a, d), 1);
  EXPECT_EQ(attention_factor(a, a_gpu(ChipClass::Ga100)), 1);  // no encoder was measured there
  a.keys = 77;
  EXPECT_EQ(attention_factor(a, d), 1);
  a = a_problem(AttentionForm::Encoder, 1, 12, 1000);
  a.channels = 32;
  EXPECT_EQ(attention_factor(a, d), 1);
  a = a_problem(AttentionForm::Prefill, 1, 32, 1024);
  EXPECT_NE(attention_factor(a, d), 1);
  a.keys = 8192, a.past = 8192 - 1024;
  EXPECT_EQ(attention_factor(a, d), 1);
}

}  // namespace
}  // namespace perfc
