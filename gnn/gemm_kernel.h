#pragma once
/// Between gemm.cpp and the kernels: plain data only, see gemm_kernel.inc.h.
#include <cstddef>

namespace perfc {

/// C (rows × columns) = or += op(A) op(B), all row-major.
template <class T>
struct GemmArguments {
  std::ptrdiff_t rows, columns, inner;
  const T* a; std::ptrdiff_t a_stride; bool a_transposed;
  const T* b; std::ptrdiff_t b_stride; bool b_transposed;
  T* c; std::ptrdiff_t c_stride; bool add;
};

void gemm_baseline(const GemmArguments<float>&);
void gemm_baseline(const GemmArguments<double>&);
void gemm_avx2(const GemmArguments<float>&);    ///< AVX2 and FMA
void gemm_avx512(const GemmArguments<float>&);  ///< AVX-512 F, DQ, VL, BW

}  // namespace perfc
