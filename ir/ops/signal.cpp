/// Rules for Fourier transforms, windows, random generators.
#include <algorithm>
#include <bit>
#include <cmath>

#include "ir/infer_context.h"
#include "ir/ops/rule_helpers.h"
#include "ir/ops/rules.h"

namespace perfc::rules {
namespace {

/// 5 N log2 N: the conventional operation count of a complex FFT of length N
/// (FFTW, "benchFFT methodology"); half of it for real input.
double fft_flops(double length) { return length > 1 ? 5.0 * length * std::log2(length) : 0.0; }

Dim onesided_bins(const Dim& length) { return trunc_div(length, 2) + SymInt(1); }

/// Longest window of a spectrogram, in samples.
constexpr std::int64_t kMaxWindow = std::int64_t{1} << 30;

/// Length of the FFT of a padded window.
std::int64_t transform_length(std::int64_t window) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(window)));
}

/// A generator's `dtype` attribute must be floating point where ONNX says so.
Result<DType> random_dtype(const InferContext& c, DType fallback) {
  const DType dtype = c.attrs.dtype_or("dtype", fallback);
  if (dtype != DType::Undefined && !is_float(dtype)) {
    return c.error("dtype must be floating point, is {}", name(dtype));
  }
  return dtype;
}

}  // namespace

Status random_shape(InferContext& c) {
  const auto dtype = random_dtype(c, DType::Float32);
  if (!dtype) return Failure{};
  if (!c.attrs.has("shape")) return c.error("has no attribute 'shape'");
  Shape shape;
  for (std::int64_t d : c.attrs.ints_or_empty("shape")) {
    if (d < 0) return c.error("attribute 'shape' holds the negative dim {}", d);
    shape.emplace_back(d);
  }
  c.set(0, Type::tensor(*dtype, std::move(shape)));
  return ok();
}

Status random_like(InferContext& c) {
  if (!require_tensor(c, 0, "input")) return Failure{};
  DType dtype = c.attrs.dtype_or("dtype", c.type(0).dtype());
  // Bernoulli draws any dtype; the others only floats.
  if (c.op() != op("random.bernoulli")) {
    const auto checked = random_dtype(c, c.type(0).dtype());
    if (!checked) return Failure{};
    dtype = *checked;
  }
  c.set(0, c.type(0).with_dtype(dtype));
  return ok();
}

Status multinomial(InferContext& c) {
  if (!require_rank(c, 0, "input", 2)) return Failure{};
  const DType dtype = c.attrs.dtype_or("dtype", DType::Int32);
  if (dtype != DType::Int32 && dtype != DType::Int64) {
    return c.error("dtype must be int32 or int64, is {}", name(dtype));
  }
  const std::int64_t samples = c.attrs.int_or("sample_size", 1);
  if (samples < 0) return c.error("sample_size is negative: {}", samples);
  const Dim batch = ranked(c, 0) ? c.type(0).shape()[0] : Dim::unknown();
  c.set(0, Type::tensor(dtype, {batch, Dim(samples)}));
  return ok();
}

/// Input [.., signal, .., 1 or 2]; output [.., bins, .., 2], real only for the
/// one-sided inverse.
Status dft(InferContext& c) {
  if (!require_rank(c, 0, "input", 2, kAnyRank)) return Failure{};
  if (!ranked(c, 0)) {
    c.set(0, c.type(0));
    return ok();
  }
  Shape shape = c.type(0).shape();
  const bool onesided = c.attrs.int_or("onesided", 0) != 0;
  const bool inverse = c.attrs.int_or("inverse", 0) != 0;
  // DFT-17 has the axis as attribute (default 1), DFT-20 as operand (default −2).
  std::optional<std::int64_t> axis;
  if (c.attrs.has("axis")) axis = c.attrs.int_or("axis", 1);
  if (c.has(2)) {
    axis = known_scalar(c, 2);
    if (!axis) {
      c.set(0, Type::tensor(c.type(0).dtype(), unknown_shape(shape.size())));
      return ok();
    }
  }
  const auto at = normalize_axis(c, axis.value_or(-2), shape.size());
  if (!at) return Failure{};
  if (*at == shape.size() - 1)
    return c.error("the last dim holds real and imaginary parts, axis {} must not name it", *at);
  const Dim last = shape.back();
  if (last.known() && last.value() != 1 && last.value() != 2) {
    return c.error("the last dim must be 1 (real) or 2 (complex), is {}", last.value());
  }
  if (onesided && !inverse && last.is(2)) return c.error("a one-sided transform takes real input, the last dim is 2");
  Dim length = shape[*at];
  if (c.has(1)) {
    const auto given = known_scalar(c, 1);
    if (given && *given < 0) return c.error("dft_length is negative: {}", *given);
    length = given ? Dim(*given) : Dim::unknown();
  } else if (onesided && inverse) {
    length = (length - SymInt(1)) * SymInt(2);
  }
  shape[*at] = onesided && !inverse ? onesided_bins(length) : length;
  shape.back() = onesided && inverse ? Dim(1) : Dim(2);
  c.set(0, Type::tensor(c.type(0).dtype(), std::move(shape)));
  return ok();
}

