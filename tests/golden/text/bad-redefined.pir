// RUN: perfc import %s
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(2,), float32]) {
  %x = nn.relu(%x);
  (%x)
}
// ---- stdout
// ---- stderr
// bad-redefined.pir:4:3: error: %x is already defined
// ---- exit 1
