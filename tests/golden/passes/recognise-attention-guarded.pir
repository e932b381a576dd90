// RUN: perfc opt %s --passes=recognise-patterns,filter-operators --verify-each
// scaled_dot_product_attention as PyTorch exports it with a boolean mask; the output's weight is shared with an embedding.
#[version = "perfc-ir/1"]
def @main(%q: Tensor[(1, 8, 16, 64), float32], %k: Tensor[(1, 8, 16, 64), float32], %v: Tensor[(1, 8, 16, 64), float32], %keep: Tensor[(1, 1, 16, 16), bool], %ids: Tensor[(4,), int64]) {
  %5 = const[0.35355338] : Tensor[(), float32];
  %6 = multiply(%q, %5);
  %7 = transpose(%k, perm=[0, 1, 3, 2]);
  %8 = multiply(%7, %5);
  %9 = nn.batch_matmul(%6, %8);
  %10 = const[0.0] : Tensor[(1,), float32];
  %11 = const[-inf] : Tensor[(1,), float32];
  %12 = where(%keep, %10, %11);
  %13 = add(%9, %12);
  %14 = nn.softmax(%13, axis=-1);
  %15 = isnan(%14);
  %16 = where(%15, %10, %14);
  %17 = nn.batch_matmul(%16, %v) @attention;
  %18 = weight : Tensor[(1000, 64), float32] @embedding;
  %19 = transpose(%18, perm=[1, 0]);
  %20 = nn.batch_matmul(%17, %19) @logits;
  %21 = take(%18, %ids, axis=0);
  (%20, %21)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%q: Tensor[(1, 8, 16, 64), float32], %k: Tensor[(1, 8, 16, 64), float32], %v: Tensor[(1, 8, 16, 64), float32], %keep: Tensor[(1, 1, 16, 16), bool], %ids: Tensor[(4,), int64]) -> (Tensor[(1, 8, 16, 1000), float32], Tensor[(4, 64), float32]) {
//   %5 = nn.sdpa(%q, %k, %v, %keep, scale=0.12499999250942438) : Tensor[(1, 8, 16, 64), float32] @attention;
//   %6 = weight : Tensor[(1000, 64), float32] @embedding;
//   %7 = nn.dense(%5, %6, transB=1) : Tensor[(1, 8, 16, 1000), float32] @logits;
//   %8 = take(%6, %ids, axis=0) : Tensor[(4, 64), float32];
//   (%7, %8)
// }
// ---- stderr
// ---- exit 0
