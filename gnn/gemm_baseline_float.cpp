#define PERFC_GEMM_KERNEL gemm_baseline
#define PERFC_GEMM_SCALAR float
#include "gnn/gemm_kernel.inc.h"
