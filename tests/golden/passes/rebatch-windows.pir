// RUN: perfc opt %s --passes=rebatch --batch=2 --verify-each
// Windows merge with the batch, which comes first; a mask per window is repeated.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(1, 8, 8, 16), float32]) {
  %1 = const[1, 2, 4, 2, 4, 16] : Tensor[(6,), int64];
  %2 = reshape(%x, %1);
  %3 = transpose(%2, perm=[0, 1, 3, 2, 4, 5]);
  %4 = const[4, 16, 16] : Tensor[(3,), int64];
  %5 = reshape(%3, %4) @windows;
  %6 = weight : Tensor[(4, 16, 16), float32] @mask;
  %7 = add(%5, %6) @masked;
  %8 = const[1, 4, 16, 16] : Tensor[(4,), int64];
  %9 = reshape(%7, %8);
  (%9)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(2, 8, 8, 16), float32]) -> (Tensor[(2, 4, 16, 16), float32]) {
//   %1 = const[1, 2, 4, 2, 4, 16] : Tensor[(6,), int64];
//   %2 = const[2, 2, 4, 2, 4, 16] : Tensor[(6,), int64];
//   %3 = reshape(%x, %2) : Tensor[(2, 2, 4, 2, 4, 16), float32];
//   %4 = transpose(%3, perm=[0, 1, 3, 2, 4, 5]) : Tensor[(2, 2, 2, 4, 4, 16), float32];
//   %5 = const[4, 16, 16] : Tensor[(3,), int64];
//   %6 = const[8, 16, 16] : Tensor[(3,), int64];
//   %7 = reshape(%4, %6) : Tensor[(8, 16, 16), float32] @windows;
//   %8 = weight : Tensor[(4, 16, 16), float32] @mask;
//   %9 = const[2, 1, 1] : Tensor[(3,), int64];
//   %10 = tile(%8, %9) : Tensor[(8, 16, 16), float32] @masked;
//   %11 = add(%7, %10) : Tensor[(8, 16, 16), float32] @masked;
//   %12 = const[1, 4, 16, 16] : Tensor[(4,), int64];
//   %13 = const[2, 4, 16, 16] : Tensor[(4,), int64];
//   %14 = reshape(%11, %13) : Tensor[(2, 4, 16, 16), float32];
//   (%14)
// }
// ---- stderr
// ---- exit 0
