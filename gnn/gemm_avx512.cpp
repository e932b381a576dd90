#define PERFC_GEMM_KERNEL gemm_avx512
#define PERFC_GEMM_SCALAR float
#define PERFC_GEMM_BYTES 64
#define PERFC_GEMM_ROWS 8
#include "gnn/gemm_kernel_body.h"
