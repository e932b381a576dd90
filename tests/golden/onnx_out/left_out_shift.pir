// RUN: perfc opt %s --passes=recognise-patterns -o %t.onnx
// RUN: perfc import %t.onnx
// The shift that the source leaves out is zeros in the file.
#[version = "perfc-ir/1"]
def @left_out_shift(%x: Tensor[(2, 4, 6, 8), float32]) -> ("y": Tensor[(2, 4, 6, 8), float32]) {
  %1 = const[0, 2, -1] : Tensor[(3,), int64];
  %2 = reshape(%x, %1) : Tensor[(2, 2, 96), float32];
  %3 = const[1.0, 1.0] : Tensor[(2,), float32];
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
// ---- exit 0
// ---- perfc import %t.onnx
// ---- stdout
// #[version = "perfc-ir/1"]
// def @left_out_shift(%x: Tensor[(2, 4, 6, 8), float32]) -> (y: Tensor[(2, 4, 6, 8), float32]) {
//   %1 = shape_of(%x) : Tensor[(4,), int64] @shape_of;
//   %2 = const[1.0, 2.0, 3.0, 4.0] : Tensor[(4,), float32] @constant;
//   %3 = const[0.0, 0.0, 0.0, 0.0] : Tensor[(4,), float32] @constant_1;
//   %4 = nn.group_norm(%x, %2, %3, epsilon=0.0010000000474974513, num_groups=2) : Tensor[(2, 4, 6, 8), float32] @y;
//   (%4)
// }
// ---- stderr
// ---- exit 0
