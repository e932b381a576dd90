// RUN: perfc import %s
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(2,), float32]) {
  %1 = add(%x, );
  (%1)
}
// ---- stdout
// ---- stderr
// bad-syntax-operand.pir:4:14: error: expected ')', found ','
// ---- exit 1
