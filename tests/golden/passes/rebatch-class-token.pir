// RUN: perfc opt %s --passes=rebatch --batch=2 --verify-each
// A token made for one sample is repeated where samples meet it.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(1, 196, 8), float32]) {
  %1 = weight : Tensor[(1, 1, 8), float32] @cls_token;
  %2 = concatenate(%1, %x, axis=1) @tokens;
  (%2)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(2, 196, 8), float32]) -> (Tensor[(2, 197, 8), float32]) {
//   %1 = weight : Tensor[(1, 1, 8), float32] @cls_token;
//   %2 = const[2, 1, 8] : Tensor[(3,), int64];
//   %3 = broadcast_to(%1, %2) : Tensor[(2, 1, 8), float32] @tokens;
//   %4 = concatenate(%3, %x, axis=1) : Tensor[(2, 197, 8), float32] @tokens;
//   (%4)
// }
// ---- stderr
// ---- exit 0