/// Signal [batch, length, 1 or 2] → [batch, frames, bins, 2].
Status stft(InferContext& c) {
  if (!require_rank(c, 0, "signal", 2, 3)) return Failure{};
  const Shape unknown = unknown_shape(4);
  const Dim batch = ranked(c, 0) ? c.type(0).shape()[0] : unknown[0];
  const Dim signal = ranked(c, 0) ? c.type(0).shape()[1] : unknown[0];
  // The frame is as long as the window, as frame_length says, or the signal.
  Dim frame = signal;
  if (c.has(2)) {
    if (!require_rank(c, 2, "window", 1)) return Failure{};
    frame = dim_of(c, 2, 0);
  }
  if (c.has(3)) {
    const auto given = known_scalar(c, 3);
    const auto same =
        same_dim(c, given ? Dim(*given) : Dim::unknown(), c.has(2) ? frame : Dim::unknown(), "frame_length and window");
    if (!same) return Failure{};
    frame = *same;
  }
  const auto step = known_scalar(c, 1);
  if (step && *step <= 0) return c.error("frame_step must be positive, is {}", *step);
  Dim frames = Dim::unknown();
  if (step && signal.known() && frame.known()) {
    if (frame.value() > signal.value() || frame.value() < 0) {
      return c.error("frames of {} do not fit into a signal of {}", frame.value(), signal.value());
    }
    frames = Dim((signal.value() - frame.value()) / *step + 1);
  }
  const Dim bins = c.attrs.int_or("onesided", 1) != 0 ? onesided_bins(frame) : frame;
  c.set(0, Type::tensor(c.type(0).dtype(), {batch, frames, bins, Dim(2)}));
  return ok();
}

/// com.microsoft Rfft: real [.., n] → [.., n/2 + 1, 2] over the last dim.
Status ms_rfft(InferContext& c) {
  if (!require_rank(c, 0, "X", 1, kAnyRank)) return Failure{};
  if (!ranked(c, 0)) {
    c.set(0, c.type(0));
    return ok();
  }
  Shape shape = c.type(0).shape();
  shape.back() = onesided_bins(shape.back());
  shape.emplace_back(2);
  c.set(0, Type::tensor(c.type(0).dtype(), std::move(shape)));
  return ok();
}

/// com.microsoft Irfft: [.., bins, 2] → real [.., 2 (bins − 1)].
Status ms_irfft(InferContext& c) {
  if (!require_rank(c, 0, "X", 2, kAnyRank)) return Failure{};
  if (!ranked(c, 0)) {
    c.set(0, c.type(0));
    return ok();
  }
  Shape shape = c.type(0).shape();
  if (shape.back().known() && !shape.back().is(2))
    return c.error("the last dim must be 2 (complex), is {}", shape.back().value());
  shape.pop_back();
  shape.back() = (shape.back() - SymInt(1)) * SymInt(2);
  c.set(0, Type::tensor(c.type(0).dtype(), std::move(shape)));
  return ok();
}

