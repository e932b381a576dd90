// RUN: perfc import %s
#[version = "perfc-ir/1"]
def @main(%p: Tensor[(2,), int64] = [1]) {
  %1 = const[1, 2, 3] : Tensor[(2,), int64];
  %2 = const[] : Tensor[(), float32];
  (%1)
}
// ---- stdout
// ---- stderr
// bad-contents.pir:3:11: error: 1 elements for Tensor[(2,), int64], which has 2
// bad-contents.pir:4:25: error: 3 elements for Tensor[(2,), int64], which has 2
// bad-contents.pir:5:18: error: 0 elements for Tensor[(), float32], which has 1
// ---- exit 1
