#pragma once
/// cuDNN's kernels between the orders of channels (nchwToNhwcKernel, nhwcToNchwKernel), which its convolutions launch
/// around their own. [studies/kernels/transposes.py]
#include "whitebox/launch/kernels.h"
#include "whitebox/price/roofline.h"

namespace perfc {

/// Elements of a convolution's data and of its result.
struct ConvolutionElements {
  double data = 0, result = 0;
};
/// `width`: bytes of an element.
ConvolutionElements convolution_elements(const Kernel&, double width);

/// µs of the kernels around a convolution, launches included: of its data, its weights, its result.
double order_conversion_us(const Kernel&, const Rates&, double width);

}  // namespace perfc
