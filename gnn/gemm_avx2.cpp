#define Eigen EigenFor_avx2
#define PERFC_GEMM_KERNEL gemm_avx2
#define PERFC_GEMM_SCALAR float
#include "gnn/gemm_kernel.inc.h"
