#include <bit>
#include <cmath>
#include <cstring>

#include "gnn/layers/rowwise.h"
#include "gnn/wide.h"

namespace perfc {

namespace {
constexpr std::uint32_t kWhole = 1 << 16;
constexpr std::size_t kLanes = 4;  ///< decisions of 16 bits per random number, from the lowest on

/// y = x × 0 where the row's random number is below the threshold, x × keep elsewhere.
template <class T>
[[gnu::always_inline]] inline void drop(const Random& row, std::uint32_t threshold, T keep, const T* __restrict x,
                                        T* __restrict y, std::size_t width) {
  static_assert(std::endian::native == std::endian::little);
  constexpr std::size_t kBlock = 64;
  std::uint64_t bits[kBlock];
  std::uint16_t decisions[kBlock * kLanes];
  for (std::size_t first = 0; first < width; first += kBlock * kLanes) {
    for (std::size_t i = 0; i < kBlock; ++i) bits[i] = row.bits(first / kLanes + i);
    std::memcpy(decisions, bits, sizeof bits);
    const std::size_t count = std::min(kBlock * kLanes, width - first);
    for (std::size_t i = 0; i < count; ++i) y[first + i] = x[first + i] * (decisions[i] < threshold ? T(0) : keep);
  }
}
PERFC_WIDE void drop_row(const Random& row, std::uint32_t threshold, float keep, const float* x, float* y,
                         std::size_t width) {
  drop(row, threshold, keep, x, y, width);
}
void drop_row(const Random& row, std::uint32_t threshold, double keep, const double* x, double* y, std::size_t width) {
  drop(row, threshold, keep, x, y, width);
}
}  // namespace

template <class T>
Dropout<T>::Dropout(double rate, std::uint64_t stream)
    : threshold_(static_cast<std::uint32_t>(std::lround(std::clamp(rate, 0.0, 0.999) * kWhole))), stream_(stream) {}

template <class T>
const Matrix<T>& Dropout<T>::forward(Context& c, const Matrix<T>& x) {
  mode_ = c.mode;
  if (mode_ == Mode::Inference || threshold_ == 0) return x;
  apply(c, x, y_);
  return y_;
}

template <class T>
const Matrix<T>& Dropout<T>::backward(Context& c, const Matrix<T>& dy) {
  if (mode_ == Mode::Inference || threshold_ == 0) return dy;
  apply(c, dy, dx_);
  return dx_;
}

template <class T>
void Dropout<T>::apply(Context& c, const Matrix<T>& from, Matrix<T>& to) const {
  to.resize(from.rows(), from.columns());
  const Random layer = c.random.stream(stream_);
  const T keep = static_cast<T>(kWhole) / static_cast<T>(kWhole - threshold_);
  // Rows are nodes of a sample's graph, or samples.
  const bool nodes = c.graph != nullptr && from.rows() == c.graph->nodes();
  const std::size_t width = from.columns();
  c.threads.for_ranges(from.rows(), 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) {
      const std::size_t sample = nodes ? c.graph->graph_of()[r] : r;
      const std::size_t place = nodes ? r - c.graph->first(sample) : 0;
      const Random row = layer.stream((c.first_sample + sample) << 32 | place);
      drop_row(row, threshold_, keep, from.data() + r * width, to.data() + r * width, width);
    }
  });
}

template class Dropout<float>;
template class Dropout<double>;

}  // namespace perfc
