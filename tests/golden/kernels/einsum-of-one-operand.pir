// RUN: perfc predict %s --emit=kernels --dtype fp32 --predictor whitebox --device a100-40gb
// COLUMNS: operators,kind,bytes,macs
// A trace, and what only copies: products of which there is one factor.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(64, 64), float32], %s: Tensor[(), float32]) {
  %1 = einsum(%x, equation="ii->") : Tensor[(), float32];
  %2 = einsum(%s, equation="->") : Tensor[(), float32];
  %3 = add(%1, %2) : Tensor[(), float32];
  (%3)
}
// ---- stdout
// ---- stderr
// einsum-of-one-operand.pir:6:3: error: values are numbered in order: %2 is next, not %1
// ---- exit 1
