// RUN: perfc import %s
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(2,), float32]) {
  %1 = nn.relu(%x);
// ---- stdout
// ---- stderr
// bad-syntax-end.pir:9:1: error: expected a statement or the results, found the end of the file
// ---- exit 1
