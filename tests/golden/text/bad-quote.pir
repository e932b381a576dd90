// RUN: perfc import %s
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(2,), float32]) {
  %1 = nn.relu(%x) @"name;
  (%1)
}
// ---- stdout
// ---- stderr
// bad-quote.pir:4:27: error: the quote is not closed on its line
// ---- exit 1
