#define PERFC_GEMM_KERNEL gemm_baseline
#define PERFC_GEMM_SCALAR double
#define PERFC_GEMM_BYTES 16
#define PERFC_GEMM_ROWS 6
#include "gnn/gemm_kernel_body.h"
