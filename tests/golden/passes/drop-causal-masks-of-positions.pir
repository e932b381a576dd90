// RUN: perfc opt %s --passes=drop-trivial-masks --verify-each
// A causal mask as transformers' sdpa_mask makes it when it is told the positions: it numbers samples and heads, which
// the mask does not read, then queries and keys. With data the model makes none of them and hands is_causal to its
// attention. One of the positions alone is somebody's own, and stays.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(2, 8, 6, 32), float32]) {
  %1 = const[0] : Tensor[(), int64];
  %2 = const[1] : Tensor[(), int64];
  %3 = const[2] : Tensor[(), int64];
  %4 = const[6] : Tensor[(), int64];
  %5 = arange(%1, %3, %2, launched=1) @"m/of_batch";
  %6 = arange(%1, %2, %2, launched=1) @"m/of_heads";
  %7 = arange(%1, %4, %2, launched=1) @"m/of_queries";
  %8 = add(%7, %1, launched=1) @"m/of_queries";
  %9 = arange(%1, %4, %2, launched=1) @"m/of_keys";
  %10 = add(%9, %1, launched=1) @"m/of_keys";
  %11 = const[0, 1, 3] : Tensor[(3,), int64];
  %12 = expand_dims(%8, %11) @"m/of_queries";
  %13 = const[0, 1, 2] : Tensor[(3,), int64];
  %14 = expand_dims(%10, %13) @"m/of_keys";
  %15 = less_equal(%14, %12, launched=1) @"m/le";
  %16 = const[2, 1, 6, 6] : Tensor[(4,), int64];
  %17 = broadcast_to(%15, %16) @"m/expand";
  %18 = nn.sdpa(%x, %x, %x, %17) @"m/attention";
  %19 = exp(%18);
  %20 = arange(%1, %4, %2, launched=1) @"own";
  %21 = expand_dims(%20, %11) @"own";
  %22 = expand_dims(%20, %13) @"own";
  %23 = less_equal(%22, %21, launched=1) @"own";
  %24 = nn.sdpa(%19, %x, %x, %23) @"own_attention";
  (%24)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(2, 8, 6, 32), float32]) -> (Tensor[(2, 8, 6, 32), float32]) {
//   %1 = const[0] : Tensor[(), int64];
//   %2 = const[1] : Tensor[(), int64];
//   %3 = const[6] : Tensor[(), int64];
//   %4 = const[0, 1, 3] : Tensor[(3,), int64];
//   %5 = const[0, 1, 2] : Tensor[(3,), int64];
//   %6 = nn.sdpa(%x, %x, %x, is_causal=1) : Tensor[(2, 8, 6, 32), float32] @"m/attention";
//   %7 = exp(%6) : Tensor[(2, 8, 6, 32), float32];
//   %8 = arange(%1, %3, %2, launched=1) : Tensor[(6,), int64] @own;
//   %9 = expand_dims(%8, %4) : Tensor[(1, 1, 6, 1), int64] @own;
//   %10 = expand_dims(%8, %5) : Tensor[(1, 1, 1, 6), int64] @own;
//   %11 = less_equal(%10, %9, launched=1) : Tensor[(1, 1, 6, 6), bool] @own;
//   %12 = nn.sdpa(%7, %x, %x, %11) : Tensor[(2, 8, 6, 32), float32] @own_attention;
//   (%12)
// }
// ---- stderr
// ---- exit 0
