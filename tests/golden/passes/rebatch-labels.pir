// RUN: perfc opt %s --passes=rebatch,eliminate-dead --batch=8 --batch-axis x=1 --verify-each
// Positions that were expanded for two samples, normalised and multiplied with weights before they meet the samples by
// the label b (XLNet): they are expanded for eight, not repeated behind the products.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(32, 2, 4, 16), float32]) {
  %1 = weight : Tensor[(64, 1, 64), float32];
  %2 = const[64, 2, 64] : Tensor[(3,), int64];
  %3 = broadcast_to(%1, %2);
  %4 = weight : Tensor[(64,), float32];
  %5 = nn.layer_norm(%3, %4, %4, axis=-1, epsilon=1e-05);
  %6 = weight : Tensor[(64, 64), float32];
  %7 = nn.dense(%5, %6, transB=1);
  %8 = nn.gelu(%7);
  %9 = weight : Tensor[(64, 4, 16), float32];
  %10 = einsum(%8, %9, equation="ibh,hnd->ibnd");
  %11 = einsum(%x, %10, equation="ibnd,jbnd->bnij");
  (%11)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(32, 8, 4, 16), float32]) -> (Tensor[(8, 4, 32, 64), float32]) {
//   %1 = weight : Tensor[(64, 1, 64), float32];
//   %2 = const[64, 8, 64] : Tensor[(3,), int64];
//   %3 = broadcast_to(%1, %2) : Tensor[(64, 8, 64), float32];
//   %4 = weight : Tensor[(64,), float32];
//   %5 = nn.layer_norm(%3, %4, %4, axis=-1, epsilon=1e-05) : Tensor[(64, 8, 64), float32];
//   %6 = weight : Tensor[(64, 64), float32];
//   %7 = nn.dense(%5, %6, transB=1) : Tensor[(64, 8, 64), float32];
//   %8 = nn.gelu(%7) : Tensor[(64, 8, 64), float32];
//   %9 = weight : Tensor[(64, 4, 16), float32];
//   %10 = einsum(%8, %9, equation="ibh,hnd->ibnd") : Tensor[(64, 8, 4, 16), float32];
//   %11 = einsum(%x, %10, equation="ibnd,jbnd->bnij") : Tensor[(8, 4, 32, 64), float32];
//   (%11)
// }
// ---- stderr
// ---- exit 0
