// RUN: perfc predict %s --emit=kernels --dtype amp --task train --predictor whitebox --device h200
// RUN: perfc predict %s --emit=kernels --dtype bf16 --task train --optimizer momentum --predictor whitebox --device h200
// COLUMNS: node,operators,width,bytes
// Autocast casts weights and biases there and their gradients back; a batch norm counts its batches; a layer norm's
// parameters have a kernel of their own; a bias' gradient is a sum; the optimizer takes all weights at once, pass by pass.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(8, 3, 16, 16), float32]) {
  %1 = weight : Tensor[(32, 3, 4, 4), float32] @"conv.weight";
  %2 = nn.conv2d(%x, %1, strides=[4, 4]) @conv;
  %3 = weight : Tensor[(32,), float32] @"bn.weight";
  %4 = weight : Tensor[(32,), float32] @"bn.bias";
  %5 = weight : Tensor[(32,), float32];
  %6 = weight : Tensor[(32,), float32];
  %7 = nn.batch_norm(%2, %3, %4, %5, %6) @bn;
  %8 = const[8, 512] : Tensor[(2,), int64];
  %9 = reshape(%7, %8) : Tensor[(8, 512), float32] @flat;
  %10 = weight : Tensor[(512,), float32] @"norm.weight";
  %11 = weight : Tensor[(512,), float32] @"norm.bias";
  %12 = nn.layer_norm(%9, %10, %11, axis=-1, epsilon=1e-05) @norm;
  %13 = weight : Tensor[(512, 1000), float32] @"fc.weight";
  %14 = nn.dense(%12, %13) @fc;
  %15 = weight : Tensor[(1000,), float32] @"fc.bias";
  %16 = nn.bias_add(%14, %15, axis=-1) @bias;
  (%16)
}
// ---- perfc predict %s --emit=kernels --dtype amp --task train --predictor whitebox --device h200
// ---- stdout
// conv cast 32 9216
// conv cast 32 36864
// conv nn.conv2d 16 23552
// bn nn.batch_norm 16 25344
// norm cast 32 24576
// norm nn.layer_norm 32 36864
// bias cast 32 6000
// fc cast 32 3072000
// fc cast 32 24576
// fc nn.dense 16 1048192
// fc nn.dense 16 1048192
// fc nn.dense 16 1048192
// fc cast 32 24576
// fc cast 32 3072000
// bias cast 32 6000
// norm nn.layer_norm 32 55296
// norm nn.layer_norm 32 32768
// norm cast 32 24576
// bn nn.batch_norm 16 42240
// bn add 32 16
// conv nn.conv2d 16 23552
// conv cast 32 9216
// bias sum_axes 16 18000
// fc.bias add 32 6187488
// fc.bias add 32 4124992
// fc.bias add 32 6187488
// fc.bias add 32 4124992
// fc.bias add 32 4124992
// fc.bias add 32 4124992
// fc.bias add 32 8249984
// ---- stderr
// ---- exit 0
// ---- perfc predict %s --emit=kernels --dtype bf16 --task train --optimizer momentum --predictor whitebox --device h200
// ---- stdout
// conv nn.conv2d 16 23552
// bn nn.batch_norm 16 24960
// norm nn.layer_norm 16 18432
// fc nn.dense 16 1048192
// fc nn.dense 16 1048192
// fc nn.dense 16 1048192
// norm nn.layer_norm 16 27648
// norm nn.layer_norm 16 16384
// bn nn.batch_norm 16 41600
// bn add 32 16
// conv nn.conv2d 16 23552
// bias sum_axes 16 18000
// fc.bias add 16 2062496
// fc.bias add 16 3093744
// fc.bias add 16 3093744
// ---- stderr
// ---- exit 0
