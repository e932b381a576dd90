// RUN: perfc opt %s --passes=simplify-control-flow,eliminate-dead --verify-each
// The branch that is taken is inlined; an open condition stays.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(2,), float32], %c: Tensor[(), bool]) {
  %2 = const[1] : Tensor[(), bool];
  %3 = if(%2, %x, captures=1) {
    fn @yes(%v: Tensor[(2,), float32]) { %1 = exp(%v) @taken; (%1) }
    fn @no(%v: Tensor[(2,), float32]) { %1 = log(%v); (%1) }
  };
  %4 = if(%c, %3, captures=1) {
    fn @yes(%v: Tensor[(2,), float32]) { %1 = exp(%v); (%1) }
    fn @no(%v: Tensor[(2,), float32]) { %1 = log(%v); (%1) }
  };
  (%4)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(2,), float32], %c: Tensor[(), bool]) -> (Tensor[(2,), float32]) {
//   %2 = exp(%x) : Tensor[(2,), float32] @taken;
//   %3 = if(%c, %2, captures=1) : Tensor[(2,), float32] {
//     fn @yes(%v: Tensor[(2,), float32]) -> (Tensor[(2,), float32]) {
//       %1 = exp(%v) : Tensor[(2,), float32];
//       (%1)
//     }
//     fn @no(%v: Tensor[(2,), float32]) -> (Tensor[(2,), float32]) {
//       %1 = log(%v) : Tensor[(2,), float32];
//       (%1)
//     }
//   };
//   (%3)
// }
// ---- stderr
// ---- exit 0
