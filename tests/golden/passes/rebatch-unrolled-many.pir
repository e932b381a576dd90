// RUN: perfc opt %s --passes=rebatch,eliminate-dead --batch=40000 --verify-each
// What a program computes of each image by calls of its own and joins (LLaVA's torch.cat(image_features)): but
// not for images without bound.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(2, 16, 64), float32]) {
  %1 = weight : Tensor[(32, 64), float32];
  %2 = const[0] : Tensor[(), int64];
  %3 = take(%x, %2, axis=0);
  %4 = nn.dense(%3, %1, transB=1);
  %5 = const[1] : Tensor[(), int64];
  %6 = take(%x, %5, axis=0);
  %7 = nn.dense(%6, %1, transB=1);
  %8 = concatenate(%4, %7, axis=0);
  (%8)
}
// ---- stdout
// ---- stderr
// rebatch-unrolled-many.pir:13:3: error: concatenate: cannot change the batch from 2 to 40000: each sample has 2 calls of its own, which are written out for at most 32768 samples; export the model with its batch open
// rebatch-unrolled-many.pir: note: the batch was taken to be dim 0 of 'x', Tensor[(2, 16, 64), float32]; if another dim counts samples, say --batch-axis x=AXIS. Else export the model with an open batch (torch.export: dynamic_shapes, torch.onnx: dynamic_axes) or at 40000; without --batch it is predicted at its own 2
// ---- exit 1
