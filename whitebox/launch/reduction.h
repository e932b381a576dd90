#pragma once
/// How PyTorch's reductions share their work out: aten/src/ATen/native/cuda/Reduce.cuh, setReduceConfig, in short (a
/// row has a warp or a block, no device is asked for its SMs). All of its rules give the 396 grids and blocks of an
/// H200's means and sums; these give the loads of a thread in 364 of them (studies/hopper/fit_elements.py).
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
