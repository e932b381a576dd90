// RUN: perfc opt %s --passes=common-subexpressions,eliminate-dead --verify-each
// Equal calls are computed once, but never random ones.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(2, 3), float32]) {
  %1 = exp(%x) @first;
  %2 = exp(%x) @second;
  %3 = add(%1, %2);
  %4 = random.normal_like(%x);
  %5 = random.normal_like(%x);
  %6 = add(%4, %5);
  (%3, %6)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(2, 3), float32]) -> (Tensor[(2, 3), float32], Tensor[(2, 3), float32]) {
//   %1 = exp(%x) : Tensor[(2, 3), float32] @first;
//   %2 = add(%1, %1) : Tensor[(2, 3), float32];
//   %3 = random.normal_like(%x) : Tensor[(2, 3), float32];
//   %4 = random.normal_like(%x) : Tensor[(2, 3), float32];
//   %5 = add(%3, %4) : Tensor[(2, 3), float32];
//   (%2, %5)
// }
// ---- stderr
// ---- exit 0
