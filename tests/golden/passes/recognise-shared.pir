// RUN: perfc opt %s --passes=recognise-patterns --verify-each
// The gate is a result of its own, so the swish stays in two calls.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(2, 8), float32]) {
  %1 = sigmoid(%x);
  %2 = multiply(%x, %1);
  (%2, %1)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(2, 8), float32]) -> (Tensor[(2, 8), float32], Tensor[(2, 8), float32]) {
//   %1 = sigmoid(%x) : Tensor[(2, 8), float32];
//   %2 = multiply(%x, %1) : Tensor[(2, 8), float32];
//   (%2, %1)
// }
// ---- stderr
// ---- exit 0
