// RUN: perfc opt %s --passes=rebatch --batch=32 --verify-each
// The target of a reshape holds the batch as a number.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(1, 8, 4, 4), float32]) {
  %1 = weight : Tensor[(16, 8, 3, 3), float32];
  %2 = nn.conv2d(%x, %1, padding=[1, 1, 1, 1]);
  %3 = const[1, 256] : Tensor[(2,), int64];
  %4 = reshape(%2, %3);
  (%4)
}
