// RUN: perfc opt %s --passes=bind-shapes --dim=M=4
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(N, 3), float32]) {
  %1 = nn.relu(%x);
  (%1)
}
// ---- stdout
// ---- stderr
// bad-bind-shapes.pir: error: no dim is named 'M' (did you mean 'N'?)
// ---- exit 1
