#pragma once
/// The corrected whitebox: our own predictor of latency.
///
/// A graph's time is the sum of its kernels' roofline times, each corrected by a
/// network that sees the kernel, its geometry relative to the device's peaks, and
/// its neighbours:
///
///     device = Σ count · (work · e^(a + z_kind) + launch · e^(b + z_launch) + waiting)
///     host   = dispatch · e^z_host
///     time   = the largest of device, host, and α · host + β · device
///
/// The device waits for the host at first, or where kernels are short: α and β are the parts of both that follow each
/// other (whitebox/timeline.h), 0 where runs queue up.
/// a and b are the network's two outputs for a kernel, bounded to ±kMostCorrection;
/// z are a device's own terms, what its calibration constants left over. The sum
/// scales to graphs larger than any in training, and every kernel's share of it is
/// the explanation. With all weights of the last layer zero this is the whitebox.
#include "gnn/layers/linear.h"
#include "gnn/models/graph_model.h"

namespace perfc {

/// First columns of GraphInput::nodes; features of `kernel_columns` follow.
enum KernelColumn : std::size_t {
  kCountColumn,
  kWorkColumn,
  kLaunchColumn,
  kWaitingColumn,
  kKindColumn,
  kKernelColumns
};
/// Columns of GraphInput::globals: host time in µs, whose terms apply (0: nobody's), α and β.
enum GlobalColumn : std::size_t { kHostColumn, kTermsColumn, kHostPartColumn, kDevicePartColumn, kGlobalColumns };
/// Columns of the table of terms: five kinds of kernels, launch, host.
inline constexpr std::size_t kTermKinds = 5, kLaunchTerm = 5, kHostTerm = 6, kTerms = 7;
inline constexpr double kMostCorrection = 0.7;

struct CorrectedOptions {
  std::size_t features = 0;  ///< columns of `kernel_columns`
  std::size_t hidden = 64;
  std::size_t convolutions = 2;  ///< rounds of message passing; 0: kernels alone
  std::size_t devices = 0;       ///< with terms of their own; 0: terms are no parameter
  double dropout = 0;
  double pull = 0;  ///< strength of the pull of corrections towards 0, in training
};

template <class T>
class Corrected : public GraphModel<T> {
 public:
  explicit Corrected(const CorrectedOptions&);
  /// graphs × 1: time in µs.
  const Matrix<T>& forward(Context&, const GraphInput<T>&) override;
  void backward(Context&, const Matrix<T>& doutput) override;
  void visit(const std::string& prefix, const ParameterVisitor<T>&) override;

  /// (1 + devices) × kTerms, in logarithms.
  const Matrix<T>& terms() const { return terms_.value; }
  /// Of the last forward pass, kernels × 2: factors on work and on launch, terms included.
  const Matrix<T>& factors() const { return factors_; }
  /// Of the last forward pass, by graph: the device's time in µs.
  const std::vector<T>& device_us() const { return device_us_; }

 private:
  T term(std::size_t graph, std::size_t column) const;
  CorrectedOptions options_;
  Sequential<T> network_;
  Parameter<T> terms_;  ///< named "terms"; (1 + devices) × kTerms; row 0 is everybody's
  const GraphInput<T>* input_ = nullptr;
  Matrix<T> features_, corrections_, factors_, output_, dcorrections_;
  std::vector<T> device_us_, host_us_;
  /// By graph: the parts of the device's and the host's time that make the longest sum.
  std::vector<std::pair<T, T>> parts_;
};

extern template class Corrected<float>;
extern template class Corrected<double>;

}  // namespace perfc
