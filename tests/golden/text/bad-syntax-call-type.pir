// RUN: perfc import %s
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(2,), float32]) {
  %1 = nn.relu(%x) : ;
  (%1)
}
// ---- stdout
// ---- stderr
// bad-syntax-call-type.pir:4:22: error: expected a type, found ';'
// ---- exit 1
