// RUN: perfc predict %s --emit=kernels --predictor whitebox --device a100-40gb --mode compiled --dtype fp32
// COLUMNS: operators,bytes
// What a reduction adds up goes back to its data: rows of 256 stay in registers and are read once, a whole tensor and
// columns twice; a mean that nothing of its data's size reads is one kernel.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(64, 128, 256), float32]) {
  %1 = weight : Tensor[(256,), float32];
  %2 = nn.layer_norm(%x, %1, %1, axis=-1);
  %3 = reduce_l2(%2, keepdims=0);
  %4 = divide(%2, %3);
  %5 = const[1] : Tensor[(1,), int64];
  %6 = mean(%4, %5, keepdims=1);
  %7 = subtract(%4, %6);
  %8 = mean(%7, %5, keepdims=1);
  %9 = nn.relu(%8);
  (%7, %9)
}
// ---- stdout
// nn.layer_norm 16778240
// reduce_l2 divide 8389632
// reduce_l2 divide 1024
// reduce_l2 divide 8388612
// mean subtract 8388620
// mean subtract 16777228
// mean nn.relu 8454152
// ---- stderr
// ---- exit 0
