// RUN: perfc import %s
#[version = "perfc-ir/1"]
def @main(%c: Tensor[(), bool], %x: Tensor[(4,), float32]) {
  %2 = if(%c, %x, captures=1) {
    %1 = nn.relu(%x);
  };
  (%2)
}
// ---- stdout
// ---- stderr
// bad-region-syntax.pir:5:5: error: expected 'fn' or '}', found '%'
// ---- exit 1
