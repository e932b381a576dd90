// RUN: perfc opt %s --passes=bind-shapes --dim=N=4 --dim=H=7 --verify-each
// Names are bound everywhere, region signatures included.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(N, 3, H), float32], %c: Tensor[(), bool]) {
  %2 = nn.relu(%x);
  %3 = if(%c, %2, captures=1) {
    fn @yes(%v: Tensor[(N, 3, H), float32]) { %1 = exp(%v); (%1) }
    fn @no(%v: Tensor[(N, 3, H), float32]) { (%v) }
  };
  (%3)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(4, 3, 7), float32], %c: Tensor[(), bool]) -> (Tensor[(4, 3, 7), float32]) {
//   %2 = nn.relu(%x) : Tensor[(4, 3, 7), float32];
//   %3 = if(%c, %2, captures=1) : Tensor[(4, 3, 7), float32] {
//     fn @yes(%v: Tensor[(4, 3, 7), float32]) -> (Tensor[(4, 3, 7), float32]) {
//       %1 = exp(%v) : Tensor[(4, 3, 7), float32];
//       (%1)
//     }
//     fn @no(%v: Tensor[(4, 3, 7), float32]) -> (Tensor[(4, 3, 7), float32]) {
//       (%v)
//     }
//   };
//   (%3)
// }
// ---- stderr
// ---- exit 0
