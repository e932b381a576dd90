// RUN: perfc opt %s --passes=drop-trivial-masks --verify-each
// One token of a decoder with a cache of 5, as torch.export writes it of transformers: positions of batch, heads, queries
// and keys, which are compared. All keys come before the query: eager PyTorch makes no mask, and heads that repeat keys
// are grouped. The position ids stay, and so do a causal mask and one that the program fills with ones.
// An exporter evaluates comparisons that hold throughout: that mask goes too.
#[version = "perfc-ir/1"]
def @main(%q: Tensor[(2, 8, 1, 32), float32], %k: Tensor[(2, 2, 6, 32), float32], %x: Tensor[(2, 8, 6, 32), float32]) {
  %3 = const[0] : Tensor[(), int64];
  %4 = const[1] : Tensor[(), int64];
  %5 = arange(%3, %4, %4, launched=1) @"m/position_ids";
  %6 = const[5] : Tensor[(), int64];
  %7 = add(%5, %6, launched=1) @"m/position_ids";
  %8 = cast(%7, launched=1, to="float32") @"m/rotary";
  %9 = const[2] : Tensor[(), int64];
  %10 = arange(%3, %9, %4, launched=1) @"m/of_batch";
  %11 = arange(%3, %4, %4, launched=1) @"m/of_queries";
  %12 = add(%11, %6, launched=1) @"m/of_queries";
  %13 = const[6] : Tensor[(), int64];
  %14 = arange(%3, %13, %4, launched=1) @"m/of_keys";
  %15 = const[0, 1, 2] : Tensor[(3,), int64];
  %16 = expand_dims(%14, %15) @"m/of_keys";
  %17 = const[0, 1, 3] : Tensor[(3,), int64];
  %18 = expand_dims(%12, %17) @"m/of_queries";
  %19 = less_equal(%16, %18, launched=1) @"m/le";
  %20 = const[2, 1, 1, 6] : Tensor[(4,), int64];
  %21 = broadcast_to(%19, %20) @"m/expand";
  %22 = const[2] : Tensor[(1,), int64];
  %23 = expand_dims(%k, %22);
  %24 = const[2, 2, 4, 6, 32] : Tensor[(5,), int64];
  %25 = broadcast_to(%23, %24);
  %26 = const[2, 8, 6, 32] : Tensor[(4,), int64];
  %27 = reshape(%25, %26);
  %28 = nn.sdpa(%q, %27, %27, %21, scale=0.17) @"m/attention";
  %29 = arange(%3, %13, %4, launched=1) @"m/causal";
  %30 = expand_dims(%29, %17) @"m/causal";
  %31 = less_equal(%16, %30, launched=1) @"m/causal";
  %32 = nn.sdpa(%x, %x, %x, %31) @"m/causal_attention";
  %33 = const[1, 1, 6, 6] : Tensor[(4,), int64];
  %34 = full(%33, launched=1, value=const[1]: Tensor[(1,), bool]) @"m/ones";
  %35 = nn.sdpa(%32, %x, %x, %34) @"m/filled_attention";
  %36 = const[1, 1, 1, 1, 1, 1] : Tensor[(1, 1, 6, 1), bool] @"m/evaluated";
  %37 = const[2, 1, 6, 6] : Tensor[(4,), int64];
  %38 = broadcast_to(%36, %37) @"m/evaluated";
  %39 = nn.sdpa(%x, %x, %x, %38) @"m/evaluated_attention";
  (%28, %8, %35, %39)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%q: Tensor[(2, 8, 1, 32), float32], %k: Tensor[(2, 2, 6, 32), float32], %x: Tensor[(2, 8, 6, 32), float32]) -> (Tensor[(2, 8, 1, 32), float32], Tensor[(1,), float32], Tensor[(2, 8, 6, 32), float32], Tensor[(2, 8, 6, 32), float32]) {
//   %3 = const[0] : Tensor[(), int64];
//   %4 = const[1] : Tensor[(), int64];
//   %5 = arange(%3, %4, %4, launched=1) : Tensor[(1,), int64] @"m/position_ids";
//   %6 = const[5] : Tensor[(), int64];
//   %7 = add(%5, %6, launched=1) : Tensor[(1,), int64] @"m/position_ids";
//   %8 = cast(%7, launched=1, to="float32") : Tensor[(1,), float32] @"m/rotary";
//   %9 = const[6] : Tensor[(), int64];
//   %10 = arange(%3, %9, %4, launched=1) : Tensor[(6,), int64] @"m/of_keys";
//   %11 = const[0, 1, 2] : Tensor[(3,), int64];
//   %12 = expand_dims(%10, %11) : Tensor[(1, 1, 1, 6), int64] @"m/of_keys";
//   %13 = const[0, 1, 3] : Tensor[(3,), int64];
//   %14 = nn.attention(%q, %k, %k, scale=0.17) : Tensor[(2, 8, 1, 32), float32] @"m/attention";
//   %15 = arange(%3, %9, %4, launched=1) : Tensor[(6,), int64] @"m/causal";
//   %16 = expand_dims(%15, %13) : Tensor[(1, 1, 6, 1), int64] @"m/causal";
//   %17 = less_equal(%12, %16, launched=1) : Tensor[(1, 1, 6, 6), bool] @"m/causal";
//   %18 = nn.sdpa(%x, %x, %x, %17) : Tensor[(2, 8, 6, 32), float32] @"m/causal_attention";
//   %19 = const[1, 1, 6, 6] : Tensor[(4,), int64];
//   %20 = full(%19, launched=1, value=const[1]: Tensor[(1,), bool]) : Tensor[(1, 1, 6, 6), bool] @"m/ones";
//   %21 = nn.sdpa(%18, %x, %x, %20) : Tensor[(2, 8, 6, 32), float32] @"m/filled_attention";
//   %22 = nn.sdpa(%x, %x, %x) : Tensor[(2, 8, 6, 32), float32] @"m/evaluated_attention";
//   (%14, %8, %21, %22)
// }
// ---- stderr
// ---- exit 0
