// RUN: perfc opt %s --passes=recognise-patterns,filter-operators --verify-each
// Exported scaled_dot_product_attention: the scale on both sides, keys and
// values of one head for all, a mask.
#[version = "perfc-ir/1"]
def @main(%q: Tensor[(2, 4, 16, 8), float32], %k: Tensor[(2, 1, 20, 8), float32], %v: Tensor[(2, 1, 20, 8), float32], %mask: Tensor[(16, 20), float32]) {
  %4 = const[0.5946035] : Tensor[(), float32];
  %5 = multiply(%q, %4);
  %6 = transpose(%k, perm=[0, 1, 3, 2]);
  %7 = multiply(%6, %4);
  %8 = nn.batch_matmul(%5, %7);
  %9 = add(%8, %mask);
  %10 = nn.softmax(%9, axis=-1);
  %11 = nn.batch_matmul(%10, %v) @attention;
  (%11)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%q: Tensor[(2, 4, 16, 8), float32], %k: Tensor[(2, 1, 20, 8), float32], %v: Tensor[(2, 1, 20, 8), float32], %mask: Tensor[(16, 20), float32]) -> (Tensor[(2, 4, 16, 8), float32]) {
//   %4 = nn.sdpa(%q, %k, %v, %mask, scale=0.35355332221224994) : Tensor[(2, 4, 16, 8), float32] @attention;
//   (%4)
// }
// ---- stderr
// ---- exit 0
