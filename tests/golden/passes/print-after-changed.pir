// RUN: perfc opt %s --passes=eliminate-identity,eliminate-identity,eliminate-dead --print-ir-after=changed
// The second run changes nothing and prints nothing.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(2,), float32]) {
  %1 = copy(%x);
  %2 = exp(%1);
  %3 = log(%x);
  (%2)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(2,), float32]) -> (Tensor[(2,), float32]) {
//   %1 = exp(%x) : Tensor[(2,), float32];
//   (%1)
// }
// ---- stderr
// // after eliminate-identity
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(2,), float32]) -> (Tensor[(2,), float32]) {
//   %1 = exp(%x) : Tensor[(2,), float32];
//   %2 = log(%x) : Tensor[(2,), float32];
//   (%1)
// }
// // after eliminate-dead
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(2,), float32]) -> (Tensor[(2,), float32]) {
//   %1 = exp(%x) : Tensor[(2,), float32];
//   (%1)
// }
// ---- exit 0
