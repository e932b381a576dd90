// RUN: perfc opt %s --passes=unroll-loops,fold-constants,eliminate-dead --verify-each
// Rounds are written out, with one copy of what a body holds: a loop that counts to 2, a scan from behind, whose results
// it stacks, and a loop without rounds that stays. A loop of more calls than are worth writing stays, too.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(3, 4), float32]) {
  %1 = const[0] : Tensor[(), int64];
  %2 = const[1] : Tensor[(), bool];
  %3:2 = loop(_, %2, %1, %x, captures=0) @counts {
    fn @body(%i: Tensor[(), int64], %c: Tensor[(), bool], %n: Tensor[(), int64], %h: Tensor[(3, 4), float32]) {
      %4 = const[1] : Tensor[(), int64];
      %5 = add(%n, %4);
      %6 = weight : Tensor[(4, 4), float32] @shared;
      %7 = nn.dense(%h, %6) @layer;
      %8 = const[2] : Tensor[(), int64];
      %9 = less(%5, %8);
      (%9, %5, %7)
    }
  };
  %4 = weight : Tensor[(4,), float32];
  %5:2 = scan(%4, %3.1, captures=0, num_scan_inputs=1, scan_input_directions=[1], scan_output_axes=[1], scan_output_directions=[1]) @sums {
    fn @body(%s: Tensor[(4,), float32], %row: Tensor[(4,), float32]) {
      %2 = add(%s, %row);
      (%2, %2)
    }
  };
  %6 = const[4096] : Tensor[(), int64];
  %7 = loop(%6, _, %5.1, captures=0) @many {
    fn @body(%i: Tensor[(), int64], %c: Tensor[(), bool], %h: Tensor[(4, 3), float32]) { %3 = exp(%h); (%c, %3) }
  };
  %8 = const[0] : Tensor[(), int64];
  %9 = loop(%8, _, %7, captures=0) @none {
    fn @body(%i: Tensor[(), int64], %c: Tensor[(), bool], %h: Tensor[(4, 3), float32]) { %3 = exp(%h); (%c, %3) }
  };
  (%9)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(3, 4), float32]) -> (Tensor[(4, 3), float32]) {
//   %1 = weight : Tensor[(4, 4), float32] @shared;
//   %2 = nn.dense(%x, %1) : Tensor[(3, 4), float32] @layer;
//   %3 = nn.dense(%2, %1) : Tensor[(3, 4), float32] @layer;
//   %4 = weight : Tensor[(4,), float32];
//   %5 = const[2] : Tensor[(), int64];
//   %6 = take(%3, %5, axis=0) : Tensor[(4,), float32] @sums;
//   %7 = add(%4, %6) : Tensor[(4,), float32];
//   %8 = const[1] : Tensor[(), int64];
//   %9 = take(%3, %8, axis=0) : Tensor[(4,), float32] @sums;
//   %10 = add(%7, %9) : Tensor[(4,), float32];
//   %11 = const[0] : Tensor[(), int64];
//   %12 = take(%3, %11, axis=0) : Tensor[(4,), float32] @sums;
//   %13 = add(%10, %12) : Tensor[(4,), float32];
//   %14 = const[1] : Tensor[(1,), int64];
//   %15 = expand_dims(%13, %14) : Tensor[(4, 1), float32] @sums;
//   %16 = expand_dims(%10, %14) : Tensor[(4, 1), float32] @sums;
//   %17 = expand_dims(%7, %14) : Tensor[(4, 1), float32] @sums;
//   %18 = concatenate(%15, %16, %17, axis=1) : Tensor[(4, 3), float32] @sums;
//   %19 = const[4096] : Tensor[(), int64];
//   %20 = loop(%19, _, %18, captures=0) : Tensor[(4, 3), float32] @many {
//     fn @body(%i: Tensor[(), int64], %c: Tensor[(), bool], %h: Tensor[(4, 3), float32]) -> (Tensor[(), bool], Tensor[(4, 3), float32]) {
//       %3 = exp(%h) : Tensor[(4, 3), float32];
//       (%c, %3)
//     }
//   };
//   %21 = const[0] : Tensor[(), int64];
//   %22 = loop(%21, _, %20, captures=0) : Tensor[(4, 3), float32] @none {
//     fn @body(%i: Tensor[(), int64], %c: Tensor[(), bool], %h: Tensor[(4, 3), float32]) -> (Tensor[(), bool], Tensor[(4, 3), float32]) {
//       %3 = exp(%h) : Tensor[(4, 3), float32];
//       (%c, %3)
//     }
//   };
//   (%22)
// }
// ---- stderr
// ---- exit 0
