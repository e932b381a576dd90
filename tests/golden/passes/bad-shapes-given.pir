// RUN: perfc opt %s --shape x=1,3 --shape x=2,3
// RUN: perfc opt %s --shape x=1,3 --shape y=2,3
// RUN: perfc opt %s --shape x=1,3 --dim N=2
// RUN: perfc opt %s --dim N=2 --dim N=3
// RUN: perfc opt %s --dim M=2
// RUN: perfc opt %s --shape x=
// RUN: perfc opt %s --shape s= --shape x=1,3 --passes=none
// Each contradiction is one message; open dims are listed once.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(N, L), float32], %y: Tensor[(N, L), float32], %s: Tensor[(), float32]) -> (z: Tensor[(N, L), float32]) {
  %3 = add(%x, %y);
  %4 = multiply(%3, %s);
  (%4)
}
// ---- perfc opt %s --shape x=1,3 --shape x=2,3
// ---- stdout
// ---- stderr
// bad-shapes-given.pir: 'x': error: --shape: two shapes are given for the input, 1,3 and 2,3; give one
// ---- exit 1
// ---- perfc opt %s --shape x=1,3 --shape y=2,3
// ---- stdout
// ---- stderr
// bad-shapes-given.pir: error: dim 'N' cannot be both 1 (--shape x=1,3) and 2 (--shape y=2,3)
// ---- exit 1
// ---- perfc opt %s --shape x=1,3 --dim N=2
// ---- stdout
// ---- stderr
// bad-shapes-given.pir: error: dim 'N' cannot be both 2 (--dim N=2) and 1 (--shape x=1,3)
// ---- exit 1
// ---- perfc opt %s --dim N=2 --dim N=3
// ---- stdout
// ---- stderr
// bad-shapes-given.pir: error: dim 'N' cannot be both 2 (--dim N=2) and 3 (--dim N=3)
// ---- exit 1
// ---- perfc opt %s --dim M=2
// ---- stdout
// ---- stderr
// bad-shapes-given.pir: error: --dim: no input has a dim named 'M' (did you mean 'N'?)
// ---- exit 1
// ---- perfc opt %s --shape x=
// ---- stdout
// ---- stderr
// bad-shapes-given.pir: 'x': error: --shape: 0 dims given, the input has 2: Tensor[(N, L), float32]
// ---- exit 1
// ---- perfc opt %s --shape s= --shape x=1,3 --passes=none
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(1, 3), float32], %y: Tensor[(1, 3), float32], %s: Tensor[(), float32]) -> (z: Tensor[(1, 3), float32]) {
//   %3 = add(%x, %y) : Tensor[(1, 3), float32];
//   %4 = multiply(%3, %s) : Tensor[(1, 3), float32];
//   (%4)
// }
// ---- stderr
// ---- exit 0
