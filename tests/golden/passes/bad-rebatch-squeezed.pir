// RUN: perfc opt %s --passes=rebatch --batch=8
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(1, 3), float32]) {
  %1 = const[0] : Tensor[(1,), int64];
  %2 = squeeze(%x, %1) @unbatch;
  (%2)
}
// ---- stdout
// ---- stderr
// bad-rebatch-squeezed.pir:5:3: 'unbatch': error: squeeze: cannot change the batch from 1 to 8: the batch dim is squeezed away
// bad-rebatch-squeezed.pir: note: the batch was taken to be dim 0 of 'x', Tensor[(1, 3), float32]; if another dim counts samples, say --batch-axis x=AXIS. Else export the model with an open batch (torch.export: dynamic_shapes, torch.onnx: dynamic_axes) or at 8; without --batch it is predicted at its own 1
// ---- exit 1
