/// Fourier transforms, windows and random generators.
#include "tests/unit/op_call.h"

namespace perfc::testing {
namespace {

const std::int64_t kOn = 1;

TEST(Dft, Shapes) {
  const Arg real = tensor({2, 16, 1});
  EXPECT_EQ(type_of(op("dft"), {real}), "Tensor[(2, 16, 2), float32]");
  EXPECT_EQ(type_of(op("dft"), {real}, {{"onesided", kOn}}), "Tensor[(2, 9, 2), float32]");
  EXPECT_EQ(type_of(op("dft"), {real, scalar(15)}, {{"onesided", kOn}}), "Tensor[(2, 8, 2), float32]");
  EXPECT_EQ(type_of(op("dft"), {tensor({2, 8, 16, 1}), omitted(), scalar(1)}), "Tensor[(2, 8, 16, 2), float32]");
  EXPECT_EQ(type_of(op("dft"), {tensor({2, 8, 16, 1}), scalar(4)}, {{"axis", kOn}}), "Tensor[(2, 4, 16, 2), float32]");
  EXPECT_EQ(type_of(op("dft"), {tensor({2, 9, 2})}, {{"onesided", kOn}, {"inverse", kOn}}),
            "Tensor[(2, 16, 1), float32]");
  EXPECT_EQ(type_of(op("dft"), {real, omitted(), tensor({}, DType::Int64)}), "Tensor[(?, ?, ?), float32]");
}

TEST(Dft, Refuses) {
  EXPECT_EQ(type_of(op("dft"), {tensor({2, 16, 3})}), "dft: the last dim must be 1 (real) or 2 (complex), is 3");
  EXPECT_EQ(type_of(op("dft"), {tensor({2, 16, 1}), omitted(), scalar(2)}),
            "dft: the last dim holds real and imaginary parts, axis 2 must not name it");
  EXPECT_EQ(type_of(op("dft"), {tensor({2, 16, 1}), omitted(), scalar(5)}), "dft: axis 5 is out of range for rank 3");
  EXPECT_EQ(type_of(op("dft"), {tensor({2, 16, 2})}, {{"onesided", kOn}}),
            "dft: a one-sided transform takes real input, the last dim is 2");
  EXPECT_EQ(type_of(op("dft"), {tensor({2, 16, 1}), scalar(-4)}), "dft: dft_length is negative: -4");
}

TEST(Dft, FiveNLogN) {
  EXPECT_EQ(call(op("dft"), {tensor({3, 1024, 2})}).cost.flops, 3 * 5 * 1024 * 10);
  EXPECT_EQ(call(op("dft"), {tensor({3, 1024, 1})}).cost.flops, 3 * 5 * 1024 * 10 / 2);
  EXPECT_EQ(call(op("dft"), {tensor({1, 64, 256, 2}), omitted(), scalar(1)}).cost.flops, 256 * 5 * 64 * 6);
  EXPECT_EQ(call(op("signal.rfft"), {tensor({4, 256})}).cost.flops, 4 * 5 * 256 * 8 / 2);
  EXPECT_EQ(call(op("signal.irfft"), {tensor({4, 129, 2})}).cost.flops, 4 * 5 * 256 * 8 / 2);
}

TEST(Spectrogram, Windows) {
  const OpId id = op("signal.spectrogram");
  const Attrs attrs{{"window_size", std::int64_t{640}}, {"stride", std::int64_t{320}}};
  const Outcome o = call(id, {tensor({1, 960})}, attrs);
  EXPECT_EQ(o.types.at(0), "Tensor[(2, 513), float32]");
  EXPECT_EQ(o.cost.flops, 2.0 * (640 + 5 * 1024 * 10 / 2.0 + 3 * 513));
  EXPECT_EQ(type_of(id, {tensor({N, 960})}, attrs), "Tensor[(?, 513), float32]");
  EXPECT_EQ(type_of(id, {tensor({1, 639})}, attrs),
            "signal.spectrogram: windows of 640 do not fit into a signal of 639");
  EXPECT_EQ(type_of(id, {tensor({1, 960})}, {{"window_size", std::int64_t{640}}}),
            "signal.spectrogram: attribute stride is missing");
  EXPECT_EQ(type_of(id, {tensor({9})}, {{"window_size", std::int64_t{0}}, {"stride", kOn}}),
            "signal.spectrogram: window_size must lie in 1…1073741824, is 0");
  EXPECT_EQ(type_of(id, {tensor({9})}, {{"window_size", kOn}, {"stride", std::int64_t{0}}}),
            "signal.spectrogram: stride must be positive, is 0");
}

TEST(Mfcc, CoefficientsPerWindow) {
  const OpId id = op("signal.mfcc");
  const Outcome o = call(id, {tensor({2, 257})},
                         {{"dct_coefficient_count", std::int64_t{10}}, {"filterbank_channel_count", std::int64_t{40}}});
  EXPECT_EQ(o.types.at(0), "Tensor[(2, 10), float32]");
  EXPECT_EQ(o.cost.macs, 2.0 * (2 * 257 + 40 * 10));
  EXPECT_EQ(o.cost.flops, 2.0 * 40 * 8);
  EXPECT_EQ(type_of(id, {tensor({2, 257})}), "Tensor[(2, 13), float32]");
  EXPECT_EQ(type_of(id, {tensor({2, 257})}, {{"dct_coefficient_count", std::int64_t{41}}}),
            "signal.mfcc: dct_coefficient_count must lie in 1…40, is 41");
  EXPECT_EQ(type_of(id, {tensor({257})}), "signal.mfcc: spectrogram must have rank 2, got Tensor[(257,), float32]");
}

TEST(Stft, Frames) {
  const Arg signal = tensor({2, 16000, 1});
  const Outcome o = call(op("stft"), {signal, scalar(160), tensor({512})});
  EXPECT_EQ(o.types.at(0), "Tensor[(2, 97, 257, 2), float32]");
  EXPECT_EQ(o.cost.flops, 2.0 * 97 * (5 * 512 * 9 / 2.0 + 512));
  EXPECT_EQ(type_of(op("stft"), {signal, scalar(160), omitted(), scalar(400)}, {{"onesided", std::int64_t{0}}}),
            "Tensor[(2, 98, 400, 2), float32]");
  EXPECT_EQ(type_of(op("stft"), {tensor({N, unknown, 1}), scalar(160), tensor({512})}),
            "Tensor[(N, ?, 257, 2), float32]");
  EXPECT_EQ(type_of(op("stft"), {signal, scalar(0), tensor({512})}), "stft: frame_step must be positive, is 0");
  EXPECT_EQ(type_of(op("stft"), {signal, scalar(160), tensor({512}), scalar(400)}),
            "stft: frame_length and window differ: 400 and 512");
  EXPECT_EQ(type_of(op("stft"), {tensor({1, 300, 1}), scalar(160), tensor({512})}),
            "stft: frames of 512 do not fit into a signal of 300");
}

TEST(Fft, MicrosoftForms) {
  EXPECT_EQ(type_of(op("signal.rfft"), {tensor({N, 9})}), "Tensor[(N, 5, 2), float32]");
  EXPECT_EQ(type_of(op("signal.irfft"), {tensor({N, 5, 2})}), "Tensor[(N, 8), float32]");
  EXPECT_EQ(type_of(op("signal.irfft"), {tensor({N, 5, 3})}), "signal.irfft: the last dim must be 2 (complex), is 3");
}

TEST(Windows, SizeAndDType) {
  EXPECT_EQ(type_of(op("signal.hann_window"), {scalar(10)}), "Tensor[(10,), float32]");
  EXPECT_EQ(
      type_of(op("signal.hamming_window"), {tensor({}, DType::Int32)}, {{"output_datatype", std::string("float64")}}),
      "Tensor[(?,), float64]");
  EXPECT_EQ(type_of(op("signal.blackman_window"), {scalar(-1)}), "signal.blackman_window: size is negative: -1");
  EXPECT_EQ(type_of(op("signal.blackman_window"), {tensor({})}),
            "signal.blackman_window: size must be int32 or int64, got float32");
  EXPECT_EQ(type_of(op("signal.mel_weight_matrix"), {scalar(80), scalar(400), scalar(16000), tensor({}), tensor({})}),
            "Tensor[(201, 80), float32]");
}

TEST(Random, DTypeAndShape) {
  EXPECT_EQ(type_of(op("random.normal"), {}, {{"shape", Ints{2, 3}}, {"dtype", std::string("float16")}}),
            "Tensor[(2, 3), float16]");
  EXPECT_EQ(type_of(op("random.uniform"), {}), "random.uniform: has no attribute 'shape'");
  EXPECT_EQ(type_of(op("random.uniform"), {}, {{"shape", Ints{2, -3}}}),
            "random.uniform: attribute 'shape' holds the negative dim -3");
  EXPECT_EQ(type_of(op("random.normal_like"), {tensor({N, 3}, DType::Int32)}, {{"dtype", std::string("float32")}}),
            "Tensor[(N, 3), float32]");
  EXPECT_EQ(type_of(op("random.normal_like"), {tensor({N, 3}, DType::Int32)}),
            "random.normal_like: dtype must be floating point, is int32");
  EXPECT_EQ(type_of(op("random.bernoulli"), {tensor({N, 3})}, {{"dtype", std::string("bool")}}),
            "Tensor[(N, 3), bool]");
  EXPECT_EQ(type_of(op("random.multinomial"), {tensor({N, 10})}, {{"sample_size", std::int64_t{5}}}),
            "Tensor[(N, 5), int32]");
  EXPECT_EQ(type_of(op("random.multinomial"), {tensor({N, 10})}, {{"dtype", std::string("float32")}}),
            "random.multinomial: dtype must be int32 or int64, is float32");
}

}  // namespace
}  // namespace perfc::testing
