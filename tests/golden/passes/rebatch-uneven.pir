// RUN: perfc opt %s --passes=rebatch --batch=7 --verify-each
// RUN: perfc opt %s --passes=rebatch --batch=3 --verify-each
// What is stored for the file's four samples is repeated, and cut where the new batch is no multiple.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(4, 6), float32]) -> (y: Tensor[(4, 6), float32]) {
  %1 = weight : Tensor[(4, 6), float32] @stored;
  %2 = add(%x, %1) @sum;
  (%2)
}
// ---- perfc opt %s --passes=rebatch --batch=7 --verify-each
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(7, 6), float32]) -> (y: Tensor[(7, 6), float32]) {
//   %1 = weight : Tensor[(4, 6), float32] @stored;
//   %2 = const[2, 1] : Tensor[(2,), int64];
//   %3 = tile(%1, %2) : Tensor[(8, 6), float32] @sum;
//   %4 = const[0] : Tensor[(1,), int64];
//   %5 = const[7] : Tensor[(1,), int64];
//   %6 = const[0] : Tensor[(1,), int64];
//   %7 = strided_slice(%3, %4, %5, %6) : Tensor[(7, 6), float32] @sum;
//   %8 = add(%x, %7) : Tensor[(7, 6), float32] @sum;
//   (%8)
// }
// ---- stderr
// ---- exit 0
// ---- perfc opt %s --passes=rebatch --batch=3 --verify-each
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(3, 6), float32]) -> (y: Tensor[(3, 6), float32]) {
//   %1 = weight : Tensor[(4, 6), float32] @stored;
//   %2 = const[0] : Tensor[(1,), int64];
//   %3 = const[3] : Tensor[(1,), int64];
//   %4 = const[0] : Tensor[(1,), int64];
//   %5 = strided_slice(%1, %2, %3, %4) : Tensor[(3, 6), float32] @sum;
//   %6 = add(%x, %5) : Tensor[(3, 6), float32] @sum;
//   (%6)
// }
// ---- stderr
// ---- exit 0
