// RUN: perfc opt %s --passes=none -o %t.onnx
// What only costs as much as the operator that it stands for is not written.
#[version = "perfc-ir/1"]
def @bad(%x: Tensor[(2, 7), float32]) -> ("y": Tensor[(2, 4), float32]) {
  %1 = const[4] : Tensor[(1,), int64];
  %2:2 = topk(%x, %1, axis=1, largest=0, sorted=1, stands_for="mode") : (Tensor[(2, 4), float32], Tensor[(2, 4), int64]) @mode;
  (%2.0)
}
// ---- stdout
// ---- stderr
// bad-stands-for.pir:6:3: 'mode': error: topk: stands for 'mode', which has no form in ONNX
// ---- exit 1
