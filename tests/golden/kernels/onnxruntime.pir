// RUN: perfc predict %s --emit=kernels --runtime onnxruntime --predictor whitebox --device a100-40gb
// RUN: perfc predict %s --emit=kernels --runtime tensorrt --predictor whitebox --device a100-40gb
// COLUMNS: operators,bytes
// A post-norm layer in 16 bits, and com.microsoft's attention. Biases are kernels of their own, but for the one that is
// added with the branch before the norm; transposes and slices copy; a GELU is five kernels where it is written out.
// Attention that projects its input is a product, its bias and the order of heads, and one kernel, or where its mask
// has two dims its parts, on any runtime.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(2, 64, 128), float16], %lengths: Tensor[(2,), int32], %mask: Tensor[(2, 64), int32]) {
  %3 = weight : Tensor[(128, 384), float16];
  %4 = weight : Tensor[(384,), float16];
  %5 = nn.fused_attention(%x, %3, %4, %lengths, num_heads=2);
  %6 = nn.fused_attention(%5, %3, %4, %mask, num_heads=2);
  %7 = weight : Tensor[(128, 128), float16];
  %8 = weight : Tensor[(128,), float16];
  %9 = nn.dense(%6, %7);
  %10 = nn.bias_add(%9, %8, axis=-1);
  %11 = add(%10, %x);
  %12 = nn.layer_norm(%11, %8, %8, axis=-1);
  %13 = nn.dense(%12, %7);
  %14 = nn.bias_add(%13, %8, axis=-1);
  %15 = nn.gelu(%14);
  %16 = transpose(%15, perm=[0, 2, 1]);
  %17 = const[2, 8192] : Tensor[(2,), int64];
  %18 = reshape(%16, %17);
  %19 = const[0] : Tensor[(1,), int64];
  %20 = const[4096] : Tensor[(1,), int64];
  %21 = const[1] : Tensor[(1,), int64];
  %22 = strided_slice(%18, %19, %20, %21, %21);
  %23 = nn.gelu(%22, one_operator=1);
  (%23)
}
// ---- perfc predict %s --emit=kernels --runtime onnxruntime --predictor whitebox --device a100-40gb
// ---- stdout
// nn.dense 229376
// nn.bias_add 196608
// nn.fused_attention 131072
// nn.dense 229376
// nn.bias_add 196608
// nn.batch_matmul 98304
// nn.softmax 66048
// nn.batch_matmul 98304
// transpose 65536
// nn.dense 98304
// nn.skip_layer_norm 98816
// nn.dense 98304
// nn.bias_add 65792
// divide 65536
// erf 65536
// add 65536
// multiply 65536
// multiply 98304
// transpose 65536
// strided_slice 32768
// nn.gelu 32768
// ---- stderr
// ---- exit 0
// ---- perfc predict %s --emit=kernels --runtime tensorrt --predictor whitebox --device a100-40gb
// ---- stdout
// nn.dense nn.bias_add 229376
// nn.fused_attention 131072
// nn.dense nn.bias_add 229376
// nn.batch_matmul 98304
// nn.softmax 66048
// nn.batch_matmul 98304
// transpose 65536
// nn.dense 98304
// nn.layer_norm nn.bias_add add 98560
// nn.dense nn.bias_add nn.gelu nn.gelu 98304
// ---- stderr
// ---- exit 0
