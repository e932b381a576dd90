// RUN: perfc opt %s --passes=rebatch,eliminate-dead --batch=8 --verify-each
// A grid that a program computes from no sample, every pixel one of its samples (torchvision's RAFT).
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(1, 1, 4, 4), float32]) {
  %1 = weight : Tensor[(1, 1, 7, 7), float32];
  %2 = weight : Tensor[(1, 2, 4, 4), float32];
  %3 = transpose(%2, perm=[0, 2, 3, 1]);
  %4 = const[16, 1, 1, 2] : Tensor[(4,), int64];
  %5 = reshape(%3, %4);
  %6 = weight : Tensor[(1, 7, 7, 2), float32];
  %7 = add(%5, %6);
  %8 = const[16, 1, 1, 1] : Tensor[(4,), int64];
  %9 = reshape(%x, %8);
  %10 = image.grid_sample(%9, %7, mode="linear", padding_mode="zeros");
  (%10)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(8, 1, 4, 4), float32]) -> (Tensor[(128, 1, 7, 7), float32]) {
//   %1 = weight : Tensor[(1, 2, 4, 4), float32];
//   %2 = transpose(%1, perm=[0, 2, 3, 1]) : Tensor[(1, 4, 4, 2), float32];
//   %3 = const[8, 4, 4, 2] : Tensor[(4,), int64];
//   %4 = broadcast_to(%2, %3) : Tensor[(8, 4, 4, 2), float32];
//   %5 = const[128, 1, 1, 2] : Tensor[(4,), int64];
//   %6 = reshape(%4, %5) : Tensor[(128, 1, 1, 2), float32];
//   %7 = weight : Tensor[(1, 7, 7, 2), float32];
//   %8 = add(%6, %7) : Tensor[(128, 7, 7, 2), float32];
//   %9 = const[128, 1, 1, 1] : Tensor[(4,), int64];
//   %10 = reshape(%x, %9) : Tensor[(128, 1, 1, 1), float32];
//   %11 = image.grid_sample(%10, %8, mode="linear", padding_mode="zeros") : Tensor[(128, 1, 7, 7), float32];
//   (%11)
// }
// ---- stderr
// ---- exit 0
