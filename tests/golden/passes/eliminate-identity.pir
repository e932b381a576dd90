// RUN: perfc opt %s --passes=eliminate-identity,eliminate-dead --verify-each
// What returns its operand goes; what only looks like it stays.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(2, 3), float32]) {
  %1 = copy(%x);
  %2 = nn.dropout(%1);
  %3 = cast(%2, to="float32");
  %4 = const[2, 3] : Tensor[(2,), int64];
  %5 = reshape(%3, %4);
  %6 = transpose(%5, perm=[0, 1]);
  %7 = const[0.0] : Tensor[(), float32];
  %8 = add(%6, %7);
  %9 = transpose(%8, perm=[1, 0]) @stays;
  %10 = cast(%9, to="float16") @stays_too;
  (%10)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(2, 3), float32]) -> (Tensor[(3, 2), float16]) {
//   %1 = transpose(%x, perm=[1, 0]) : Tensor[(3, 2), float32] @stays;
//   %2 = cast(%1, to="float16") : Tensor[(3, 2), float16] @stays_too;
//   (%2)
// }
// ---- stderr
// ---- exit 0
