// RUN: perfc opt %s --passes=none -o %t.onnx
// RUN: perfc import %t.onnx
// Marks of how a call came to be are no attributes of ONNX; a file's own GELU is one again.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(2, 4), float16], %m: Tensor[(2, 4), bool]) -> ("y": Tensor[(2, 4), float16]) {
  %2 = nn.gelu(%x, one_operator=1);
  %3 = where(%m, %2, %x, on_copy=1);
  %4 = negative(%3, launched=1, inside=1);
  (%4)
}
// ---- perfc opt %s --passes=none -o %t.onnx
// ---- stdout
// ---- stderr
// ---- exit 0
// ---- perfc import %t.onnx
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(2, 4), float16], %m: Tensor[(2, 4), bool]) -> (y: Tensor[(2, 4), float16]) {
//   %2 = nn.gelu(%x, one_operator=1) : Tensor[(2, 4), float16] @"nn.gelu";
//   %3 = where(%m, %2, %x) : Tensor[(2, 4), float16] @where;
//   %4 = negative(%3) : Tensor[(2, 4), float16] @y;
//   (%4)
// }
// ---- stderr
// ---- exit 0
