// RUN: perfc import %s
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(2,), float32]) {
  %1 = nn.relu(%x, a=9223372036854775808);
  %2 = nn.relu(%x, a=[1, 0.5]);
  %3 = nn.relu(%x, a=[0.5, 1]);
  %4 = nn.relu(%x, a=["a", 1]);
  %5 = nn.relu(%x, a=1e999);
  %6 = nn.relu(%x, a=word);
  %7 = nn.relu(%x, a=nan(0x1));
  (%7)
}
// ---- stdout
// ---- stderr
// bad-numbers.pir:4:22: error: 9223372036854775808 does not fit into 64 bits
// bad-numbers.pir:5:26: error: 0.5 does not belong into a list of integers
// bad-numbers.pir:6:28: error: 1 does not belong into a list of reals; write 1.0
// bad-numbers.pir:7:28: error: 1 does not belong into a list of strings
// bad-numbers.pir:8:22: error: 1e999 is no 64-bit floating-point number
// bad-numbers.pir:9:22: error: an integer belongs here, not 'word'
// bad-numbers.pir:10:22: error: nan(0x1) is no 64-bit floating-point number
// ---- exit 1
