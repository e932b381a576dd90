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
