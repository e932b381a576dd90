// RUN: perfc predict %s --emit=kernels --mode eager --dtype fp32 --predictor whitebox --device a100-40gb
// RUN: perfc predict %s --emit=kernels --mode compiled --dtype fp32 --predictor whitebox --device a100-40gb
// COLUMNS: node,operators,bytes,m,n,k,products
// Talking heads (cait): products over the heads before and after the softmax, so that nothing is fused attention; what
// they permute is copied for the next product, compiled, too.
#[version = "perfc-ir/1"]
def @main(%q: Tensor[(2, 4, 49, 16), float32], %k: Tensor[(2, 4, 49, 16), float32], %v: Tensor[(2, 4, 49, 16), float32]) {
  %3 = transpose(%k, perm=[0, 1, 3, 2]) @transpose;
  %4 = nn.batch_matmul(%q, %3) @scores;
  %5 = transpose(%4, perm=[0, 2, 3, 1]) @permute;
  %6 = weight : Tensor[(4, 4), float32];
  %7 = nn.dense(%5, %6, transB=1) @before;
  %8 = transpose(%7, perm=[0, 3, 1, 2]) @permute;
  %9 = nn.softmax(%8, axis=-1) @softmax;
  %10 = transpose(%9, perm=[0, 2, 3, 1]) @permute;
  %11 = weight : Tensor[(4, 4), float32];
  %12 = nn.dense(%10, %11, transB=1) @after;
  %13 = transpose(%12, perm=[0, 3, 1, 2]) @permute;
  %14 = nn.batch_matmul(%13, %v) @values;
  (%14)
}
// ---- perfc predict %s --emit=kernels --mode eager --dtype fp32 --predictor whitebox --device a100-40gb
// ---- stdout
// scores nn.batch_matmul 127008 49 49 16 8
// before copy 153664 4802 4 1 1
// before nn.dense 153728 4802 4 4 1
// softmax copy 153664 392 49 1 1
// softmax nn.softmax 153664 392 49 1 1
// after copy 153664 4802 4 1 1
// after nn.dense 153728 4802 4 4 1
// values copy 153664 392 49 1 1
// values nn.batch_matmul 127008 49 16 49 8
// ---- stderr
// ---- exit 0
// ---- perfc predict %s --emit=kernels --mode compiled --dtype fp32 --predictor whitebox --device a100-40gb
// ---- stdout
// scores nn.batch_matmul 127008 49 49 16 8
// before copy 153664 4802 4 1 1
// before nn.dense 153728 4802 4 4 1
// softmax nn.softmax 153664 392 49 1 1
// after copy 153664 4802 4 1 1
// after nn.dense 153728 4802 4 4 1
// values copy 153664 392 49 1 1
// values nn.batch_matmul 127008 49 16 49 8
// ---- stderr
// ---- exit 0
