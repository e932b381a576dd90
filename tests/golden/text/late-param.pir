// RUN: perfc import %s
// A numbered param may come after other nodes.
#[version = "perfc-ir/1"]
def @late(%1: Tensor[(3,), float32]) {
  %0 = weight : Tensor[(3,), float32];
  %2 = add(%0, %1);
  (%2)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @late(%1: Tensor[(3,), float32]) -> (Tensor[(3,), float32]) {
//   %0 = weight : Tensor[(3,), float32];
//   %2 = add(%0, %1) : Tensor[(3,), float32];
//   (%2)
// }
// ---- stderr
// ---- exit 0
