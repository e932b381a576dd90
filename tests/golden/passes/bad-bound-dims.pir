// RUN: perfc opt %s --passes=bound-dims --bound=kep=7
// RUN: perfc opt %s --passes=bound-dims --bound=other=7
// RUN: perfc opt %s --passes=bound-dims --bound=kept=7
// RUN: perfc opt %s --passes=bound-dims --bound=N=7
// RUN: perfc opt %s --passes=bound-dims --bound=kept
// RUN: perfc opt %s --passes=bound-dims --dynamic=uper
// A name that nothing has, an extent that is not possible, a dim that --dim binds, what is no extent and no policy.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(2, 3), float32], %y: Tensor[(N,), float32]) {
  %2 = nonzero(%x) : Tensor[(2, found), int64] @kept;
  %3 = nn.relu(%y);
  (%2, %3)
}
// ---- perfc opt %s --passes=bound-dims --bound=kep=7
// ---- stdout
// ---- stderr
// bad-bound-dims.pir: error: --bound: no node whose dims data decides, and no such dim, is named 'kep' (did you mean 'kept'?)
// ---- exit 1
// ---- perfc opt %s --passes=bound-dims --bound=other=7
// ---- stdout
// ---- stderr
// bad-bound-dims.pir: error: --bound: no node whose dims data decides, and no such dim, is named 'other'; there are found, kept
// ---- exit 1
// ---- perfc opt %s --passes=bound-dims --bound=kept=7
// ---- stdout
// ---- stderr
// bad-bound-dims.pir:10:3: 'kept': error: nonzero: --bound asks for 7, there can be 6 at most (elements of the operand)
// ---- exit 1
// ---- perfc opt %s --passes=bound-dims --bound=N=7
// ---- stdout
// ---- stderr
// bad-bound-dims.pir: error: --bound: no node whose dims data decides, and no such dim, is named 'N'; there are found, kept
// ---- exit 1
// ---- perfc opt %s --passes=bound-dims --bound=kept
// ---- stdout
// ---- stderr
// perfc: error: --bound: 'kept' is not NODE=N with a whole number
// ---- exit 2
// ---- perfc opt %s --passes=bound-dims --dynamic=uper
// ---- stdout
// ---- stderr
// perfc: error: --dynamic: 'uper' is none of refuse, least, typical, upper (did you mean 'upper'?)
// ---- exit 2
