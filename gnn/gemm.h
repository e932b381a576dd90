#pragma once
/// Matrix products: the one function that all learning time is spent in.
///
/// One kernel, compiled once per instruction set (gemm_kernel_body.h) and chosen
/// when the program starts to multiply; measured beside OpenBLAS in docs/gnn.md.
/// Another library would replace `gemm` in gemm.cpp and nothing else.
#include <functional>
#include <span>

#include "gnn/matrix.h"
#include "gnn/threads.h"

namespace perfc {

enum class Transpose : unsigned char { No, Yes };
enum class Store : unsigned char { Replace, Add };

/// C (rows × columns) = or += op(A) op(B); `inner` is the extent summed over. Leading
/// dimensions are the distance between rows as stored.
struct GemmShape {
  std::size_t rows = 0, columns = 0, inner = 0;
  std::size_t a_stride = 0, b_stride = 0, c_stride = 0;
  Transpose a = Transpose::No, b = Transpose::No;
  Store store = Store::Replace;
};
void gemm(const GemmShape&, const float* a, const float* b, float* c);
void gemm(const GemmShape&, const double* a, const double* b, double* c);
/// The same, cut among the threads: by columns of C where those are more than its rows.
template <class T>
void gemm(ThreadPool&, const GemmShape&, const T* a, const T* b, T* c);

/// "avx512", "avx2" or "baseline": what gemm runs in float.
const char* gemm_kernel_name();

/// C = or += op(A) op(B), cut among the threads. Resizes C unless adding.
template <class T>
void multiply(ThreadPool&, const Matrix<T>& a, Transpose, const Matrix<T>& b, Transpose, Matrix<T>& c,
              Store = Store::Replace);

/// op(A) op(B) for a reader that wants it while it is in the cache: calls use(first row, numbers of whole rows) for
/// one panel after the other, by several threads at a time. The numbers may be changed, and are gone after the call;
/// they are, bit for bit, those of `multiply`.
template <class T>
void multiply_by_panels(ThreadPool&, const Matrix<T>& a, Transpose, const Matrix<T>& b, Transpose,
                        const std::function<void(std::size_t, std::span<T>)>& use);

}  // namespace perfc
