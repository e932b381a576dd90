// RUN: perfc opt %s --passes=fold-batch-norm,eliminate-dead --verify-each
// A norm goes into the convolution before it unless others use that.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(1, 3, 8, 8), float32]) {
  %1 = weight : Tensor[(16, 3, 3, 3), float32];
  %2 = weight : Tensor[(16,), float32];
  %3 = nn.conv2d(%x, %1) @folded;
  %4 = nn.batch_norm(%3, %2, %2, %2, %2);
  %5 = nn.conv2d(%x, %1) @used_twice;
  %6 = nn.batch_norm(%5, %2, %2, %2, %2);
  %7 = add(%5, %6);
  (%4, %7)
}
