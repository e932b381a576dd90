// RUN: perfc opt %s --passes=recognise-patterns --verify-each
// torch.roll of a dim as run_decompositions() writes it; positions that do not go round once are none.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(1, 56, 56, 96), float32]) {
  %1 = const[0] : Tensor[(), int64];
  %2 = const[56] : Tensor[(), int64];
  %3 = const[1] : Tensor[(), int64];
  %4 = arange(%1, %2, %3, launched=1);
  %5 = const[3] : Tensor[(), int64];
  %6 = add(%4, %5, launched=1);
  %7 = mod(%6, %2, fmod=1, launched=1);
  %8 = take(%x, %7, axis=1) @rolled;
  %9 = const[28] : Tensor[(), int64];
  %10 = arange(%1, %2, %3, launched=1);
  %11 = add(%10, %5, launched=1);
  %12 = mod(%11, %9, fmod=1, launched=1);
  %13 = take(%8, %12, axis=2) @stays;
  (%13)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(1, 56, 56, 96), float32]) -> (Tensor[(1, 56, 56, 96), float32]) {
//   %1 = const[0] : Tensor[(), int64];
//   %2 = const[56] : Tensor[(), int64];
//   %3 = const[1] : Tensor[(), int64];
//   %4 = const[3] : Tensor[(), int64];
//   %5 = roll(%x, axis=1, shift=-3) : Tensor[(1, 56, 56, 96), float32] @rolled;
//   %6 = const[28] : Tensor[(), int64];
//   %7 = arange(%1, %2, %3, launched=1) : Tensor[(56,), int64];
//   %8 = add(%7, %4, launched=1) : Tensor[(56,), int64];
//   %9 = mod(%8, %6, fmod=1, launched=1) : Tensor[(56,), int64];
//   %10 = take(%5, %9, axis=2) : Tensor[(1, 56, 56, 96), float32] @stays;
//   (%10)
// }
// ---- stderr
// ---- exit 0
