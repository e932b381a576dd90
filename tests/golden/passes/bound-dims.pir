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
// ---- perfc opt %s --passes=bound-dims --dynamic=upper --verify-each
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%boxes: Tensor[(1, 50, 4), float32], %scores: Tensor[(1, 3, 50), float32], %c: Tensor[(), bool]) -> (Tensor[(30, 3), int64], Tensor[(60, 3), int64]) {
//   %3 = const[10] : Tensor[(1,), int64];
//   %4 = vision.non_max_suppression(%boxes, %scores, %3, bound=[0, 0, 30], bound_by="boxes, or the limit per class, of all classes") : Tensor[(30, 3), int64] @kept;
//   %5 = size_of(%4) : Tensor[(), int64];
//   %6 = const[0] : Tensor[(), int64];
//   %7 = equal(%5, %6) : Tensor[(), bool] @none;
//   %8 = if(%7, %4, captures=1) : Tensor[(30, 3), int64] {
//     fn @yes(%v: Tensor[(30, 3), int64]) -> (Tensor[(0, 3), int64]) {
//       %1 = const[0, 3] : Tensor[(2,), int64];
//       %2 = full(%1, dtype="int64") : Tensor[(0, 3), int64];
//       (%2)
//     }
//     fn @no(%v: Tensor[(30, 3), int64]) -> (Tensor[(30, 3), int64]) {
//       %1 = negative(%v) : Tensor[(30, 3), int64];
//       (%1)
//     }
//   };
//   %9 = if(%c, %4, bound=[0, 0, 60], bound_by="the branch that gives more", captures=1) : Tensor[(60, 3), int64] {
//     fn @yes(%v: Tensor[(30, 3), int64]) -> (Tensor[(60, 3), int64]) {
//       %1 = concatenate(%v, %v, axis=0) : Tensor[(60, 3), int64];
//       (%1)
//     }
//     fn @no(%v: Tensor[(30, 3), int64]) -> (Tensor[(30, 3), int64]) {
//       (%v)
//     }
//   };
//   (%8, %9)
// }
// ---- stderr
// ---- exit 0
// ---- perfc opt %s --passes=bound-dims --dynamic=typical --verify-each
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%boxes: Tensor[(1, 50, 4), float32], %scores: Tensor[(1, 3, 50), float32], %c: Tensor[(), bool]) -> (Tensor[(10, 3), int64], Tensor[(20, 3), int64]) {
//   %3 = const[10] : Tensor[(1,), int64];
//   %4 = vision.non_max_suppression(%boxes, %scores, %3, bound=[0, 0, 10], bound_by="an image keeps as many of all classes as it may of one") : Tensor[(10, 3), int64] @kept;
//   %5 = size_of(%4) : Tensor[(), int64];
//   %6 = const[0] : Tensor[(), int64];
//   %7 = equal(%5, %6) : Tensor[(), bool] @none;
//   %8 = if(%7, %4, captures=1) : Tensor[(10, 3), int64] {
//     fn @yes(%v: Tensor[(10, 3), int64]) -> (Tensor[(0, 3), int64]) {
//       %1 = const[0, 3] : Tensor[(2,), int64];
//       %2 = full(%1, dtype="int64") : Tensor[(0, 3), int64];
//       (%2)
//     }
//     fn @no(%v: Tensor[(10, 3), int64]) -> (Tensor[(10, 3), int64]) {
//       %1 = negative(%v) : Tensor[(10, 3), int64];
//       (%1)
//     }
//   };
//   %9 = if(%c, %4, bound=[0, 0, 20], bound_by="the branch that gives more", captures=1) : Tensor[(20, 3), int64] {
//     fn @yes(%v: Tensor[(10, 3), int64]) -> (Tensor[(20, 3), int64]) {
//       %1 = concatenate(%v, %v, axis=0) : Tensor[(20, 3), int64];
//       (%1)
//     }
//     fn @no(%v: Tensor[(10, 3), int64]) -> (Tensor[(10, 3), int64]) {
//       (%v)
//     }
//   };
//   (%8, %9)
// }
// ---- stderr
// ---- exit 0
// ---- perfc opt %s --passes=bound-dims --dynamic=least --verify-each
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%boxes: Tensor[(1, 50, 4), float32], %scores: Tensor[(1, 3, 50), float32], %c: Tensor[(), bool]) -> (Tensor[(1, 3), int64], Tensor[(2, 3), int64]) {
//   %3 = const[10] : Tensor[(1,), int64];
//   %4 = vision.non_max_suppression(%boxes, %scores, %3, bound=[0, 0, 1], bound_by="boxes, or the limit per class, of all classes") : Tensor[(1, 3), int64] @kept;
//   %5 = size_of(%4) : Tensor[(), int64];
//   %6 = const[0] : Tensor[(), int64];
//   %7 = equal(%5, %6) : Tensor[(), bool] @none;
//   %8 = if(%7, %4, captures=1) : Tensor[(1, 3), int64] {
//     fn @yes(%v: Tensor[(1, 3), int64]) -> (Tensor[(0, 3), int64]) {
//       %1 = const[0, 3] : Tensor[(2,), int64];
//       %2 = full(%1, dtype="int64") : Tensor[(0, 3), int64];
//       (%2)
//     }
//     fn @no(%v: Tensor[(1, 3), int64]) -> (Tensor[(1, 3), int64]) {
//       %1 = negative(%v) : Tensor[(1, 3), int64];
//       (%1)
//     }
//   };
//   %9 = if(%c, %4, bound=[0, 0, 2], bound_by="the branch that gives more", captures=1) : Tensor[(2, 3), int64] {
//     fn @yes(%v: Tensor[(1, 3), int64]) -> (Tensor[(2, 3), int64]) {
//       %1 = concatenate(%v, %v, axis=0) : Tensor[(2, 3), int64];
//       (%1)
//     }
//     fn @no(%v: Tensor[(1, 3), int64]) -> (Tensor[(1, 3), int64]) {
//       (%v)
//     }
//   };
//   (%8, %9)
// }
// ---- stderr
// ---- exit 0
// ---- perfc opt %s --passes=bound-dims --dynamic=refuse --verify-each
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%boxes: Tensor[(1, 50, 4), float32], %scores: Tensor[(1, 3, 50), float32], %c: Tensor[(), bool]) -> (Tensor[(?, 3), int64], Tensor[(?, 3), int64]) {
//   %3 = const[10] : Tensor[(1,), int64];
//   %4 = vision.non_max_suppression(%boxes, %scores, %3) : Tensor[(found, 3), int64] @kept;
//   %5 = size_of(%4) : Tensor[(), int64];
//   %6 = const[0] : Tensor[(), int64];
//   %7 = equal(%5, %6) : Tensor[(), bool] @none;
//   %8 = if(%7, %4, captures=1) : Tensor[(?, 3), int64] {
//     fn @yes(%v: Tensor[(found, 3), int64]) -> (Tensor[(0, 3), int64]) {
//       %1 = const[0, 3] : Tensor[(2,), int64];
//       %2 = full(%1, dtype="int64") : Tensor[(0, 3), int64];
//       (%2)
//     }
//     fn @no(%v: Tensor[(found, 3), int64]) -> (Tensor[(found, 3), int64]) {
//       %1 = negative(%v) : Tensor[(found, 3), int64];
//       (%1)
//     }
//   };
//   %9 = if(%c, %4, captures=1) : Tensor[(?, 3), int64] {
//     fn @yes(%v: Tensor[(found, 3), int64]) -> (Tensor[(?, 3), int64]) {
//       %1 = concatenate(%v, %v, axis=0) : Tensor[(?, 3), int64];
//       (%1)
//     }
//     fn @no(%v: Tensor[(found, 3), int64]) -> (Tensor[(found, 3), int64]) {
//       (%v)
//     }
//   };
//   (%8, %9)
// }
// ---- stderr
// ---- exit 0
// ---- perfc opt %s --passes=bound-dims --dynamic=refuse --bound=kept=7 --verify-each
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%boxes: Tensor[(1, 50, 4), float32], %scores: Tensor[(1, 3, 50), float32], %c: Tensor[(), bool]) -> (Tensor[(7, 3), int64], Tensor[(?, 3), int64]) {
//   %3 = const[10] : Tensor[(1,), int64];
//   %4 = vision.non_max_suppression(%boxes, %scores, %3, bound=[0, 0, 7], bound_by="--bound") : Tensor[(7, 3), int64] @kept;
//   %5 = size_of(%4) : Tensor[(), int64];
//   %6 = const[0] : Tensor[(), int64];
//   %7 = equal(%5, %6) : Tensor[(), bool] @none;
//   %8 = if(%7, %4, captures=1) : Tensor[(7, 3), int64] {
//     fn @yes(%v: Tensor[(7, 3), int64]) -> (Tensor[(0, 3), int64]) {
//       %1 = const[0, 3] : Tensor[(2,), int64];
//       %2 = full(%1, dtype="int64") : Tensor[(0, 3), int64];
//       (%2)
//     }
//     fn @no(%v: Tensor[(7, 3), int64]) -> (Tensor[(7, 3), int64]) {
//       %1 = negative(%v) : Tensor[(7, 3), int64];
//       (%1)
//     }
//   };
//   %9 = if(%c, %4, captures=1) : Tensor[(?, 3), int64] {
//     fn @yes(%v: Tensor[(7, 3), int64]) -> (Tensor[(14, 3), int64]) {
//       %1 = concatenate(%v, %v, axis=0) : Tensor[(14, 3), int64];
//       (%1)
//     }
//     fn @no(%v: Tensor[(7, 3), int64]) -> (Tensor[(7, 3), int64]) {
//       (%v)
//     }
//   };
//   (%8, %9)
// }
// ---- stderr
// ---- exit 0
// ---- perfc opt %s --passes=bound-dims,simplify-control-flow,eliminate-dead --dynamic=typical --verify-each
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%boxes: Tensor[(1, 50, 4), float32], %scores: Tensor[(1, 3, 50), float32], %c: Tensor[(), bool]) -> (Tensor[(10, 3), int64], Tensor[(20, 3), int64]) {
//   %3 = const[10] : Tensor[(1,), int64];
//   %4 = vision.non_max_suppression(%boxes, %scores, %3, bound=[0, 0, 10], bound_by="an image keeps as many of all classes as it may of one") : Tensor[(10, 3), int64] @kept;
//   %5 = negative(%4) : Tensor[(10, 3), int64];
//   %6 = if(%c, %4, bound=[0, 0, 20], bound_by="the branch that gives more", captures=1) : Tensor[(20, 3), int64] {
//     fn @yes(%v: Tensor[(10, 3), int64]) -> (Tensor[(20, 3), int64]) {
//       %1 = concatenate(%v, %v, axis=0) : Tensor[(20, 3), int64];
//       (%1)
//     }
//     fn @no(%v: Tensor[(10, 3), int64]) -> (Tensor[(10, 3), int64]) {
//       (%v)
//     }
//   };
//   (%5, %6)
// }
// ---- stderr
// ---- exit 0
