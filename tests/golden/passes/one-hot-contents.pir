// RUN: perfc opt %s --passes=fold-constants,eliminate-dead --verify-each
// Repeats of a tile, as PyTorch's first ONNX exporter writes repeat_interleave: ones, and the repeats at one axis.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(4, 1, 8), float32]) {
  %1 = const[-2] : Tensor[(1,), int64];
  %2 = const[3] : Tensor[(), int64];
  %3 = const[1, 5] : Tensor[(2,), int64];
  %4 = one_hot(%1, %2, %3);
  %5 = const[-1] : Tensor[(1,), int64];
  %6 = reshape(%4, %5);
  %7 = tile(%x, %6);
  (%7)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(4, 1, 8), float32]) -> (Tensor[(4, 5, 8), float32]) {
//   %1 = const[1, 5, 1] : Tensor[(3,), int64];
//   %2 = tile(%x, %1) : Tensor[(4, 5, 8), float32];
//   (%2)
// }
// ---- stderr
// ---- exit 0
