// RUN: perfc opt %s --batch 8 --batch-axis xx=1
// RUN: perfc opt %s --batch 8 --batch-axis x=3
// RUN: perfc opt %s --batch 8 --batch-axis x=1 --batch-axis x=0
// RUN: perfc opt %s --batch 8 --batch-axis 1
// RUN: perfc opt %s --batch 8 --batch-axis all=none
// RUN: perfc opt %s --batch 8 --batch-axis x=0 --batch-axis lengths=0
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(2, 6), float32], %lengths: Tensor[(3,), int64]) -> (y: Tensor[(2, 6), float32]) {
  %2 = nn.relu(%x);
  (%2)
}
// ---- perfc opt %s --batch 8 --batch-axis xx=1
// ---- stdout
// ---- stderr
// bad-batch-axis.pir: error: --batch-axis: no input is named 'xx' (did you mean 'x'?); the inputs are x, lengths
// ---- exit 1
// ---- perfc opt %s --batch 8 --batch-axis x=3
// ---- stdout
// ---- stderr
// bad-batch-axis.pir: 'x': error: --batch-axis: the input has no dim 3: Tensor[(2, 6), float32]
// ---- exit 1
// ---- perfc opt %s --batch 8 --batch-axis x=1 --batch-axis x=0
// ---- stdout
// ---- stderr
// bad-batch-axis.pir: 'x': error: --batch-axis: two axes are given for the input; give one
// ---- exit 1
// ---- perfc opt %s --batch 8 --batch-axis 1
// ---- stdout
// ---- stderr
// bad-batch-axis.pir: error: --batch-axis: name the input, as in --batch-axis NAME=1; the inputs are x, lengths
// ---- exit 1
// ---- perfc opt %s --batch 8 --batch-axis all=none
// ---- stdout
// ---- stderr
// bad-batch-axis.pir: error: cannot change the batch: with this --batch-axis no input holds samples
// ---- exit 1
// ---- perfc opt %s --batch 8 --batch-axis x=0 --batch-axis lengths=0
// ---- stdout
// ---- stderr
// bad-batch-axis.pir:8:40: 'lengths': error: dim 0 of Tensor[(3,), int64] is no multiple of the 2 samples of 'x'; --batch-axis names inputs that hold as many for each sample
// ---- exit 1
