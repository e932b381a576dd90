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
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(32, 8, 4, 4), float32]) -> (Tensor[(32, 256), float32]) {
//   %1 = weight : Tensor[(16, 8, 3, 3), float32];
//   %2 = nn.conv2d(%x, %1, padding=[1, 1, 1, 1]) : Tensor[(32, 16, 4, 4), float32];
//   %3 = const[1, 256] : Tensor[(2,), int64];
//   %4 = const[32, 256] : Tensor[(2,), int64];
//   %5 = reshape(%2, %4) : Tensor[(32, 256), float32];
//   (%5)
// }
// ---- stderr
// ---- exit 0
