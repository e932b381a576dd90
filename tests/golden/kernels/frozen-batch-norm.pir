// RUN: perfc predict %s --emit=kernels --mode eager --dtype fp32 --predictor whitebox --device a100-40gb
// RUN: perfc predict %s --emit=kernels --mode compiled --dtype fp32 --predictor whitebox --device a100-40gb
// COLUMNS: node,operators,bytes,m,n
// torchvision's FrozenBatchNorm2d: eagerly seven kernels, five of them on a row of channels; compiled one pass over the
// convolution's result.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(2, 3, 32, 32), float32]) {
  %1 = weight : Tensor[(16, 3, 3, 3), float32];
  %2 = nn.conv2d(%x, %1) @conv;
  %3 = weight : Tensor[(1, 16, 1, 1), float32] @weight;
  %4 = weight : Tensor[(1, 16, 1, 1), float32] @bias;
  %5 = weight : Tensor[(1, 16, 1, 1), float32] @running_var;
  %6 = weight : Tensor[(1, 16, 1, 1), float32] @running_mean;
  %7 = const[1e-05] : Tensor[(), float32];
  %8 = add(%5, %7, launched=1) @add_eps;
  %9 = rsqrt(%8, launched=1) @rsqrt;
  %10 = multiply(%3, %9, launched=1) @scale;
  %11 = multiply(%6, %10, launched=1) @shift;
  %12 = subtract(%4, %11, launched=1) @shift;
  %13 = multiply(%2, %10) @multiply;
  %14 = add(%13, %12) @add;
  (%14)
}
// ---- perfc predict %s --emit=kernels --mode eager --dtype fp32 --predictor whitebox --device a100-40gb
// ---- stdout
// conv nn.conv2d 141504 1800 16
// add_eps add 132 16 1
// rsqrt rsqrt 128 16 1
// scale multiply 192 16 1
// shift multiply 192 16 1
// shift subtract 192 16 1
// multiply multiply 230464 960 30
// add add 230464 960 30
// ---- stderr
// ---- exit 0
// ---- perfc predict %s --emit=kernels --mode compiled --dtype fp32 --predictor whitebox --device a100-40gb
// ---- stdout
// conv copy 49152 192 32
// conv copy 3456 144 3
// conv nn.conv2d 141504 1800 16
// add nn.bias_add 230464 960 30
// add copy 230400 960 30
// ---- stderr
// ---- exit 0
