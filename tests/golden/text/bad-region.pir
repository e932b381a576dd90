// RUN: perfc import %s
#[version = "perfc-ir/1"]
def @main(%c: Tensor[(), bool], %x: Tensor[(4,), float32]) {
  %2 = if(%c, %x, captures=1) {
    fn @yes(%x: Tensor[(4,), float32]) {
      %1 = nn.rellu(%x);
      (%1)
    }
    fn @no(%x: Tensor[(4,), float32]) {
      (%9)
    }
  };
  %3 = nn.relu(%2);
  (%3)
}
// ---- stdout
// ---- stderr
// bad-region.pir:6:12: error: unknown operator 'nn.rellu' (did you mean 'nn.relu'?)
// bad-region.pir:10:8: error: %9 is not defined before this use
// ---- exit 1
