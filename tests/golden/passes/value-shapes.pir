// RUN: perfc opt %s --value sizes=3,5
// RUN: perfc opt %s --value sizes=3,5 --dim n=3
// RUN: perfc opt %s --batch 4 --value sizes=3,5 --value flags=true --batch-axis sizes=none
// Shapes follow from what inputs hold; a vector of open length has as many entries as were given.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(2, 6), float32], %sizes: Tensor[(n,), int64], %flags: Tensor[(2,), bool]) -> (y: Tensor[(?, ?), float32], z: Tensor[(2,), bool]) {
  %3 = const[0.0] : Tensor[(), float32];
  %4 = broadcast_to(%3, %sizes) @zeros;
  %5 = logical_not(%flags);
  (%4, %5)
}
// ---- perfc opt %s --value sizes=3,5
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(2, 6), float32], %sizes: Tensor[(2,), int64] = [3, 5], %flags: Tensor[(2,), bool]) -> (y: Tensor[(3, 5), float32], z: Tensor[(2,), bool]) {
//   %3 = const[0.0] : Tensor[(), float32];
//   %4 = broadcast_to(%3, %sizes) : Tensor[(3, 5), float32] @zeros;
//   %5 = logical_not(%flags) : Tensor[(2,), bool];
//   (%4, %5)
// }
// ---- stderr
// ---- exit 0
// ---- perfc opt %s --value sizes=3,5 --dim n=3
// ---- stdout
// ---- stderr
// value-shapes.pir: error: dim 'n' cannot be both 3 (--dim n=3) and 2 (--value sizes of 2 numbers)
// ---- exit 1
// ---- perfc opt %s --batch 4 --value sizes=3,5 --value flags=true --batch-axis sizes=none
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(4, 6), float32], %sizes: Tensor[(2,), int64] = [3, 5], %flags: Tensor[(4,), bool] = [1, 1, 1, 1]) -> (y: Tensor[(3, 5), float32], z: Tensor[(4,), bool]) {
//   %3 = const[0.0] : Tensor[(), float32];
//   %4 = broadcast_to(%3, %sizes) : Tensor[(3, 5), float32] @zeros;
//   %5 = const[0, 0, 0, 0] : Tensor[(4,), bool];
//   (%4, %5)
// }
// ---- stderr
// ---- exit 0
