// RUN: perfc import %s
// Regions are closed: what they use from outside comes in through their last params.
#[version = "perfc-ir/1"]
def @choose(%condition: Tensor[(), bool], %x: Tensor[(2, 3), float32]) -> (y: Tensor[(2, ?), float32]) {
  %2 = if(%condition, %x, captures=1) @choice {
    fn @yes(%x: Tensor[(2, 3), float32]) {
      %1 = nn.relu(%x);
      (%1)
    }
    fn @no(%x: Tensor[(2, 3), float32]) {
      %1 = const[2, 1, 3, 1] : Tensor[(4,), int64];
      %2 = reshape(%x, %1);
      %3 = const[2, 2] : Tensor[(2,), int64];
      %4 = const[1.0] : Tensor[(), float32];
      %5 = broadcast_to(%4, %3);
      (%5)
    }
  };
  (%2)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @choose(%condition: Tensor[(), bool], %x: Tensor[(2, 3), float32]) -> (y: Tensor[(2, ?), float32]) {
//   %2 = if(%condition, %x, captures=1) : Tensor[(2, ?), float32] @choice {
//     fn @yes(%x: Tensor[(2, 3), float32]) -> (Tensor[(2, 3), float32]) {
//       %1 = nn.relu(%x) : Tensor[(2, 3), float32];
//       (%1)
//     }
//     fn @no(%x: Tensor[(2, 3), float32]) -> (Tensor[(2, 2), float32]) {
//       %1 = const[2, 1, 3, 1] : Tensor[(4,), int64];
//       %2 = reshape(%x, %1) : Tensor[(2, 1, 3, 1), float32];
//       %3 = const[2, 2] : Tensor[(2,), int64];
//       %4 = const[1.0] : Tensor[(), float32];
//       %5 = broadcast_to(%4, %3) : Tensor[(2, 2), float32];
//       (%5)
//     }
//   };
//   (%2)
// }
// ---- stderr
// ---- exit 0
