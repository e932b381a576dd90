// RUN: perfc import %s
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(2,), float32]) {
  %1 = add(%x);
  %2 = add(%x, axis=1, %x);
  %3 = add(_, %x);
  %4 = nn.relu(%x, alpha=1, alpha=2);
  (%4)
}
// ---- stdout
// ---- stderr
// bad-operands.pir:4:3: error: add: takes 2 operands, got 1
// bad-operands.pir:5:24: error: operands come before attributes
// bad-operands.pir:6:3: error: add: operand 0 is missing
// bad-operands.pir:7:29: error: attribute 'alpha' is given twice
// ---- exit 1
