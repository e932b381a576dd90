// RUN: perfc opt %s --passes=recognise-patterns,eliminate-dead -o %t.onnx
// RUN: perfc import %t.onnx
// Attention whose scores nothing scales, as T5 has: the operator's own scale of 1/√E must not come in.
#[version = "perfc-ir/1"]
def @unscaled(%q: Tensor[(2, 4, 6, 8), float32], %k: Tensor[(2, 4, 6, 8), float32], %v: Tensor[(2, 4, 6, 8), float32]) -> ("y": Tensor[(2, 4, 6, 8), float32]) {
  %3 = transpose(%k, perm=[0, 1, 3, 2]) : Tensor[(2, 4, 8, 6), float32];
  %4 = nn.batch_matmul(%q, %3) : Tensor[(2, 4, 6, 6), float32];
  %5 = nn.softmax(%4, axis=-1) : Tensor[(2, 4, 6, 6), float32];
  %6 = nn.batch_matmul(%5, %v) : Tensor[(2, 4, 6, 8), float32];
  (%6)
}
// ---- perfc opt %s --passes=recognise-patterns,eliminate-dead -o %t.onnx
// ---- stdout
// ---- stderr
// ---- exit 0
// ---- perfc import %t.onnx
// ---- stdout
// #[version = "perfc-ir/1"]
// def @unscaled(%q: Tensor[(2, 4, 6, 8), float32], %k: Tensor[(2, 4, 6, 8), float32], %v: Tensor[(2, 4, 6, 8), float32]) -> (y: Tensor[(2, 4, 6, 8), float32]) {
//   %3 = transpose(%k, perm=[0, 1, 3, 2]) : Tensor[(2, 4, 8, 6), float32] @"nn.sdpa/Transpose";
//   %4 = nn.batch_matmul(%q, %3) : Tensor[(2, 4, 6, 6), float32] @"nn.sdpa/MatMul";
//   %5 = const[1.0] : Tensor[(), float32] @number;
//   %6 = multiply(%4, %5) : Tensor[(2, 4, 6, 6), float32] @"nn.sdpa/Mul";
//   %7 = nn.softmax(%6, axis=-1) : Tensor[(2, 4, 6, 6), float32] @"nn.sdpa/Softmax";
//   %8 = nn.batch_matmul(%7, %v) : Tensor[(2, 4, 6, 8), float32] @y;
//   (%8)
// }
// ---- stderr
// ---- exit 0
