// RUN: perfc import %s
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(2,), float32]) {
  %1 = nn.relu(%x);
}
// ---- stdout
// ---- stderr
// bad-syntax-no-results.pir:5:1: error: expected a statement or the results, found '}'
// ---- exit 1
