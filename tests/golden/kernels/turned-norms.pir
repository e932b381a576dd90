// RUN: perfc predict %s --emit=kernels --mode compiled --dtype fp32 --predictor whitebox --device a100-40gb
// COLUMNS: node,operators,kind,m,n
// A norm of what a convolution computes, over its channels, as ConvNeXt has it at a small batch: cuDNN writes channels
// last what lies so, rows are in order, and one kernel of TorchInductor's does it.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(2, 160, 14, 14), float32]) {
  %1 = weight : Tensor[(160, 1, 7, 7), float32];
  %2 = weight : Tensor[(160), float32];
  %3 = weight : Tensor[(640, 160, 1, 1), float32];
  %4 = nn.conv2d(%x, %1, groups=160, padding=[3, 3, 3, 3]) @"depthwise";
  %5 = transpose(%4, perm=[0, 2, 3, 1]);
  %6 = nn.layer_norm(%5, %2, %2) @"norm";
  %7 = transpose(%6, perm=[0, 3, 1, 2]);
  %8 = nn.conv2d(%7, %3) @"expand";
  (%8)
}
// ---- stdout
// depthwise copy vector 4480 14
// depthwise nn.conv2d depthwise 392 1
// norm nn.layer_norm vector 392 160
// expand nn.conv2d convolution 392 640
// expand copy vector 17920 14
// ---- stderr
// ---- exit 0
