// RUN: perfc opt %s --passes=rebatch,eliminate-dead --batch=8 --verify-each
// DeBERTa repeats its relative positions for each sample (torch.Tensor.repeat): for eight by the one call.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(2, 4, 32, 16), float32]) {
  %1 = weight : Tensor[(4, 256, 16), float32] @positions;
  %2 = const[2, 1, 1] : Tensor[(3,), int64];
  %3 = tile(%1, %2);
  %4 = transpose(%3, perm=[0, 2, 1]);
  %5 = const[8, 32, 16] : Tensor[(3,), int64];
  %6 = reshape(%x, %5);
  %7 = nn.batch_matmul(%6, %4);
  (%7)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(8, 4, 32, 16), float32]) -> (Tensor[(32, 32, 256), float32]) {
//   %1 = weight : Tensor[(4, 256, 16), float32] @positions;
//   %2 = const[8, 1, 1] : Tensor[(3,), int64];
//   %3 = tile(%1, %2) : Tensor[(32, 256, 16), float32];
//   %4 = transpose(%3, perm=[0, 2, 1]) : Tensor[(32, 16, 256), float32];
//   %5 = const[32, 32, 16] : Tensor[(3,), int64];
//   %6 = reshape(%x, %5) : Tensor[(32, 32, 16), float32];
//   %7 = nn.batch_matmul(%6, %4) : Tensor[(32, 32, 256), float32];
//   (%7)
// }
// ---- stderr
// ---- exit 0
