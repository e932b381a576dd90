// RUN: perfc import %s
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(2,), float32], %7: Tensor[(2,), float32]) {
  (%x)
}
// ---- stdout
// ---- stderr
// bad-param-number.pir:3:38: error: param %7 has a number that no value precedes; the next is %1
// ---- exit 1
