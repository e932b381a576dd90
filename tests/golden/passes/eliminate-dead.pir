// RUN: perfc opt %s --passes=eliminate-dead --verify-each
// Params stay, in number and order.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(2,), float32], %unused: Tensor[(3,), float32]) {
  %2 = weight : Tensor[(2,), float32] @unused_weight;
  %3 = exp(%x) @dead;
  %4 = log(%x) @alive;
  (%4)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(2,), float32], %unused: Tensor[(3,), float32]) -> (Tensor[(2,), float32]) {
//   %2 = log(%x) : Tensor[(2,), float32] @alive;
//   (%2)
// }
// ---- stderr
// ---- exit 0
