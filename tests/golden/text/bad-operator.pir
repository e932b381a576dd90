// RUN: perfc import %s
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(2,), float32]) {
  %1 = nn.rellu(%x);
  %2 = no_such_operator_at_all(%1);
  (%1)
}
// ---- stdout
// ---- stderr
// bad-operator.pir:4:8: error: unknown operator 'nn.rellu' (did you mean 'nn.relu'?)
// bad-operator.pir:5:8: error: unknown operator 'no_such_operator_at_all'
// ---- exit 1
