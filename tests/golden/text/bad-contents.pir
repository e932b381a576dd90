// RUN: perfc import %s
#[version = "perfc-ir/1"]
def @main(%p: Tensor[(2,), int64] = [1]) {
  %1 = const[1, 2, 3] : Tensor[(2,), int64];
  %2 = const[] : Tensor[(), float32];
  (%1)
}
// ---- stdout
// ---- stderr
// bad-contents.pir:3:11: error: Tensor[(2,), int64] has 2 elements, not 1
// bad-contents.pir:4:25: error: Tensor[(2,), int64] has 2 elements, not 3
// bad-contents.pir:5:18: error: Tensor[(), float32] has 1 element, not 0
// ---- exit 1