/// X, with complex numbers as such: transforms its last `rank` axes. `mode` c2c
/// keeps the type; r2c gives half the spectrum of real data; c2r goes back. The
/// last axis of the real side has `length` elements where that is given.
Status fft(InferContext& c) {
  const std::string_view mode = c.attrs.string_or("mode", "c2c");
  const auto rank = int_attr(c, "rank", 1);
  const auto length = int_attr(c, "length", 0);
  if (!rank || !length) return Failure{};
  if (mode != "c2c" && mode != "r2c" && mode != "c2r") return c.error("mode '{}' is none of c2c, r2c, c2r", mode);
  if (*rank < 1 || *rank > 3 || *length < 0) return c.error("rank {} or length {} is out of range", *rank, *length);
  if (!require_rank(c, 0, "X", static_cast<std::size_t>(*rank), kAnyRank)) return Failure{};
  const bool from_real = mode == "r2c";
  if (!require_dtype(c, 0, "X", from_real ? is_float : is_complex, from_real ? "floating point" : "complex"))
    return Failure{};
  const bool wide = c.type(0).dtype() == DType::Float64 || c.type(0).dtype() == DType::Complex128;
  const DType dtype = mode == "c2r" ? (wide ? DType::Float64 : DType::Float32)
                      : wide        ? DType::Complex128
                                    : DType::Complex64;
  if (!ranked(c, 0)) {
    c.set(0, Type::unranked(dtype));
    return ok();
  }
  Shape shape = c.type(0).shape();
  if (from_real) shape.back() = onesided_bins(*length > 0 ? Dim(*length) : shape.back());
  if (mode == "c2r") shape.back() = *length > 0 ? Dim(*length) : (shape.back() - SymInt(1)) * SymInt(2);
  c.set(0, Type::tensor(dtype, std::move(shape)));
  return ok();
}

/// Complex → its magnitude, real or imaginary part.
Status complex_part(InferContext& c) {
  if (!require_dtype(c, 0, "X", is_complex, "complex")) return Failure{};
  c.set(0, c.type(0).with_dtype(c.type(0).dtype() == DType::Complex128 ? DType::Float64 : DType::Float32));
  return ok();
}

Status window(InferContext& c) {
  if (!require_dtype(c, 0, "size", is_index, "int32 or int64")) return Failure{};
  const auto size = known_scalar(c, 0);
  if (size && *size < 0) return c.error("size is negative: {}", *size);
  c.set(0, Type::tensor(c.attrs.dtype_or("output_datatype", DType::Float32), {size ? Dim(*size) : Dim::unknown()}));
  return ok();
}

Status mel_weight_matrix(InferContext& c) {
  const auto bins = known_scalar(c, 0);
  const auto length = known_scalar(c, 1);
  if ((bins && *bins < 0) || (length && *length < 0))
    return c.error("num_mel_bins and dft_length must not be negative");
  c.set(0, Type::tensor(c.attrs.dtype_or("output_datatype", DType::Float32),
                        {length ? onesided_bins(Dim(*length)) : Dim::unknown(), bins ? Dim(*bins) : Dim::unknown()}));
  return ok();
}

/// Glow's AudioSpectrogram: all samples of the operand are one signal → (windows,
/// bins). Windows are padded to a power of two before they are transformed.
Status spectrogram(InferContext& c) {
  if (!require_dtype(c, 0, "input", is_float, "floating point")) return Failure{};
  const auto window = int_attr(c, "window_size");
  const auto stride = int_attr(c, "stride");
  if (!window || !stride) return Failure{};
  if (*window < 1 || *window > kMaxWindow) return c.error("window_size must lie in 1…{}, is {}", kMaxWindow, *window);
  if (*stride < 1) return c.error("stride must be positive, is {}", *stride);
  Dim windows = Dim::unknown();
  if (const auto samples = c.type(0).elements()) {
    if (*samples < *window) return c.error("windows of {} do not fit into a signal of {}", *window, *samples);
    windows = Dim((*samples - *window) / *stride + 1);
  }
  c.set(0, Type::tensor(c.type(0).dtype(), {windows, onesided_bins(Dim(transform_length(*window)))}));
  return ok();
}

/// Mel-frequency cepstral coefficients of a spectrogram (windows, bins) → (windows, coefficients).
Status mfcc(InferContext& c) {
  if (!require_dtype(c, 0, "spectrogram", is_float, "floating point") || !require_rank(c, 0, "spectrogram", 2))
    return Failure{};
  const auto coefficients = int_attr(c, "dct_coefficient_count", 13);
  const auto channels = int_attr(c, "filterbank_channel_count", 40);
  if (!coefficients || !channels) return Failure{};
  if (*channels < 1) return c.error("filterbank_channel_count must be positive, is {}", *channels);
  if (*coefficients < 1 || *coefficients > *channels) {
    return c.error("dct_coefficient_count must lie in 1…{}, is {}", *channels, *coefficients);
  }
  c.set(0, Type::tensor(c.type(0).dtype(), {dim_of(c, 0, 0), Dim(*coefficients)}));
  return ok();
}

