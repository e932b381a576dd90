// RUN: perfc opt %s --passes=bind-shapes --dim=N=4 --dim=H=7 --verify-each
// Names are bound everywhere, region signatures included.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(N, 3, H), float32], %c: Tensor[(), bool]) {
  %2 = nn.relu(%x);
  %3 = if(%c, %2, captures=1) {
    fn @yes(%v: Tensor[(N, 3, H), float32]) { %1 = exp(%v); (%1) }
    fn @no(%v: Tensor[(N, 3, H), float32]) { (%v) }
  };
  (%3)
}
