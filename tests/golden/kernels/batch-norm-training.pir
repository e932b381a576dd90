// RUN: perfc predict %s --emit=kernels --mode compiled --dtype amp --task train --optimizer sgd --predictor whitebox --device a100-80gb
// RUN: perfc predict %s --emit=kernels --mode compiled --dtype amp --task train --optimizer sgd --fold-batch-norm on --predictor whitebox --device a100-80gb
// RUN: perfc predict %s --emit=kernels --mode compiled --dtype amp --predictor whitebox --device a100-80gb
// COLUMNS: node,operators,width,bytes
// A training step's batch norms read their data once more, for the batch's statistics, in either direction: a compiler
// folds them for inference alone, unless told otherwise.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(8, 128, 16, 16), float32]) {
  %1 = weight : Tensor[(128, 128, 1, 1), float32];
  %2 = nn.conv2d(%x, %1) @conv;
  %3 = weight : Tensor[(128,), float32];
  %4 = weight : Tensor[(128,), float32];
  %5 = weight : Tensor[(128,), float32];
  %6 = weight : Tensor[(128,), float32];
  %7 = nn.batch_norm(%2, %3, %4, %5, %6) @bn;
  %8 = nn.relu(%7) @act;
  (%8)
}
// ---- perfc predict %s --emit=kernels --mode compiled --dtype amp --task train --optimizer sgd --predictor whitebox --device a100-80gb
// ---- stdout
// conv cast 32 98304
// conv nn.conv2d 16 1081344
// bn nn.batch_norm nn.relu 16 1575936
// bn nn.batch_norm nn.relu 16 2626560
// conv nn.conv2d 16 1081344
// conv cast 32 98304
//  cast 16 98304
//  add 32 199680
// ---- stderr
// ---- exit 0
// ---- perfc predict %s --emit=kernels --mode compiled --dtype amp --task train --optimizer sgd --fold-batch-norm on --predictor whitebox --device a100-80gb
// ---- stdout
// conv cast 32 98304
// conv nn.conv2d 16 1081344
// bn nn.bias_add nn.relu 16 1049088
// bn nn.bias_add nn.relu 16 1573632
// bn sum_axes 16 524544
// conv nn.conv2d 16 1081344
// conv cast 32 98304
//  cast 16 98304
//  add 32 198144
// ---- stderr
// ---- exit 0
// ---- perfc predict %s --emit=kernels --mode compiled --dtype amp --predictor whitebox --device a100-80gb
// ---- stdout
// conv cast 32 1572864
// conv cast 32 98304
// conv nn.conv2d 16 1081344
// bn nn.bias_add nn.relu 16 1049088
// ---- stderr
// ---- exit 0
