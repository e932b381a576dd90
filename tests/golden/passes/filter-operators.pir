// RUN: perfc opt %s --passes=filter-operators --verify-each
// Chains of views become one; each branch is finished before the next begins.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(2, 3, 4), float32]) {
  %1 = const[6, 4] : Tensor[(2,), int64];
  %2 = const[24] : Tensor[(1,), int64];
  %3 = exp(%x) @left;
  %4 = log(%x) @right;
  %5 = reshape(%3, %1);
  %6 = reshape(%5, %2);
  %7 = reshape(%4, %2);
  %8 = nn.relu(%6) @left_end;
  %9 = add(%8, %7);
  (%9)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(2, 3, 4), float32]) -> (Tensor[(24,), float32]) {
//   %1 = exp(%x) : Tensor[(2, 3, 4), float32] @left;
//   %2 = const[24] : Tensor[(1,), int64];
//   %3 = const[24] : Tensor[(1,), int64];
//   %4 = reshape(%1, %3) : Tensor[(24,), float32];
//   %5 = nn.relu(%4) : Tensor[(24,), float32] @left_end;
//   %6 = log(%x) : Tensor[(2, 3, 4), float32] @right;
//   %7 = reshape(%6, %2) : Tensor[(24,), float32];
//   %8 = add(%5, %7) : Tensor[(24,), float32];
//   (%8)
// }
// ---- stderr
// ---- exit 0
