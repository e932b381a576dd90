// RUN: perfc opt %s --passes=rebatch --batch=4 --verify-each
// (L, N, E) models merge batch and heads: (L, N·H, hd), and batch and tokens: (L·N, E).
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(1, 50, 64), float32]) {
  %1 = transpose(%x, perm=[1, 0, 2]);
  %2 = const[50, 8, 8] : Tensor[(3,), int64];
  %3 = reshape(%1, %2) @heads;
  %4 = const[50, 64] : Tensor[(2,), int64];
  %5 = reshape(%3, %4) @tokens;
  %6 = weight : Tensor[(64, 64), float32];
  %7 = nn.dense(%5, %6) @projection;
  %8 = const[50, 1, 64] : Tensor[(3,), int64];
  %9 = reshape(%7, %8);
  %10 = transpose(%9, perm=[1, 0, 2]);
  (%10)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(4, 50, 64), float32]) -> (Tensor[(4, 50, 64), float32]) {
//   %1 = transpose(%x, perm=[1, 0, 2]) : Tensor[(50, 4, 64), float32];
//   %2 = const[50, 8, 8] : Tensor[(3,), int64];
//   %3 = const[50, 32, 8] : Tensor[(3,), int64];
//   %4 = reshape(%1, %3) : Tensor[(50, 32, 8), float32] @heads;
//   %5 = const[50, 64] : Tensor[(2,), int64];
//   %6 = const[200, 64] : Tensor[(2,), int64];
//   %7 = reshape(%4, %6) : Tensor[(200, 64), float32] @tokens;
//   %8 = weight : Tensor[(64, 64), float32];
//   %9 = nn.dense(%7, %8) : Tensor[(200, 64), float32] @projection;
//   %10 = const[50, 1, 64] : Tensor[(3,), int64];
//   %11 = const[50, 4, 64] : Tensor[(3,), int64];
//   %12 = reshape(%9, %11) : Tensor[(50, 4, 64), float32];
//   %13 = transpose(%12, perm=[1, 0, 2]) : Tensor[(4, 50, 64), float32];
//   (%13)
// }
// ---- stderr
// ---- exit 0
