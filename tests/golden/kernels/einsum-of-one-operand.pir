// RUN: perfc predict %s --emit=kernels --dtype fp32 --predictor whitebox --device a100-40gb
// COLUMNS: operators,kind,bytes,macs
// A trace, and what only copies: products of which there is one factor.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(64, 64), float32], %y: Tensor[(), float32]) {
  %2 = einsum(%x, equation="ii->") : Tensor[(), float32];
  %3 = einsum(%y, equation="->") : Tensor[(), float32];
  %4 = add(%2, %3) : Tensor[(), float32];
  (%4)
}
// ---- stdout
// einsum matmul 16388 0
// einsum matmul 8 0
// add vector 12 0
// ---- stderr
// ---- exit 0
