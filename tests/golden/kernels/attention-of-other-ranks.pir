// RUN: perfc predict %s --emit=kernels --mode eager --dtype fp32 --predictor whitebox --device a100-40gb
// COLUMNS: node,operators,bytes,m,n,k,products
// scaled_dot_product_attention of three and five dims has no fused kernel (sdp_utils.cpp, check_tensor_shapes): PyTorch's
// reference, one kernel per step.
#[version = "perfc-ir/1"]
def @main(%q: Tensor[(8, 64, 32), float32], %k: Tensor[(8, 48, 32), float32], %x: Tensor[(2, 3, 4, 64, 32), float32]) {
  %3 = nn.sdpa(%q, %k, %k) @three_dims;
  %4 = nn.sdpa(%x, %x, %x) @five_dims;
  (%3, %4)
}
// ---- stdout
// three_dims multiply 131072 512 32 1 1
// three_dims multiply 98304 384 32 1 1
// three_dims nn.batch_matmul 212992 64 48 32 8
// three_dims nn.softmax 196608 512 48 1 1
// three_dims equal 122880 512 48 1 1
// three_dims max 24576 512 48 1 1
// three_dims where 196608 512 48 1 1
// three_dims nn.batch_matmul 212992 64 32 48 8
// five_dims multiply 393216 1536 32 1 1
// five_dims multiply 393216 1536 32 1 1
// five_dims nn.batch_matmul 786432 64 64 32 24
// five_dims nn.softmax 786432 1536 64 1 1
// five_dims equal 491520 1536 64 1 1
// five_dims max 98304 1536 64 1 1
// five_dims where 786432 1536 64 1 1
// five_dims nn.batch_matmul 786432 64 32 64 24
// ---- stderr
// ---- exit 0
