/// Times of fused attention: as the study that fitted them says, and never against physics.
#include "whitebox/price/attention_time.h"

#include <gtest/gtest.h>

#include "tests/unit/study_cases.h"
#include "whitebox/price/attention_factor.h"
#include "whitebox/price/roofline.h"

namespace perfc {
namespace {

constexpr AttentionChip kChips[] = {AttentionChip::MmaSync, AttentionChip::Wgmma, AttentionChip::Tcgen05,
                                    AttentionChip::Other};

/// Facts of an A100, of an H100 and of a B200.
AttentionFacts a_gpu(AttentionChip chip) {
  AttentionFacts d{.chip = chip,
                   .bandwidth = 1.8e12,
                   .reading = 1.9e12,
                   .l2_bytes = 40 << 20,
                   .sms = 108,
                   .clock_hz = 1.41e9,
                   .matrix_flops = 312e12,
                   .lanes = 64};
  if (chip == AttentionChip::MmaSync || chip == AttentionChip::Other) return d;
  d = {.chip = chip,
       .bandwidth = 3e12,
       .reading = 3.1e12,
       .l2_bytes = 50 << 20,
       .sms = 132,
       .clock_hz = 1.98e9,
       .matrix_flops = 989e12};
  if (chip == AttentionChip::Tcgen05) d.bandwidth = d.reading = 7e12, d.matrix_flops = 2250e12, d.resident = 2;
  return d;
}

double work_s(const AttentionProblem& a, const AttentionFacts& d) { return attention_time(a, d).work_s; }

AttentionProblem encoder(double heads, double tokens, double channels = 64) {
  return {.heads = heads, .key_heads = heads, .queries = tokens, .keys = tokens, .channels = channels};
}
AttentionProblem decoding(double heads, double keys) {
  return {.heads = heads, .key_heads = heads, .queries = 1, .keys = keys, .channels = 128};
}
AttentionProblem prefill(double heads, double key_heads, double tokens, double past = 0, double window = 0) {
  return {.heads = heads,
          .key_heads = key_heads,
          .queries = tokens,
          .keys = past + tokens,
          .channels = 128,
          .causal = true,
          .past = past,
          .window = window};
}
/// The same by a kernel that reads a cache, which another writes before.
AttentionProblem cached(AttentionProblem a) {
  a.writes_cache = true;
  return a;
}
const AttentionProblem kProblems[] = {encoder(1, 196),          encoder(24, 300),       encoder(3072, 4096),
                                      decoding(1, 4096),        decoding(2048, 8192),   prefill(32, 8, 16),
                                      prefill(32, 8, 300),      prefill(512, 64, 4096), prefill(64, 8, 2048, 0, 256),
                                      prefill(32, 8, 128, 4096)};

int cases_of(const std::string& path, bool writes_cache) {
  return for_each_study_case(path, [writes_cache](std::istream& fields) {
    AttentionFacts d;
    AttentionProblem a;
    double rows, work_us;
    fields >> d.bandwidth >> d.reading >> d.l2_bytes >> d.sms >> d.clock_hz >> d.matrix_flops >> d.exponentials >>
        d.lanes >> rows >> d.sustained >> d.resident >> a.batch >> a.queries >> a.keys >> a.heads >> a.key_heads >>
        a.channels >> a.window >> work_us;
    d.chip = rows == 16 ? AttentionChip::MmaSync : rows == 64 ? AttentionChip::Wgmma : AttentionChip::Tcgen05;
    a.heads *= a.batch, a.key_heads *= a.batch;
    a.causal = a.writes_cache = writes_cache;
    EXPECT_NEAR(work_s(a, d) * 1e6, work_us, 1e-6 * work_us);
  });
}

TEST(AttentionTime, IsWhatTheStudySays) {
  EXPECT_GE(cases_of("tests/fixtures/attention_encoder_cases.tsv", false), 150);
  EXPECT_GE(cases_of("tests/fixtures/attention_prefill_cases.tsv", true), 150);
  EXPECT_GE(cases_of("tests/fixtures/attention_decode_cases.tsv", false), 150);
}

TEST(AttentionTime, HeadsThatShareKeysReadThemOnce) {
  const AttentionFacts d = a_gpu(AttentionChip::Wgmma);
  const AttentionProblem own = decoding(4096, 8192);
  AttentionProblem shared = own;
  shared.key_heads = 512;
  EXPECT_NEAR(attention_time(own, d).memory_s / attention_time(shared, d).memory_s, 8, 0.1);
}

TEST(AttentionTime, KeysThatNoKernelOfTheRunWroteComeFromMemory) {
  for (const AttentionChip chip : kChips) {
    const AttentionFacts d = a_gpu(chip);
    AttentionProblem cold = decoding(64, 512);  // 17 MB, which any of these caches holds
    cold.hot = 0;
    EXPECT_LT(attention_time(decoding(64, 512), d).memory_s, 0.8 * attention_time(cold, d).memory_s);
    EXPECT_NEAR(attention_time(cold, d).memory_s, 4 * 64 * 512 * 128 / d.reading,
                0.15 * attention_time(cold, d).memory_s);
  }
}

TEST(AttentionTime, ABetterDeviceIsNeverSlower) {
  for (const AttentionChip chip : kChips) {
    for (const AttentionProblem& a : kProblems) {
      for (double AttentionFacts::*fact :
           {&AttentionFacts::bandwidth, &AttentionFacts::reading, &AttentionFacts::l2_bytes, &AttentionFacts::clock_hz,
            &AttentionFacts::matrix_flops, &AttentionFacts::lanes, &AttentionFacts::exponentials}) {
        AttentionFacts better = a_gpu(chip);
        better.*fact *= 1.3;
        // A clock alone gives the matrix units fewer operations per clock.
        if (fact == &AttentionFacts::clock_hz) better.matrix_flops *= 1.3;
        EXPECT_LE(work_s(a, better), work_s(a, a_gpu(chip)) * (1 + 1e-12));
      }
    }
  }
}

TEST(AttentionTime, MoreWorkIsNeverFaster) {
  for (const AttentionChip chip : kChips) {
    for (double AttentionProblem::*extent :
         {&AttentionProblem::queries, &AttentionProblem::keys, &AttentionProblem::channels}) {
      AttentionProblem a = encoder(24, 300);
      double before = 0;
      for (; a.*extent < 1e4; a.*extent *= 1.3) {
        EXPECT_GE(work_s(a, a_gpu(chip)), before);
        before = work_s(a, a_gpu(chip));
      }
    }
    double before = 0;
    for (double tokens = 128; tokens < 1e4; tokens *= 2) {
      EXPECT_GT(work_s(prefill(32, 8, tokens), a_gpu(chip)), before);
      before = work_s(prefill(32, 8, tokens), a_gpu(chip));
    }
  }
}

/// FlashAttention-2 has kernels of 32 channels, those for Hopper begin at 64.
TEST(AttentionTime, TilesAreWholeAndHeadsAsWideAsKernelsAre) {
  const auto compute_s = [](AttentionChip chip, double tokens, double channels) {
    return attention_time(encoder(4096, tokens, channels), a_gpu(chip)).compute_s;
  };
  EXPECT_DOUBLE_EQ(compute_s(AttentionChip::MmaSync, 196, 64), compute_s(AttentionChip::MmaSync, 256, 64));
  EXPECT_DOUBLE_EQ(compute_s(AttentionChip::MmaSync, 256, 16), compute_s(AttentionChip::MmaSync, 256, 32));
  EXPECT_LT(compute_s(AttentionChip::MmaSync, 256, 32), 0.95 * compute_s(AttentionChip::MmaSync, 256, 64));
  EXPECT_DOUBLE_EQ(compute_s(AttentionChip::Wgmma, 256, 32), compute_s(AttentionChip::Wgmma, 256, 64));
}

TEST(AttentionTime, SlowMatrixUnitsHideTheRest) {
  AttentionFacts d = a_gpu(AttentionChip::MmaSync);
  d.matrix_flops /= 10;
  const AttentionProblem a = encoder(4096, 4096, 128);
  const double products = 4 * a.heads * a.queries * a.keys * a.channels / d.matrix_flops;
  EXPECT_NEAR(attention_time(a, d).compute_s, products / 1.08, 0.02 * products);
}

TEST(AttentionTime, ACausalMaskHalvesLongPrompts) {
  for (const AttentionChip chip : kChips) {
    // Behind as many tokens again, it is the lower half of the triangle of all.
    const double alone = attention_time(cached(prefill(64, 64, 32768)), a_gpu(chip)).compute_s;
    const double after = attention_time(cached(prefill(64, 64, 32768, 32768)), a_gpu(chip)).compute_s;
    EXPECT_NEAR(after / alone, 3, 0.1);
  }
}

TEST(AttentionTime, AWindowBoundsWhatAPromptMeets) {
  for (const AttentionChip chip : kChips) {
    const double once = work_s(prefill(512, 512, 4096, 0, 512), a_gpu(chip));
    const double twice = work_s(prefill(512, 512, 8192, 0, 512), a_gpu(chip));
    EXPECT_NEAR(twice / once, 2, 0.15);
    EXPECT_LT(once, 0.5 * work_s(prefill(512, 512, 4096), a_gpu(chip)));
    // Of one query, too.
    AttentionProblem late = decoding(2048, 65536);
    late.window = 1024;
    EXPECT_NEAR(work_s(late, a_gpu(chip)) / work_s(decoding(2048, 1024), a_gpu(chip)), 1, 1e-9);
  }
}

TEST(AttentionTime, ShortPromptsOfHeadsThatShareKeysArePackedOnHopper) {
  const AttentionProblem a = prefill(1024, 128, 16);
  EXPECT_EQ(attention_blocks(a, AttentionChip::Wgmma), 128);
  EXPECT_EQ(attention_blocks(a, AttentionChip::Tcgen05), 1024);
}

TEST(AttentionTime, WritingTheCacheTakesTimeOfItsOwn) {
  for (const AttentionChip chip : kChips) {
    if (chip == AttentionChip::MmaSync) continue;  // FlashAttention-2 has another kernel for what has no cache
    const AttentionTime without = attention_time(prefill(512, 512, 1024), a_gpu(chip));
    const AttentionTime with = attention_time(cached(prefill(512, 512, 1024)), a_gpu(chip));
    EXPECT_GT(with.work_s, without.work_s);
    EXPECT_DOUBLE_EQ(with.work_s - without.work_s, with.memory_s - without.memory_s);
    EXPECT_DOUBLE_EQ(with.compute_s, without.compute_s);
  }
}

TEST(AttentionTime, TilesOfManyQueriesAreCountedInPart) {
  // As many tokens as no loop should walk over.
  const double one = work_s(prefill(1, 1, 1 << 20), a_gpu(AttentionChip::Wgmma));
  const double two = work_s(prefill(1, 1, 1 << 21), a_gpu(AttentionChip::Wgmma));
  EXPECT_NEAR(two / one, 4, 0.1);
}

TEST(AttentionTime, CountsWhatAMaskLeaves) {
  EXPECT_DOUBLE_EQ(attention_macs(encoder(2, 100)), 2.0 * 2 * 100 * 100 * 64);
  EXPECT_DOUBLE_EQ(attention_macs(prefill(1, 1, 4)), 2 * 128 * (1 + 2 + 3 + 4));
  EXPECT_DOUBLE_EQ(attention_macs(prefill(1, 1, 4, 10)), 2 * 128 * (11 + 12 + 13 + 14));
  EXPECT_DOUBLE_EQ(attention_macs(prefill(1, 1, 4, 0, 2)), 2 * 128 * (1 + 2 + 2 + 2));
}

Device device_of(std::string_view name) {
  Diagnostics diags;
  return *DeviceTable::builtin().find(name, diags);
}
AttentionFacts facts_of(const Device& d) { return Rates(d, Precision::Bf16).attention; }

// shared/data/datacenter, attention_prefill: 32 heads, 8 of keys and values, of 128 channels, 16,384 tokens. µs; vLLM's
// writing of the cache is 1 % of them.
TEST(AttentionTime, DevicesHaveTheFactsOfWhichTheirKernelsTold) {
  const AttentionProblem prompt = cached(prefill(32, 8, 16384));
  EXPECT_NEAR(learned_attention_time(prompt, facts_of(device_of("a100-80gb"))).work_s * 1e6 / 12505, 1, 0.05);
  EXPECT_NEAR(learned_attention_time(prompt, facts_of(device_of("l40s"))).work_s * 1e6 / 11825, 1, 0.05);
  EXPECT_DOUBLE_EQ(facts_of(device_of("a100-80gb")).sustained, 1);
  EXPECT_NEAR(facts_of(device_of("l40s")).sustained, 0.66, 0.03);  // attention.py, SUSTAINED
  EXPECT_LT(facts_of(device_of("l4")).sustained, 0.5);             // 121 TFLOP/s at 72 W
  EXPECT_DOUBLE_EQ(facts_of(device_of("rtx4090")).sustained, 1);   // half of the rate that its power would last for
}

// studies/hopper/measured/large.tsv.xz; a B200's by flash-attention #1589. µs.
TEST(AttentionTime, FlashAttention2OnHopperAndBlackwell) {
  const auto us = [](std::string_view device, const AttentionProblem& a) {
    Device d = device_of(device);
    d.stack.attention = StackAttention::Flash;
    return work_s(a, facts_of(d)) * 1e6;
  };
  EXPECT_NEAR(us("h200", encoder(24, 4608, 128)) / 784, 1, 0.08);
  EXPECT_NEAR(us("h200", encoder(60, 8192)) / 3338, 1, 0.08);
  EXPECT_NEAR(us("h200", prefill(32, 32, 8192)) / 1727, 1, 0.08);
  EXPECT_NEAR(us("h200", prefill(256, 256, 512)) / 103, 1, 0.12);
  EXPECT_NEAR(us("b200", encoder(64, 8192)) / 3206, 1, 0.15);
}

}  // namespace
}  // namespace perfc
