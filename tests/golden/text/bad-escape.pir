// RUN: perfc import %s
#[version = "perfc-ir/1"]
def @"a\qb"(%x: Tensor[(2,), float32]) {
  (%x)
}
// ---- stdout
// ---- stderr
// bad-escape.pir:3:6: error: unknown escape in string; there are \n \t \\ \" \' \xHH
// ---- exit 1
