// RUN: perfc opt %s --passes=bound-dims --dynamic=upper --verify-each
// RUN: perfc opt %s --passes=bound-dims --dynamic=typical --verify-each
// RUN: perfc opt %s --passes=bound-dims --dynamic=least --verify-each
// RUN: perfc opt %s --passes=bound-dims --dynamic=refuse --verify-each
// RUN: perfc opt %s --passes=bound-dims --dynamic=refuse --bound=kept=7 --verify-each
// RUN: perfc opt %s --passes=bound-dims,simplify-control-flow,eliminate-dead --dynamic=typical --verify-each
// What a suppression keeps: its extent reaches whatever is computed from it, bodies included, and settles branches.
#[version = "perfc-ir/1"]
def @main(%boxes: Tensor[(1, 50, 4), float32], %scores: Tensor[(1, 3, 50), float32], %c: Tensor[(), bool]) {
  %3 = const[10] : Tensor[(1,), int64];
  %4 = vision.non_max_suppression(%boxes, %scores, %3) : Tensor[(found, 3), int64] @kept;
  %5 = size_of(%4);
  %6 = const[0] : Tensor[(), int64];
  %7 = equal(%5, %6) @none;
  %8 = if(%7, %4, captures=1) {
    fn @yes(%v: Tensor[(found, 3), int64]) { %1 = const[0, 3] : Tensor[(2,), int64]; %2 = full(%1, dtype="int64"); (%2) }
    fn @no(%v: Tensor[(found, 3), int64]) { %1 = negative(%v); (%1) }
  };
  %9 = if(%c, %4, captures=1) {
    fn @yes(%v: Tensor[(found, 3), int64]) { %1 = concatenate(%v, %v, axis=0); (%1) }
    fn @no(%v: Tensor[(found, 3), int64]) { (%v) }
  };
  (%8, %9)
}
