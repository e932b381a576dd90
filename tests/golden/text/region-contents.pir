// RUN: perfc import %s
// Known contents of a captured value are part of the region's signature.
#[version = "perfc-ir/1"]
def @f(%condition: Tensor[(), bool], %x: Tensor[(6,), float32]) {
  %2 = const[2, 3] : Tensor[(2,), int64];
  %3 = if(%condition, %x, %2, captures=2) {
    fn @a(%x: Tensor[(6,), float32], %shape: Tensor[(2,), int64] = [2, 3]) {
      %2 = reshape(%x, %shape);
      (%2)
    }
    fn @b(%x: Tensor[(6,), float32], %shape: Tensor[(2,), int64] = [2, ?]) {
      %2 = reshape(%x, %shape);
      (%2)
    }
  };
  (%3)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @f(%condition: Tensor[(), bool], %x: Tensor[(6,), float32]) -> (Tensor[(2, 3), float32]) {
//   %2 = const[2, 3] : Tensor[(2,), int64];
//   %3 = if(%condition, %x, %2, captures=2) : Tensor[(2, 3), float32] {
//     fn @a(%x: Tensor[(6,), float32], %shape: Tensor[(2,), int64] = [2, 3]) -> (Tensor[(2, 3), float32]) {
//       %2 = reshape(%x, %shape) : Tensor[(2, 3), float32];
//       (%2)
//     }
//     fn @b(%x: Tensor[(6,), float32], %shape: Tensor[(2,), int64] = [2, ?]) -> (Tensor[(2, 3), float32]) {
//       %2 = reshape(%x, %shape) : Tensor[(2, 3), float32];
//       (%2)
//     }
//   };
//   (%3)
// }
// ---- stderr
// ---- exit 0
