// RUN: perfc import %s
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(2,), float32]) {
  %2 = nn.relu(%x);
  (%2)
}
// ---- stdout
// ---- stderr
// bad-order.pir:4:3: error: values are numbered in order: %1 is next, not %2
// ---- exit 1
