// RUN: perfc opt %s --passes=fold-constants,eliminate-dead --verify-each
// Shape arithmetic becomes a constant.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(2, 3, 4), float32]) {
  %1 = shape_of(%x);
  %2 = const[0] : Tensor[(1,), int64];
  %3 = take(%1, %2, axis=0);
  %4 = const[-1] : Tensor[(1,), int64];
  %5 = concatenate(%3, %4, axis=0);
  %6 = reshape(%x, %5) @flat;
  (%6)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(2, 3, 4), float32]) -> (Tensor[(2, 12), float32]) {
//   %1 = const[2, -1] : Tensor[(2,), int64];
//   %2 = reshape(%x, %1) : Tensor[(2, 12), float32] @flat;
//   (%2)
// }
// ---- stderr
// ---- exit 0
