// RUN: perfc opt %s --passes=rebatch --batch=6 --verify-each
// The file's batch of 4 becomes 6; heads stay with their sample.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(4, 10, 16), float32]) {
  %1 = const[4, 10, 2, 8] : Tensor[(4,), int64];
  %2 = reshape(%x, %1);
  %3 = transpose(%2, perm=[0, 2, 1, 3]);
  %4 = const[8, 10, 8] : Tensor[(3,), int64];
  %5 = reshape(%3, %4);
  (%5)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(6, 10, 16), float32]) -> (Tensor[(12, 10, 8), float32]) {
//   %1 = const[4, 10, 2, 8] : Tensor[(4,), int64];
//   %2 = const[6, 10, 2, 8] : Tensor[(4,), int64];
//   %3 = reshape(%x, %2) : Tensor[(6, 10, 2, 8), float32];
//   %4 = transpose(%3, perm=[0, 2, 1, 3]) : Tensor[(6, 2, 10, 8), float32];
//   %5 = const[8, 10, 8] : Tensor[(3,), int64];
//   %6 = const[12, 10, 8] : Tensor[(3,), int64];
//   %7 = reshape(%4, %6) : Tensor[(12, 10, 8), float32];
//   (%7)
// }
// ---- stderr
// ---- exit 0
