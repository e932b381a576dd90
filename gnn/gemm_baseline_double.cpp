#define PERFC_GEMM_KERNEL gemm_baseline
#define PERFC_GEMM_SCALAR double
#include "gnn/gemm_kernel.inc.h"
