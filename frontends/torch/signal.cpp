/// Fourier transforms and complex numbers. The IR's transforms work on pairs of
/// reals in the last dim; `as_complex` and `as_real` are views between the two.
#include <algorithm>
#include <cmath>

#include "frontends/torch/translate.h"

namespace perfc::torch {
namespace {

bool is_complex(DType d) { return d == DType::Complex64 || d == DType::Complex128; }

/// (…, 2) of complex data, (…, 1) of real ones.
Result<ValueId> pairs(Call& c, ValueId v) {
  const Type t = c.type(v);
  if (is_complex(t.dtype())) return c.emit(op("as_real"), {v});
  const auto rank = c.rank(v);
  auto reals = is_float(t.dtype()) ? Result<ValueId>(v) : c.cast(v, DType::Float32);
  if (!rank || !reals) return Failure{};
  return c.expand_dims(*reals, {static_cast<std::int64_t>(*rank)});
}

/// What a transform's name says of it: "fft_irfft2" is inverse, one-sided, of two dims.
struct Transform {
  bool inverse = false, onesided = false, all = false;
  std::size_t dims = 1;
};
Transform kind_of(const Call& c) {
  std::string_view name = c.row->name;
  if (name == "_fft_r2c") return {.onesided = true, .all = true};
  if (name == "_fft_c2r") return {.inverse = true, .onesided = true, .all = true};
  if (name == "_fft_c2c") return {.all = true};
  name.remove_prefix(4);  // fft_
  return {.inverse = name.starts_with("i"),
          .onesided = name.find("rfft") != std::string_view::npos,
          .all = name.ends_with("n"),
          .dims = name.ends_with("2") ? std::size_t{2} : std::size_t{1}};
}

}  // namespace

Result<ValueId> as_complex(Call& c, ValueId v) { return c.emit(op("as_complex"), {v}); }

Values fft(Call& c) {
  auto x = c.tensor("self");
  if (!x) return Failure{};
  const auto rank = c.rank(*x);
  if (!rank) return Failure{};
  Transform kind = kind_of(c);
  if (c.given("forward")) {
    const auto forward = c.flag_or("forward", true);
    if (!forward) return Failure{};
    kind.inverse = !*forward;
  }
  if (c.given("onesided")) {
    const auto onesided = c.flag_or("onesided", true);
    if (!onesided) return Failure{};
    kind.onesided = *onesided;
  }
  std::vector<std::int64_t> axes;
  if (c.given("dim")) {
    const auto dims = c.ints("dim");
    if (!dims) return Failure{};
    axes = *dims;
  } else {
    for (std::size_t i = kind.all ? 0 : *rank - std::min(*rank, kind.dims); i < *rank; ++i)
      axes.push_back(static_cast<std::int64_t>(i));
  }
  std::vector<std::int64_t> lengths(axes.size(), -1);
  if (c.given("n")) {
    const auto n = c.ints("n");
    if (!n) return Failure{};
    if (n->size() != axes.size()) return c.error("'n' and 'dim' differ in length");
    lengths = *n;
  }
  if (axes.empty()) return c.error("transforms no dim");
  // A transform of complex numbers converts reals to such first.
  const bool converts = !kind.onesided && !is_complex(c.type(*x).dtype());
  auto numbers = converts ? c.emit(op("clone"), {*x}) : x;
  auto v = numbers ? pairs(c, *numbers) : numbers;
  if (!v) return Failure{};
  // The one-sided dim is the last: first of a real transform, last of its inverse.
  std::vector<std::size_t> order(axes.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = kind.onesided && !kind.inverse ? order.size() - 1 - i : i;
  for (std::size_t i : order) {
    const auto axis = c.axis(axes[i], *rank);
    if (!axis) return Failure{};
    const bool half = kind.onesided && i + 1 == axes.size();
    std::int64_t length = lengths[i];
    if (c.given("last_dim_size") && half) {
      const auto n = c.integer("last_dim_size");
      if (!n) return Failure{};
      length = *n;
    }
    std::vector<ValueId> operands{*v, {}, c.number(static_cast<double>(*axis), DType::Int64)};
    if (length >= 0) operands[1] = c.number(static_cast<double>(length), DType::Int64);
    v = c.emit(op("dft"), std::move(operands),
               {{"inverse", static_cast<std::int64_t>(kind.inverse)}, {"onesided", static_cast<std::int64_t>(half)}});
    if (!v) return Failure{};
  }
  if (kind.onesided && kind.inverse) return single(c, c.squeeze(*v, {-1}));
  return single(c, as_complex(c, *v));
}

Values stft(Call& c) {
  auto x = c.tensor("self"), window = c.tensor_or_none("window");
  const auto n = c.integer("n_fft");
  const auto hop = n ? c.integer_or("hop_length", std::max<std::int64_t>(*n / 4, 1)) : n;
  const auto complex = c.flag_or("return_complex", false), onesided = c.flag_or("onesided", true);
  const auto normalized = c.flag_or("normalized", false), aligned = c.flag_or("align_to_window", false);
  const auto width = n ? c.integer_or("win_length", *n) : n;
  if (!x || !window || !n || !hop || !complex || !onesided || !normalized || !aligned || !width) return Failure{};
  if (*width <= 0 || *width > *n) return c.error(fmt::format("a window of {} for transforms of {}", *width, *n));
  if (*aligned && *width != *n) return c.error("align_to_window with a window shorter than n_fft is not supported");
  if (*window && *width != *n) {  // zeros around it, as many on both sides
    const std::int64_t before = (*n - *width) / 2;
    window = c.emit(op("nn.pad"), {*window, c.int_constant({before, *n - *width - before})});
    if (!window) return Failure{};
  }
  const auto rank = c.rank(*x);
  if (!rank) return Failure{};
  if (*rank == 1) x = c.expand_dims(*x, {0});
  if (!x) return Failure{};
  auto y = c.emit(
      op("stft"),
      {*x, c.number(static_cast<double>(*hop), DType::Int64), *window, c.number(static_cast<double>(*n), DType::Int64)},
      {{"onesided", static_cast<std::int64_t>(*onesided)}});
  // (batch, frames, bins, 2) → (batch, bins, frames, 2)
  y = y ? c.transpose(*y, {0, 2, 1, 3}) : y;
  if (y && *rank == 1) y = c.squeeze(*y, {0});
  if (y && *normalized) {
    const double scale = 1 / std::sqrt(static_cast<double>(*n));
    y = c.emit(op("multiply"), {*y, c.number(scale, c.type(*y).dtype())});
  }
  if (!y || !*complex) return single(c, y);
  return single(c, as_complex(c, *y));
}

/// Of complex numbers: the norm of the pair.
Values absolute(Call& c) {
  auto v = c.tensor("self");
  if (!v) return Failure{};
  if (!is_complex(c.type(*v).dtype())) return single(c, c.emit(op("abs"), {*v}));
  auto reals = c.emit(op("as_real"), {*v});
  return reals ? single(c, c.emit(op("reduce_l2"), {*reals, c.int_constant({-1})}, {{"keepdims", std::int64_t{0}}}))
               : Failure{};
}

Values view_as_complex(Call& c) { return c.view_result("self", op("as_complex"), {}); }
Values view_as_real(Call& c) { return c.view_result("self", op("as_real"), {}); }

/// real, imag: one of the pair. Real data are their own real part.
Values complex_part(Call& c) {
  auto v = c.tensor("self");
  if (!v) return Failure{};
  const std::string_view name = c.row->name;
  if (!is_complex(c.type(*v).dtype())) return name == "imag" ? Values(c.error("of real data")) : alias(c);
  const auto rank = c.rank(*v);
  auto reals = c.emit(op("as_real"), {*v});
  if (!rank || !reals) return Failure{};
  return single(c, c.emit(op("take"), {*reals, c.number(name == "imag" ? 1 : 0, DType::Int64)},
                          {{"axis", static_cast<std::int64_t>(*rank)}}));
}

/// complex(real, imag); polar(abs, angle) by sine and cosine.
Values complex_of(Call& c) { return single(c, c.complex(c.tensor("real"), c.tensor("imag"))); }

}  // namespace perfc::torch
