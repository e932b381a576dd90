// RUN: perfc opt %s --dim=N=4 --batch=8 --verify-each
// Without --passes the pipeline of `predict` runs; dims are bound while reading.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(batch, 3, N), float32]) {
  %1 = copy(%x);
  %2 = nn.relu(%1);
  (%2)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(8, 3, 4), float32]) -> (Tensor[(8, 3, 4), float32]) {
//   %1 = nn.relu(%x) : Tensor[(8, 3, 4), float32];
//   (%1)
// }
// ---- stderr
// ---- exit 0
