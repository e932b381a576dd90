// RUN: perfc opt %s --passes=recognise-patterns --verify-each
// softplus as run_decompositions() writes it, with the threshold from which it is the identity.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(1, 128, 32), float32]) {
  %1 = exp(%x);
  %2 = log1p(%1);
  %3 = const[20.0] : Tensor[(), float32];
  %4 = greater(%x, %3);
  %5 = where(%4, %x, %2) @softplus;
  (%5)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(1, 128, 32), float32]) -> (Tensor[(1, 128, 32), float32]) {
//   %1 = const[20.0] : Tensor[(), float32];
//   %2 = nn.softplus(%x) : Tensor[(1, 128, 32), float32] @softplus;
//   (%2)
// }
// ---- stderr
// ---- exit 0
