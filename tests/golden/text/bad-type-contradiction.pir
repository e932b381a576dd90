// RUN: perfc import %s
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(2, 3), float32]) -> (Tensor[(2, 3), float16]) {
  %1 = nn.relu(%x) : Tensor[(2, 4), float32];
  %2 = nn.relu(%x);
  (%2)
}
// ---- stdout
// ---- stderr
// bad-type-contradiction.pir:4:22: error: nn.relu: result 0 is Tensor[(2, 3), float32], the text says Tensor[(2, 4), float32]
// bad-type-contradiction.pir:3:44: error: result 0 is Tensor[(2, 3), float32], the header says Tensor[(2, 3), float16]
// ---- exit 1
