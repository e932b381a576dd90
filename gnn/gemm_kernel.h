#pragma once
/// Between gemm.cpp and the kernels: plain data only, see gemm_kernel_body.h.
#include <cstddef>

namespace perfc {

/// C (rows × columns) = or += op(A) op(B), all row-major.
template <class T>
struct GemmArguments {
  std::ptrdiff_t rows, columns, inner;
  const T* a;
  std::ptrdiff_t a_stride;
  bool a_transposed;
  const T* b;
  std::ptrdiff_t b_stride;
  bool b_transposed;
  T* c;
  std::ptrdiff_t c_stride;
  bool add;
  /// If set: C is computed by panels of at most `kGemmPanelRows` rows, all of them at `c`, and each is handed on
  /// before the next overwrites it.
  void (*use_panel)(void* user, std::ptrdiff_t first_row, std::ptrdiff_t rows) = nullptr;
  void* user = nullptr;
};

/// A multiple of every kernel's rows of a tile; with some 1000 columns such a panel fits into an L2 cache.
inline constexpr std::ptrdiff_t kGemmPanelRows = 96;

void gemm_baseline(const GemmArguments<float>&);
void gemm_baseline(const GemmArguments<double>&);
void gemm_avx2(const GemmArguments<float>&);    ///< AVX2 and FMA
void gemm_avx512(const GemmArguments<float>&);  ///< AVX-512 F, DQ, VL, BW

}  // namespace perfc
