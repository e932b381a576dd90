// RUN: perfc opt %s --passes=none -o %t.onnx
// RUN: perfc import %t.onnx
// Causal attention; a mask of bools with the guard of queries that see nothing; grouped heads are Attention of set 23.
#[version = "perfc-ir/1"]
def @attention(%q: Tensor[(2, 4, 3, 8), float32], %k: Tensor[(2, 4, 5, 8), float32], %v: Tensor[(2, 4, 5, 6), float32], %m: Tensor[(3, 5), bool], %g: Tensor[(2, 2, 5, 8), float32]) -> ("causal": Tensor[(2, 4, 3, 6), float32], "masked": Tensor[(2, 4, 3, 6), float32], "grouped": Tensor[(2, 4, 3, 8), float32]) {
  %5 = nn.sdpa(%q, %k, %v, is_causal=1) : Tensor[(2, 4, 3, 6), float32] @causal;
  %6 = nn.sdpa(%q, %k, %v, %m, scale=0.5) : Tensor[(2, 4, 3, 6), float32] @masked;
  %7 = nn.attention(%q, %g, %g, is_causal=1) : Tensor[(2, 4, 3, 8), float32] @grouped;
  (%5, %6, %7)
}
// ---- perfc opt %s --passes=none -o %t.onnx
// ---- stdout
// ---- stderr
// ---- exit 0
// ---- perfc import %t.onnx
// ---- stdout
// #[version = "perfc-ir/1"]
// def @attention(%q: Tensor[(2, 4, 3, 8), float32], %k: Tensor[(2, 4, 5, 8), float32], %v: Tensor[(2, 4, 5, 6), float32], %m: Tensor[(3, 5), bool], %g: Tensor[(2, 2, 5, 8), float32]) -> (causal: Tensor[(2, 4, 3, 6), float32], masked: Tensor[(2, 4, 3, 6), float32], grouped: Tensor[(2, 4, 3, 8), float32]) {
//   %5 = transpose(%k, perm=[0, 1, 3, 2]) : Tensor[(2, 4, 8, 5), float32] @causal;
//   %6 = nn.batch_matmul(%q, %5) : Tensor[(2, 4, 3, 5), float32] @causal_1;
//   %7 = const[0.3535533845424652] : Tensor[(), float32] @number;
//   %8 = multiply(%6, %7) : Tensor[(2, 4, 3, 5), float32] @causal_2;
//   %9 = const[0] : Tensor[(), int64] @number_1;
//   %10 = const[3] : Tensor[(), int64] @extent;
//   %11 = const[1] : Tensor[(), int64] @number_2;
//   %12 = arange(%9, %10, %11) : Tensor[(3,), int64] @causal_3;
//   %13 = const[1] : Tensor[(1,), int64] @ints;
//   %14 = expand_dims(%12, %13) : Tensor[(3, 1), int64] @causal_4;
//   %15 = const[5] : Tensor[(), int64] @extent_1;
//   %16 = arange(%9, %15, %11) : Tensor[(5,), int64] @causal_5;
//   %17 = const[0] : Tensor[(1,), int64] @ints_1;
//   %18 = expand_dims(%16, %17) : Tensor[(1, 5), int64] @causal_6;
//   %19 = greater_equal(%14, %18) : Tensor[(3, 5), bool] @causal_7;
//   %20 = const[-inf] : Tensor[(), float32] @number_3;
//   %21 = where(%19, %8, %20) : Tensor[(2, 4, 3, 5), float32] @causal_8;
//   %22 = nn.softmax(%21, axis=-1) : Tensor[(2, 4, 3, 5), float32] @causal_9;
//   %23 = nn.batch_matmul(%22, %v) : Tensor[(2, 4, 3, 6), float32] @causal_10;
//   %24 = transpose(%k, perm=[0, 1, 3, 2]) : Tensor[(2, 4, 8, 5), float32] @masked;
//   %25 = nn.batch_matmul(%q, %24) : Tensor[(2, 4, 3, 5), float32] @masked_1;
//   %26 = const[0.5] : Tensor[(), float32] @number_4;
//   %27 = multiply(%25, %26) : Tensor[(2, 4, 3, 5), float32] @masked_2;
//   %28 = where(%m, %27, %20) : Tensor[(2, 4, 3, 5), float32] @masked_3;
//   %29 = nn.softmax(%28, axis=-1) : Tensor[(2, 4, 3, 5), float32] @masked_4;
//   %30 = isnan(%29) : Tensor[(2, 4, 3, 5), bool] @masked_5;
//   %31 = const[0.0] : Tensor[(), float32] @number_5;
//   %32 = where(%30, %31, %29) : Tensor[(2, 4, 3, 5), float32] @masked_6;
//   %33 = nn.batch_matmul(%32, %v) : Tensor[(2, 4, 3, 6), float32] @masked_7;
//   %34 = nn.attention(%q, %g, %g, is_causal=1) : Tensor[(2, 4, 3, 8), float32] @grouped;
//   (%23, %33, %34)
// }
// ---- stderr
// ---- exit 0
