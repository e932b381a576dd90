// RUN: perfc opt %s --passes=rebatch,eliminate-dead --batch=8 --verify-each
// Indices that an exporter computed for one sample's four heads: for eight samples it would have computed eight times
// as many, so that nothing repeats them in every run.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(1, 4, 32, 64), float32]) {
  %1 = const[4, 32, 64] : Tensor[(3,), int64];
  %2 = reshape(%x, %1);
  %3 = weight : Tensor[(4, 32, 40), int64] @positions;
  %4 = gather(%2, %3, axis=2);
  (%4)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(8, 4, 32, 64), float32]) -> (Tensor[(32, 32, 40), float32]) {
//   %1 = const[32, 32, 64] : Tensor[(3,), int64];
//   %2 = reshape(%x, %1) : Tensor[(32, 32, 64), float32];
//   %3 = weight : Tensor[(32, 32, 40), int64] @positions;
//   %4 = gather(%2, %3, axis=2) : Tensor[(32, 32, 40), float32];
//   (%4)
// }
// ---- stderr
// ---- exit 0
