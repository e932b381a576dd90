// RUN: perfc predict %s --emit=kernels --dtype amp --predictor whitebox --device a100-40gb
// COLUMNS: operators,bytes
// In inference autocast casts data and weights for each product that reads them.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(4, 64), float32]) {
  %1 = weight : Tensor[(64, 64), float32];
  %2 = weight : Tensor[(64, 128), float32];
  %3 = nn.dense(%x, %1);
  %4 = nn.dense(%x, %2);
  %5 = nn.dense(%x, %1);
  (%3, %4, %5)
}
// ---- stdout
// cast 24576
// cast 1536
// nn.dense 9216
// cast 49152
// cast 1536
// nn.dense 17920
// cast 24576
// cast 1536
// nn.dense 9216
// ---- stderr
// ---- exit 0
