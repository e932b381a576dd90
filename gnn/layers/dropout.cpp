#include <cmath>

#include "gnn/layers/rowwise.h"

namespace perfc {

namespace {
constexpr std::uint32_t kWhole = 1 << 16;
constexpr std::size_t kLanes = 4;  ///< decisions of 16 bits per random number
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
      const T* x = from.data() + r * width;
      T* y = to.data() + r * width;
      std::size_t i = 0;
      for (; i + kLanes <= width; i += kLanes) {
        const std::uint64_t bits = row.bits(i / kLanes);
        for (std::size_t l = 0; l < kLanes; ++l) {
          const T factor = (bits >> (16 * l) & (kWhole - 1)) < threshold_ ? T(0) : keep;
          y[i + l] = x[i + l] * factor;
        }
      }
      for (const std::uint64_t bits = row.bits(i / kLanes); i < width; ++i) {
        y[i] = (bits >> (16 * (i % kLanes)) & (kWhole - 1)) < threshold_ ? T(0) : x[i] * keep;
      }
    }
  });
}

template class Dropout<float>;
template class Dropout<double>;

}  // namespace perfc
