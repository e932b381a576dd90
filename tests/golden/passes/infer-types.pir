// RUN: perfc opt %s --passes=infer-types --verify-each
// A result that an annotation settled stays as long as what it depends on does.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(?, 3), float32]) {
  %1 = nn.relu(%x) : Tensor[(16, 3), float32];
  %2 = transpose(%1, perm=[1, 0]);
  (%2)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(?, 3), float32]) -> (Tensor[(3, 16), float32]) {
//   %1 = nn.relu(%x) : Tensor[(16, 3), float32];
//   %2 = transpose(%1, perm=[1, 0]) : Tensor[(3, 16), float32];
//   (%2)
// }
// ---- stderr
// ---- exit 0
