// RUN: perfc opt %s --passes=recognise-patterns,filter-operators --verify-each
// Keys as PyTorch's dynamo exporter turns them: through a reshape to three dims.
#[version = "perfc-ir/1"]
def @main(%q: Tensor[(2, 8, 16, 64), float32], %k: Tensor[(2, 8, 16, 64), float32], %v: Tensor[(2, 8, 16, 64), float32]) {
  %3 = const[-1, 16, 64] : Tensor[(3,), int64];
  %4 = reshape(%k, %3);
  %5 = transpose(%4, perm=[0, 2, 1]);
  %6 = const[2, 8, 64, 16] : Tensor[(4,), int64];
  %7 = reshape(%5, %6);
  %8 = nn.batch_matmul(%q, %7);
  %9 = nn.softmax(%8, axis=-1);
  %10 = nn.batch_matmul(%9, %v) @attention;
  (%10)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%q: Tensor[(2, 8, 16, 64), float32], %k: Tensor[(2, 8, 16, 64), float32], %v: Tensor[(2, 8, 16, 64), float32]) -> (Tensor[(2, 8, 16, 64), float32]) {
//   %3 = nn.sdpa(%q, %k, %v) : Tensor[(2, 8, 16, 64), float32] @attention;
//   (%3)
// }
// ---- stderr
// ---- exit 0
