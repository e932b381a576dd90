// RUN: perfc opt %s --passes=recognise-patterns -o %t.onnx
// RUN: perfc import %t.onnx
// Ones that are not known to be ones: the norm stays as it is written.
#[version = "perfc-ir/1"]
def @unknown_scale(%x: Tensor[(2, 4, 6, 8), float32]) -> ("y": Tensor[(2, 4, 6, 8), float32]) {
  %1 = const[0, 2, -1] : Tensor[(3,), int64];
  %2 = reshape(%x, %1) : Tensor[(2, 2, 96), float32];
  %3 = weight : Tensor[(2,), float32];
  %4 = const[0.0, 0.0] : Tensor[(2,), float32];
  %5 = nn.instance_norm(%2, %3, %4, epsilon=0.001) : Tensor[(2, 2, 96), float32];
  %6 = shape_of(%x) : Tensor[(4,), int64];
  %7 = reshape(%5, %6) : Tensor[(2, 4, 6, 8), float32];
  %8 = const[1.0, 2.0, 3.0, 4.0] : Tensor[(4, 1, 1), float32];
  %9 = multiply(%7, %8) : Tensor[(2, 4, 6, 8), float32];
  %10 = const[0.0] : Tensor[(1,), float32];
  %11 = add(%9, %10) : Tensor[(2, 4, 6, 8), float32];
  (%11)
}
// ---- perfc opt %s --passes=recognise-patterns -o %t.onnx
// ---- stdout
// ---- stderr
// unknown_scale.pir: warning: the contents of 1 weights (8 bytes) are not in the source: the model refers to 't.onnx.weights', which is yours to write; --strip-weights makes them zeros
// ---- exit 0
// ---- perfc import %t.onnx
// ---- stdout
// #[version = "perfc-ir/1"]
// def @unknown_scale(%x: Tensor[(2, 4, 6, 8), float32]) -> (y: Tensor[(2, 4, 6, 8), float32]) {
//   %1 = const[0, 2, -1] : Tensor[(3,), int64] @constant;
//   %2 = reshape(%x, %1) : Tensor[(2, 2, 96), float32] @reshape;
//   %3 = weight : Tensor[(2,), float32] @constant_1;
//   %4 = const[0.0, 0.0] : Tensor[(2,), float32] @constant_2;
//   %5 = nn.instance_norm(%2, %3, %4, epsilon=0.0010000000474974513) : Tensor[(2, 2, 96), float32] @"nn.instance_norm";
//   %6 = shape_of(%x) : Tensor[(4,), int64] @shape_of;
//   %7 = reshape(%5, %6) : Tensor[(2, 4, 6, 8), float32] @reshape_1;
//   %8 = const[1.0, 2.0, 3.0, 4.0] : Tensor[(4, 1, 1), float32] @constant_3;
//   %9 = multiply(%7, %8) : Tensor[(2, 4, 6, 8), float32] @multiply;
//   %10 = const[0.0] : Tensor[(1,), float32] @constant_4;
//   %11 = add(%9, %10) : Tensor[(2, 4, 6, 8), float32] @y;
//   (%11)
// }
// ---- stderr
// ---- exit 0
