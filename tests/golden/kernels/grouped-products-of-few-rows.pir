// RUN: perfc predict %s --emit=kernels --mode eager --dtype bf16 --predictor whitebox --device h100-sxm
// COLUMNS: node,operators,macs,bytes,m,n,k,products
// torch._grouped_mm of one token with 8 of 128 experts: matrices of groups that no row falls to are not read.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(8, 2048), bfloat16], %ends: Tensor[(128,), int32]) {
  %2 = weight : Tensor[(128, 2048, 1536), bfloat16] @experts;
  %3 = nn.grouped_matmul(%x, %2, %ends) @_grouped_mm;
  (%3)
}
// ---- stdout
// _grouped_mm nn.grouped_matmul 25165824 49034543 1 1536 2048 8
// ---- stderr
// ---- exit 0
