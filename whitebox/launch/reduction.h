#pragma once
/// How PyTorch's reductions share their work out: aten/src/ATen/native/cuda/Reduce.cuh, setReduceConfig. These rules
/// give the grids and blocks of all 408 means and sums of an H200's profiles (studies/hopper/fit_elements.py); on every
/// device they are those of 132 SMs.
namespace perfc {

/// A reduction of `results` elements, `length` of the data added up to each.
struct ReductionShape {
  double results = 0, length = 0;
  double width = 4;   ///< bytes of an element
  bool rows = false;  ///< what is added up lies side by side
};

/// µs that its threads wait, one load after the other, however much an SM could do meanwhile.
double reduction_wait_us(const ReductionShape&);

/// The greatest power of two that is not above `x`, at least 1: ATen's last_pow2, in whose steps its kernels choose
/// their blocks.
double last_power_of_two(double x);

}  // namespace perfc
