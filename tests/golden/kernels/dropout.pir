// RUN: perfc predict %s --emit=kernels --mode eager --dtype fp32 --predictor whitebox --device a100-40gb
// RUN: perfc predict %s --emit=kernels --mode eager --dtype fp32 --task train --optimizer sgd --predictor whitebox --device a100-40gb
// COLUMNS: operators,bytes,m,n,k,products
// A model exported in training drops elements: one kernel that reads the data, writes the result and a byte of mask per
// element, and backwards one that reads gradient and mask.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(16, 1024), float32]) {
  %1 = weight : Tensor[(1024, 1024), float32];
  %2 = nn.dense(%x, %1);
  %3 = const[0.1] : Tensor[(), float32];
  %4 = const[1] : Tensor[(), bool];
  %5 = nn.dropout(%2, %3, %4);
  %6 = nn.relu(%5);
  (%6)
}
// ---- perfc predict %s --emit=kernels --mode eager --dtype fp32 --predictor whitebox --device a100-40gb
// ---- stdout
// nn.dense 4325376 16 1024 1024 1
// nn.dropout 147461 16 1024 1 1
// nn.relu 131072 16 1024 1 1
// ---- stderr
// ---- exit 0
// ---- perfc predict %s --emit=kernels --mode eager --dtype fp32 --task train --optimizer sgd --predictor whitebox --device a100-40gb
// ---- stdout
// nn.dense 4325376 16 1024 1024 1
// nn.dropout 147461 16 1024 1 1
// nn.relu 131072 16 1024 1 1
// nn.relu 196608 16 1024 1 1
// nn.dropout 147461 16 1024 1 1
// nn.dense 4325376 1024 1024 16 1
// add 12582912 1048576 1 1 1
// ---- stderr
// ---- exit 0
