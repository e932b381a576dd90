// RUN: perfc import %s
// Values go by number or by name; a name is also the node's.
#[version = "perfc-ir/1"]
def @"two words"(%image: Tensor[(1, 8, 4), float32], %1: Tensor[(1,), float32] @"input.1") -> (first: Tensor[(1, 4, 4), float32]) {
  %halves:2 = split(%image, axis=1) : (Tensor[(1, 4, 4), float32], Tensor[(1, 4, 4), float32]);
  %sum = add(%halves.0, %halves.1) @"the sum";
  %4 = clip(%sum, _, %1);
  (%4)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @"two words"(%0: Tensor[(1, 8, 4), float32] @image, %1: Tensor[(1,), float32] @"input.1") -> (first: Tensor[(1, 4, 4), float32]) {
//   %2:2 = split(%0, axis=1) : (Tensor[(1, 4, 4), float32], Tensor[(1, 4, 4), float32]) @halves;
//   %3 = add(%2.0, %2.1) : Tensor[(1, 4, 4), float32] @"the sum";
//   %4 = clip(%3, _, %1) : Tensor[(1, 4, 4), float32];
//   (%4)
// }
// ---- stderr
// ---- exit 0
