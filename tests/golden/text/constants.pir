// RUN: perfc import %s
#[version = "perfc-ir/1"]
def @constants() -> (weight: Tensor[(64, 3), float16], "": Tensor[(3,), int64], "a name": Tensor[(), float32]) {
  %0 = weight : Tensor[(64, 3), float16] @"fc.weight";
  %1 = const[1, ?, N] : Tensor[(3,), int64];
  %2 = const[0.1] : Tensor[(), float32] @eps;
  %3 = const floats[] : Tensor[(0,), float32];
  %4 = const["a", "b"] : Tensor[(2,), string];
  (%0, %1, %2)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @constants() -> (weight: Tensor[(64, 3), float16], Tensor[(3,), int64], "a name": Tensor[(), float32]) {
//   %0 = weight : Tensor[(64, 3), float16] @"fc.weight";
//   %1 = const[1, ?, N] : Tensor[(3,), int64];
//   %2 = const[0.1] : Tensor[(), float32] @eps;
//   %3 = const floats[] : Tensor[(0,), float32];
//   %4 = const["a", "b"] : Tensor[(2,), string];
//   (%0, %1, %2)
// }
// ---- stderr
// ---- exit 0
