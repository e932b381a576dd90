// RUN: perfc opt %s --passes=rebatch,eliminate-dead --batch=8 --batch-axis x=1 --verify-each
// PyTorch makes one tensor of the first states of all layers, and each layer takes a slice: for eight by the one call.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(20, 2, 40), float32]) {
  %1 = const[2, 2, 64] : Tensor[(3,), int64];
  %2 = full(%1, launched=1, value=const[0.0]: Tensor[(1,), float32]) @zeros;
  %3 = const[1] : Tensor[(1,), int64];
  %4 = const[2] : Tensor[(1,), int64];
  %5 = const[0] : Tensor[(1,), int64];
  %6 = strided_slice(%2, %3, %4, %5);
  %7 = weight : Tensor[(1, 64, 40), float32];
  %8 = weight : Tensor[(1, 64, 64), float32];
  %9:2 = nn.rnn(%x, %7, %8, _, _, %6, hidden_size=64) : (Tensor[(20, 1, 2, 64), float32], Tensor[(1, 2, 64), float32]);
  (%9.0)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(20, 8, 40), float32]) -> (Tensor[(20, 1, 8, 64), float32]) {
//   %1 = const[2, 8, 64] : Tensor[(3,), int64];
//   %2 = full(%1, launched=1, value=const[0.0]: Tensor[(1,), float32]) : Tensor[(2, 8, 64), float32] @zeros;
//   %3 = const[1] : Tensor[(1,), int64];
//   %4 = const[2] : Tensor[(1,), int64];
//   %5 = const[0] : Tensor[(1,), int64];
//   %6 = strided_slice(%2, %3, %4, %5) : Tensor[(1, 8, 64), float32];
//   %7 = weight : Tensor[(1, 64, 40), float32];
//   %8 = weight : Tensor[(1, 64, 64), float32];
//   %9:2 = nn.rnn(%x, %7, %8, _, _, %6, hidden_size=64) : (Tensor[(20, 1, 8, 64), float32], Tensor[(1, 8, 64), float32]);
//   (%9.0)
// }
// ---- stderr
// ---- exit 0
