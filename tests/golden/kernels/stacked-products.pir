// RUN: perfc predict %s --emit=kernels --mode eager --dtype fp16 --predictor whitebox --device a100-40gb
// RUN: perfc predict %s --emit=kernels --mode eager --dtype amp --predictor whitebox --device a100-40gb
// COLUMNS: node,operators,width,m,n,k,products
// torch.nn.functional.linear of data that is no matrix of rows as it lies: torch.matmul copies it where the weight wants
// a gradient; a weight that autocast casts wants none, and the product is one for each matrix. A slice that is cast is
// dense afterwards, so that its bias is added within the product.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(8, 32, 64), float32]) {
  %1 = weight : Tensor[(48, 32), float32];
  %2 = weight : Tensor[(48), float32];
  %3 = transpose(%x, perm=[0, 2, 1]);
  %4 = nn.dense(%3, %1, transB=1) @"transposed";
  %5 = nn.bias_add(%4, %2, axis=2) @"its bias";
  %6 = const[0] : Tensor[(1,), int64];
  %7 = const[32] : Tensor[(1,), int64];
  %8 = const[2] : Tensor[(1,), int64];
  %9 = strided_slice(%x, %6, %7, %8);
  %10 = nn.dense(%9, %1, transB=1) @"sliced";
  %11 = nn.bias_add(%10, %2, axis=2) @"bias of the slice";
  (%5, %11)
}
// ---- perfc predict %s --emit=kernels --mode eager --dtype fp16 --predictor whitebox --device a100-40gb
// ---- stdout
// transposed copy 32 512 32 1 1
// transposed nn.dense 16 512 48 32 1
// its bias nn.bias_add 16 512 48 1 1
// sliced nn.dense 16 256 48 32 1
// bias of the slice nn.bias_add 16 256 48 1 1
// ---- stderr
// ---- exit 0
// ---- perfc predict %s --emit=kernels --mode eager --dtype amp --predictor whitebox --device a100-40gb
// ---- stdout
// its bias cast 32 48 1 1 1
// transposed cast 32 1536 1 1 1
// transposed cast 32 512 32 1 1
// transposed nn.dense 16 64 48 32 8
// its bias nn.bias_add 16 512 48 1 1
// bias of the slice cast 32 48 1 1 1
// sliced cast 32 1536 1 1 1
// sliced cast 32 256 32 1 1
// sliced nn.dense 16 256 48 32 1
// ---- stderr
// ---- exit 0
