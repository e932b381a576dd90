// The product itself. Included by one source per instruction set; each renames
// Eigen's namespace first, so that the linker cannot merge one set's inline
// functions with another's. Only raw pointers cross.
//   PERFC_GEMM_KERNEL: name of the function; PERFC_GEMM_SCALAR: its number type
#define EIGEN_DONT_PARALLELIZE
#define EIGEN_NO_DEBUG
#include <Eigen/Core>

#include "gnn/gemm_kernel.h"

namespace perfc {

void PERFC_GEMM_KERNEL(const GemmArguments<PERFC_GEMM_SCALAR>& g) {
  using Dense = Eigen::Matrix<PERFC_GEMM_SCALAR, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Stride = Eigen::OuterStride<>;
  using In = Eigen::Map<const Dense, Eigen::Unaligned, Stride>;
  const In a(g.a, g.a_transposed ? g.inner : g.rows, g.a_transposed ? g.rows : g.inner, Stride(g.a_stride));
  const In b(g.b, g.b_transposed ? g.columns : g.inner, g.b_transposed ? g.inner : g.columns, Stride(g.b_stride));
  Eigen::Map<Dense, Eigen::Unaligned, Stride> c(g.c, g.rows, g.columns, Stride(g.c_stride));
  if (!g.add) c.setZero();
  if (g.a_transposed && g.b_transposed) c.noalias() += a.transpose() * b.transpose();
  else if (g.a_transposed) c.noalias() += a.transpose() * b;
  else if (g.b_transposed) c.noalias() += a * b.transpose();
  else c.noalias() += a * b;
}

}  // namespace perfc
