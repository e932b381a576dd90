// RUN: perfc opt %s --passes=rebatch --batch=8
// Only the first sample reaches the result.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(1, 3), float32]) {
  %1 = const[0] : Tensor[(), int64];
  %2 = take(%x, %1, axis=0) @first;
  (%2)
}
// ---- stdout
// ---- stderr
// bad-rebatch-picked.pir:6:3: 'first': error: take: cannot change the batch from 1 to 8: output 0 depends on samples and stays Tensor[(3,), float32]; expected was one entry or more a sample
// bad-rebatch-picked.pir: note: the batch was taken to be dim 0 of 'x', Tensor[(1, 3), float32]; if another dim counts samples, say --batch-axis x=AXIS. Else export the model with an open batch (torch.export: dynamic_shapes, torch.onnx: dynamic_axes) or at 8; without --batch it is predicted at its own 1
// ---- exit 1