/// One FFT of the transformed length per remaining index.
void dft_cost(const CostContext& c, OpCost& cost) {
  const Type& x = c.type(0);
  if (!x.is_static() || x.rank() < 2 || !c.result(0).is_static() || c.result(0).rank() != x.rank()) return;
  const auto rank = static_cast<std::int64_t>(x.rank());
  std::int64_t axis = c.attrs().int_or("axis", -2);
  if (const Data* d = c.data(2); d && d->ints() && d->size() == 1 && d->fully_known()) axis = (*d->ints())[0].value();
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return;
  const double in = c.dim(0, static_cast<int>(axis));
  const double out = static_cast<double>(c.result(0).shape()[static_cast<std::size_t>(axis)].value());
  const double length = std::max(in, out);
  const double parts = c.dim(0, -1);
  if (in > 0 && parts > 0) { cost.flops = c.elements(0) / in / parts * fft_flops(length) * (parts < 2 ? 0.5 : 1.0); }
}

/// Every transformed axis runs over all elements of the larger side.
void fft_cost(const CostContext& c, OpCost& cost) {
  const Type& y = c.result(0);
  const Type& x = c.type(0);
  const bool from_real = c.attrs().string_or("mode", "c2c") == "r2c";
  const Type& whole = from_real ? x : y;
  if (!whole.is_static()) return;
  const auto rank = static_cast<std::size_t>(std::clamp<std::int64_t>(c.attrs().int_or("rank", 1), 1, 3));
  for (std::size_t i = 0; i < rank && i < whole.rank(); ++i) {
    const auto length = static_cast<double>(whole.shape()[whole.rank() - 1 - i].value());
    if (length > 1) cost.flops += static_cast<double>(*whole.elements()) / length * fft_flops(length);
  }
  if (c.attrs().string_or("mode", "c2c") != "c2c") cost.flops /= 2;
}

void stft_cost(const CostContext& c, OpCost& cost) {
  const Type& y = c.result(0);
  if (!y.is_static() || y.rank() != 4) return;
  const auto dim = [&](std::size_t i) { return static_cast<double>(y.shape()[i].value()); };
  const bool onesided = c.attrs().int_or("onesided", 1) != 0;
  const double length = onesided ? 2 * (dim(2) - 1) : dim(2);
  cost.flops = dim(0) * dim(1) * (fft_flops(length) * (onesided ? 0.5 : 1.0) + length);
}

/// Per window: its weighting, a real FFT, the squared magnitude of every bin.
void spectrogram_cost(const CostContext& c, OpCost& cost) {
  const Type& y = c.result(0);
  const std::int64_t window = c.attrs().int_or("window_size", 1);
  if (!y.is_static() || y.rank() != 2 || window < 1 || window > kMaxWindow) return;
  const double length = static_cast<double>(transform_length(window));
  const double bins = static_cast<double>(y.shape()[1].value());
  cost.flops =
      static_cast<double>(y.shape()[0].value()) * (static_cast<double>(window) + fft_flops(length) * 0.5 + 3 * bins);
}

/// Per window: triangular filters, of which two overlap at every bin; a
/// logarithm per channel; a cosine transform [Davis & Mermelstein, 1980].
void mfcc_cost(const CostContext& c, OpCost& cost) {
  const double windows = c.dim(0, 0);
  const double channels = static_cast<double>(c.attrs().int_or("filterbank_channel_count", 40));
  const double coefficients = static_cast<double>(c.attrs().int_or("dct_coefficient_count", 13));
  cost.macs = windows * (2 * c.dim(0, 1) + channels * coefficients);
  cost.flops = windows * channels * 8;
}

void ms_fft_cost(const CostContext& c, OpCost& cost) {
  const bool inverse = c.node().is(op("signal.irfft"));
  const Type& real = inverse ? c.result(0) : c.type(0);
  if (!real.is_static() || real.rank() == 0) return;
  const auto length = static_cast<double>(real.shape().back().value());
  if (length > 0) cost.flops = static_cast<double>(*real.elements()) / length * fft_flops(length) * 0.5;
}

}  // namespace perfc::rules
