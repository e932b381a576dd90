/// Times of fused attention: as the study that fitted them says, and never against physics.
#include "whitebox/price/attention_time.h"

#include <gtest/gtest.h>

#include "tests/unit/study_cases.h"

namespace perfc {
namespace {

/// Facts of an A100 and of an H100.
AttentionFacts a_gpu(AttentionChip chip) {
  if (chip == AttentionChip::MmaSync) {
    return {.chip = chip,
            .bandwidth = 1.8e12,
            .l2_bytes = 40 << 20,
            .sms = 108,
            .clock_hz = 1.41e9,
            .matrix_flops = 312e12,
            .lanes = 64};
  }
  return {
      .chip = chip, .bandwidth = 3e12, .l2_bytes = 50 << 20, .sms = 132, .clock_hz = 1.98e9, .matrix_flops = 989e12};
}

double work_s(const AttentionProblem& a, const AttentionFacts& d) { return attention_time(a, d).work_s; }

TEST(AttentionTime, IsWhatTheStudySays) {
  const int cases = for_each_study_case("tests/fixtures/attention_cases.tsv", [](std::istream& fields) {
    AttentionFacts d;
    AttentionProblem a;
    double rows, batch, work_us;
    fields >> d.bandwidth >> d.l2_bytes >> d.sms >> d.clock_hz >> d.matrix_flops >> d.exponentials >> d.lanes >> rows >>
        d.sustained >> batch >> a.queries >> a.heads >> a.channels >> work_us;
    d.chip = rows == 16 ? AttentionChip::MmaSync : AttentionChip::Wgmma;
    a.heads *= batch;
    a.keys = a.queries;
    EXPECT_NEAR(work_s(a, d) * 1e6, work_us, 1e-6 * work_us);
  });
  EXPECT_GE(cases, 60);
}

TEST(DecodingTime, IsWhatTheStudySays) {
  const int cases = for_each_study_case("tests/fixtures/decoding_cases.tsv", [](std::istream& fields) {
    AttentionFacts d;
    AttentionProblem a{.queries = 1};
    double rows, work_us;
    fields >> d.bandwidth >> d.l2_bytes >> d.sms >> d.clock_hz >> d.matrix_flops >> d.exponentials >> d.lanes >> rows >>
        d.sustained >> d.resident >> a.key_heads >> a.keys >> a.channels >> work_us;
    d.chip = rows == 16 ? AttentionChip::MmaSync : AttentionChip::Wgmma;
    a.heads = a.key_heads;
    EXPECT_NEAR(decoding_time(a, d).work_s * 1e6, work_us, 1e-6 * work_us);
  });
  EXPECT_GE(cases, 60);
}

TEST(DecodingTime, HeadsThatShareKeysReadThemOnce) {
  const AttentionFacts d = a_gpu(AttentionChip::Wgmma);
  const AttentionProblem own{.heads = 4096, .key_heads = 4096, .queries = 1, .keys = 8192, .channels = 128};
  AttentionProblem shared = own;
  shared.key_heads = 512;
  EXPECT_NEAR(decoding_time(own, d).memory_s / decoding_time(shared, d).memory_s, 8, 0.1);
}

TEST(DecodingTime, ABetterDeviceIsNeverSlower) {
  for (const AttentionChip chip : {AttentionChip::MmaSync, AttentionChip::Wgmma}) {
    for (const double heads : {1.0, 32.0, 2048.0}) {
      const AttentionProblem a{.heads = heads, .queries = 1, .keys = 4096, .channels = 128};
      for (double AttentionFacts::*fact :
           {&AttentionFacts::bandwidth, &AttentionFacts::l2_bytes, &AttentionFacts::clock_hz}) {
        AttentionFacts better = a_gpu(chip);
        better.*fact *= 1.3;
        EXPECT_LE(decoding_time(a, better).work_s, decoding_time(a, a_gpu(chip)).work_s * (1 + 1e-12));
      }
    }
  }
}

TEST(AttentionTime, ABetterDeviceIsNeverSlower) {
  for (const AttentionChip chip : {AttentionChip::MmaSync, AttentionChip::Wgmma}) {
    for (const double tokens : {1.0, 196.0, 4096.0}) {
      for (const double heads : {1.0, 12.0, 3072.0}) {
        const AttentionProblem a{.heads = heads, .queries = tokens, .keys = tokens, .channels = 64};
        for (double AttentionFacts::*fact :
             {&AttentionFacts::bandwidth, &AttentionFacts::l2_bytes, &AttentionFacts::clock_hz,
              &AttentionFacts::matrix_flops, &AttentionFacts::lanes, &AttentionFacts::exponentials}) {
          AttentionFacts better = a_gpu(chip);
          better.*fact *= 1.3;
          EXPECT_LE(work_s(a, better), work_s(a, a_gpu(chip)) * (1 + 1e-12));
        }
      }
    }
  }
}

TEST(AttentionTime, MoreWorkIsNeverFaster) {
  for (const AttentionChip chip : {AttentionChip::MmaSync, AttentionChip::Wgmma}) {
    const AttentionProblem least{.heads = 24, .queries = 300, .keys = 300, .channels = 64};
    for (double AttentionProblem::*extent :
         {&AttentionProblem::queries, &AttentionProblem::keys, &AttentionProblem::channels}) {
      AttentionProblem a = least;
      double before = 0;
      for (; a.*extent < 1e4; a.*extent *= 1.3) {
        EXPECT_GE(work_s(a, a_gpu(chip)), before);
        before = work_s(a, a_gpu(chip));
      }
    }
  }
}

TEST(AttentionTime, TilesAreWholeAndNarrowHeadsTakeAsLongAsThoseOf64) {
  const AttentionFacts d = a_gpu(AttentionChip::MmaSync);
  const AttentionProblem a{.heads = 4096, .queries = 256, .keys = 256, .channels = 64};
  AttentionProblem part = a, narrow = a;
  part.queries = part.keys = 196;
  narrow.channels = 32;
  EXPECT_DOUBLE_EQ(attention_time(part, d).compute_s, attention_time(a, d).compute_s);
  EXPECT_DOUBLE_EQ(attention_time(narrow, d).compute_s, attention_time(a, d).compute_s);
}

TEST(AttentionTime, SlowMatrixUnitsHideTheRest) {
  AttentionFacts d = a_gpu(AttentionChip::MmaSync);
  d.matrix_flops /= 10;
  const AttentionProblem a{.heads = 4096, .queries = 4096, .keys = 4096, .channels = 128};
  const double products = 4 * a.heads * a.queries * a.keys * a.channels / d.matrix_flops;
  EXPECT_NEAR(attention_time(a, d).compute_s, products / 1.08, 0.02 * products);
}

}  // namespace
}  // namespace perfc
