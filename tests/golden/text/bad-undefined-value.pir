// RUN: perfc import %s
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(2,), float32]) {
  %1 = nn.relu(%y);
  %2 = nn.relu(%3);
  %3 = nn.relu(%x.1);
  %4 = nn.relu(%1);
  (%4, %x, %7)
}
// ---- stdout
// ---- stderr
// bad-undefined-value.pir:4:16: error: %y is not defined before this use
// bad-undefined-value.pir:5:16: error: %3 is not defined before this use
// bad-undefined-value.pir:6:16: error: %x has 1 result, there is no .1
// bad-undefined-value.pir:8:12: error: %7 is not defined before this use
// ---- exit 1
