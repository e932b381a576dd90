// RUN: perfc opt %s --passes=recognise-patterns,eliminate-dead --verify-each
// The exporter computed 0 and −∞ from a mask of bools and kept them as a constant: two layers share the mask. Without
// the guard that only masks of bools get, the mask was one of numbers.
#[version = "perfc-ir/1"]
def @main(%q: Tensor[(1, 8, 16, 64), float32], %k: Tensor[(1, 8, 16, 64), float32], %v: Tensor[(1, 8, 16, 64), float32]) {
  %3 = const[0.35355338] : Tensor[(), float32];
  %4 = const[0.0] : Tensor[(1,), float32];
  %5 = weight : Tensor[(1, 1, 16, 16), float32] @mask;
  %6 = multiply(%q, %3);
  %7 = transpose(%k, perm=[0, 1, 3, 2]);
  %8 = multiply(%7, %3);
  %9 = nn.batch_matmul(%6, %8);
  %10 = add(%9, %5);
  %11 = nn.softmax(%10, axis=-1);
  %12 = isnan(%11);
  %13 = where(%12, %4, %11);
  %14 = nn.batch_matmul(%13, %v) @first;
  %15 = multiply(%14, %3);
  %16 = transpose(%k, perm=[0, 1, 3, 2]);
  %17 = multiply(%16, %3);
  %18 = nn.batch_matmul(%15, %17);
  %19 = add(%18, %5);
  %20 = nn.softmax(%19, axis=-1);
  %21 = isnan(%20);
  %22 = where(%21, %4, %20);
  %23 = nn.batch_matmul(%22, %v) @second;
  %24 = multiply(%23, %3);
  %25 = transpose(%k, perm=[0, 1, 3, 2]);
  %26 = multiply(%25, %3);
  %27 = nn.batch_matmul(%24, %26);
  %28 = add(%27, %5);
  %29 = nn.softmax(%28, axis=-1);
  %30 = nn.batch_matmul(%29, %v) @of_numbers;
  (%30)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%q: Tensor[(1, 8, 16, 64), float32], %k: Tensor[(1, 8, 16, 64), float32], %v: Tensor[(1, 8, 16, 64), float32]) -> (Tensor[(1, 8, 16, 64), float32]) {
//   %3 = weight : Tensor[(1, 1, 16, 16), float32] @mask;
//   %4 = weight : Tensor[(1, 1, 16, 16), bool] @mask;
//   %5 = nn.sdpa(%q, %k, %v, %4, scale=0.12499999250942438) : Tensor[(1, 8, 16, 64), float32] @first;
//   %6 = nn.sdpa(%5, %k, %v, %4, scale=0.12499999250942438) : Tensor[(1, 8, 16, 64), float32] @second;
//   %7 = nn.sdpa(%6, %k, %v, %3, scale=0.12499999250942438) : Tensor[(1, 8, 16, 64), float32] @of_numbers;
//   (%7)
// }
// ---- stderr
// ---- exit 0
