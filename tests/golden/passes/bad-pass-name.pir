// RUN: perfc opt %s --passes=fold-constant
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(2,), float32]) { (%x) }
// ---- stdout
// ---- stderr
// bad-pass-name.pir: error: unknown pass 'fold-constant' (did you mean 'fold-constants'?)
// ---- exit 1
