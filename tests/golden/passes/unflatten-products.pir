// RUN: perfc opt %s --passes=unflatten-products,merge-views
// What linear becomes in PyTorch's decompositions is a product over all dims again; a view behind it is one of the
// whole, and the view back is none. Others see the rows as they were merged.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(8, 17, 64), float32]) {
  %1 = const[136, 64] : Tensor[(2,), int64];
  %2 = reshape(%x, %1);
  %3 = weight : Tensor[(64, 64), float32];
  %4 = weight : Tensor[(64,), float32];
  %5 = nn.dense(%2, %3, transB=1);
  %6 = nn.bias_add(%5, %4, axis=1);
  %7 = const[8, 17, 4, 16] : Tensor[(4,), int64];
  %8 = reshape(%6, %7);
  %9 = nn.dense(%2, %3, %4, transB=1);
  %10 = const[8, 17, 64] : Tensor[(3,), int64];
  %11 = reshape(%9, %10);
  %12 = add(%11, %x);
  %13 = nn.relu(%6);
  (%8, %12, %13)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(8, 17, 64), float32]) -> (Tensor[(8, 17, 4, 16), float32], Tensor[(8, 17, 64), float32], Tensor[(136, 64), float32]) {
//   %1 = weight : Tensor[(64, 64), float32];
//   %2 = weight : Tensor[(64,), float32];
//   %3 = nn.dense(%x, %1, transB=1) : Tensor[(8, 17, 64), float32];
//   %4 = nn.bias_add(%3, %2, axis=2) : Tensor[(8, 17, 64), float32];
//   %5 = const[136, 64] : Tensor[(2,), int64];
//   %6 = reshape(%4, %5) : Tensor[(136, 64), float32];
//   %7 = const[8, 17, 4, 16] : Tensor[(4,), int64];
//   %8 = reshape(%4, %7) : Tensor[(8, 17, 4, 16), float32];
//   %9 = nn.dense(%x, %1, %2, transB=1) : Tensor[(8, 17, 64), float32];
//   %10 = add(%9, %x) : Tensor[(8, 17, 64), float32];
//   %11 = nn.relu(%6) : Tensor[(136, 64), float32];
//   (%8, %10, %11)
// }
// ---- stderr
// ---- exit 0
