#define Eigen EigenFor_avx512
#define PERFC_GEMM_KERNEL gemm_avx512
#define PERFC_GEMM_SCALAR float
#include "gnn/gemm_kernel.inc.h"
