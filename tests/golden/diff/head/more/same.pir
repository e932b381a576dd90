#[version = "perfc-ir/1"]
def @main(%x: Tensor[(N, 1024), float32]) -> (y: Tensor[(N, 1024), float32]) {
  %1 = weight : Tensor[(1024, 1024), float32];
  %2 = nn.dense(%x, %1) : Tensor[(N, 1024), float32] @"renamed0";
  %3 = weight : Tensor[(1024, 1024), float32];
  %4 = nn.dense(%2, %3) : Tensor[(N, 1024), float32] @"renamed1";
  (%4)
}
