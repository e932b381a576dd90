// RUN: perfc opt %s --passes=bind-shapes --dim=M=4
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(N, 3), float32]) {
  %1 = nn.relu(%x);
  (%1)
}
