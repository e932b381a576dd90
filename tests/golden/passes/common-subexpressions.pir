// RUN: perfc opt %s --passes=common-subexpressions,eliminate-dead --verify-each
// Equal calls are computed once, but never random ones.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(2, 3), float32]) {
  %1 = exp(%x) @first;
  %2 = exp(%x) @second;
  %3 = add(%1, %2);
  %4 = random_normal_like(%x);
  %5 = random_normal_like(%x);
  %6 = add(%4, %5);
  (%3, %6)
}
