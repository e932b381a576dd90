// RUN: perfc predict %s --emit=kernels --mode eager --dtype fp32 --predictor whitebox --device a100-40gb
// COLUMNS: node,operators,bytes,m,n,k
// Positions that a module holds, repeated for each image and read by a layer (convit): eager PyTorch copies them in every
// run, for rows that lie over one another are no matrix (aten/src/ATen/native/Linear.cpp).
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(2, 49, 4), float32]) {
  %1 = weight : Tensor[(1, 49, 3), float32];
  %2 = const[2, 49, 3] : Tensor[(3,), int64];
  %3 = broadcast_to(%1, %2) @"expand";
  %4 = weight : Tensor[(4, 3), float32];
  %5 = nn.dense(%3, %4, transB=1) @"positions";
  %6 = add(%x, %5) @"sum";
  (%6)
}
// ---- stdout
// positions copy 2352 98 3 1
// positions nn.dense 2792 98 4 3
// sum add 4704 98 4 1
// ---- stderr
// ---- exit 0
