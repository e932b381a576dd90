#[version = "perfc-ir/1"]
def @main(%x: Tensor[(N, 64, 56, 56), float32]) -> (y: Tensor[(N, 64, 56, 56), float32]) {
  %1 = weight : Tensor[(64, 64, 3, 3), float32] @"stem.weight";
  %2 = nn.conv2d(%x, %1, padding=[1, 1, 1, 1]) : Tensor[(N, 64, 56, 56), float32] @"stem";
  %3 = nn.rleu(%2) : Tensor[(N, 64, 56, 56), float32] @"stem.act";
  %4 = weight : Tensor[(64, 64, 3, 3), float32] @"body.weight";
  %5 = nn.conv2d(%3, %4, padding=[1, 1, 1, 1]) : Tensor[(N, 64, 56, 56), float32] @"body";
  %6 = nn.rleu(%5) : Tensor[(N, 64, 56, 56), float32] @"body.act";
  (%6)
}
