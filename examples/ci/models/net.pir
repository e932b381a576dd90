#[version = "perfc-ir/1"]
def @main(%x: Tensor[(N, 3, 112, 112), float32]) -> (features: Tensor[(N, 256, 14, 14), float32]) {
  %1 = weight : Tensor[(64, 3, 3, 3), float32] @"stage0.0.weight";
  %2 = nn.conv2d(%x, %1, padding=[1, 1, 1, 1], strides=[2, 2]) : Tensor[(N, 64, 56, 56), float32] @"stage0.0";
  %3 = nn.relu(%2) : Tensor[(N, 64, 56, 56), float32] @"stage0.0.act";
  %4 = weight : Tensor[(64, 64, 3, 3), float32] @"stage0.1.weight";
  %5 = nn.conv2d(%3, %4, padding=[1, 1, 1, 1], strides=[1, 1]) : Tensor[(N, 64, 56, 56), float32] @"stage0.1";
  %6 = nn.relu(%5) : Tensor[(N, 64, 56, 56), float32] @"stage0.1.act";
  %7 = weight : Tensor[(128, 64, 3, 3), float32] @"stage1.0.weight";
  %8 = nn.conv2d(%6, %7, padding=[1, 1, 1, 1], strides=[2, 2]) : Tensor[(N, 128, 28, 28), float32] @"stage1.0";
  %9 = nn.relu(%8) : Tensor[(N, 128, 28, 28), float32] @"stage1.0.act";
  %10 = weight : Tensor[(128, 128, 3, 3), float32] @"stage1.1.weight";
  %11 = nn.conv2d(%9, %10, padding=[1, 1, 1, 1], strides=[1, 1]) : Tensor[(N, 128, 28, 28), float32] @"stage1.1";
  %12 = nn.relu(%11) : Tensor[(N, 128, 28, 28), float32] @"stage1.1.act";
  %13 = weight : Tensor[(256, 128, 3, 3), float32] @"stage2.0.weight";
  %14 = nn.conv2d(%12, %13, padding=[1, 1, 1, 1], strides=[2, 2]) : Tensor[(N, 256, 14, 14), float32] @"stage2.0";
  %15 = nn.relu(%14) : Tensor[(N, 256, 14, 14), float32] @"stage2.0.act";
  %16 = weight : Tensor[(256, 256, 3, 3), float32] @"stage2.1.weight";
  %17 = nn.conv2d(%15, %16, padding=[1, 1, 1, 1], strides=[1, 1]) : Tensor[(N, 256, 14, 14), float32] @"stage2.1";
  %18 = nn.relu(%17) : Tensor[(N, 256, 14, 14), float32] @"stage2.1.act";
  (%18)
}
