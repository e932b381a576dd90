// RUN: perfc opt %s --passes=rebatch --batch=8
// The reshape puts features of several samples into one row.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(4, 3), float32]) {
  %1 = const[6, 2] : Tensor[(2,), int64];
  %2 = reshape(%x, %1) @mix;
  (%2)
}
// ---- stdout
// ---- stderr
// bad-rebatch-mixed.pir:6:3: 'mix': error: reshape: cannot change the batch from 4 to 8: Tensor[(4, 3), float32] is reshaped to Tensor[(6, 2), float32], which mixes samples
// bad-rebatch-mixed.pir: note: the batch was taken to be dim 0 of 'x', Tensor[(4, 3), float32]; if another dim counts samples, say --batch-axis x=AXIS. Else export the model with an open batch (torch.export: dynamic_shapes, torch.onnx: dynamic_axes) or at 8; without --batch it is predicted at its own 4
// ---- exit 1
