// RUN: perfc import %s
// A scan as jax lowers it: what is read is captured, what is written is stacked, the rounds are known.
module @loops {
  func.func public @main(%arg0: tensor<4x4xf32> loc("params['w']"), %arg1: tensor<5x2x4xf32> loc("x"), %arg2: tensor<i32> loc("choice")) -> (tensor<5x2x4xf32>, tensor<2x4xf32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<5> : tensor<i32>
    %c_1 = stablehlo.constant dense<1> : tensor<i32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<2x4xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<5x2x4xf32>
    %0:5 = stablehlo.while(%iterArg = %arg1, %iterArg_1 = %arg0, %iterArg_2 = %c, %iterArg_3 = %cst, %iterArg_4 = %cst_2) : tensor<5x2x4xf32>, tensor<4x4xf32>, tensor<i32>, tensor<2x4xf32>, tensor<5x2x4xf32>
     cond {
      %3 = stablehlo.compare LT, %iterArg_2, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      %3 = stablehlo.dynamic_slice %iterArg, %iterArg_2, %c, %c, sizes = [1, 2, 4] : (tensor<5x2x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x4xf32>
      %4 = stablehlo.reshape %3 : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
      %5 = stablehlo.add %4, %iterArg_3 : tensor<2x4xf32>
      %6 = stablehlo.dot_general %5, %iterArg_1, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
      %7 = stablehlo.reshape %6 : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
      %8 = stablehlo.dynamic_update_slice %iterArg_4, %7, %iterArg_2, %c, %c : (tensor<5x2x4xf32>, tensor<1x2x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<5x2x4xf32>
      %9 = stablehlo.add %iterArg_2, %c_1 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_1, %9, %6, %8 : tensor<5x2x4xf32>, tensor<4x4xf32>, tensor<i32>, tensor<2x4xf32>, tensor<5x2x4xf32>
    }
    %1 = "stablehlo.case"(%arg2) ({
      stablehlo.return %0#3 : tensor<2x4xf32>
    }, {
      %3 = stablehlo.negate %0#3 : tensor<2x4xf32>
      stablehlo.return %3 : tensor<2x4xf32>
    }, {
      %3 = stablehlo.tanh %cst : tensor<2x4xf32>
      stablehlo.return %3 : tensor<2x4xf32>
    }) : (tensor<i32>) -> tensor<2x4xf32>
    return %0#4, %1 : tensor<5x2x4xf32>, tensor<2x4xf32>
  }
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @loops(%x: Tensor[(5, 2, 4), float32], %choice: Tensor[(), int32]) -> ("result.0": Tensor[(5, 2, 4), float32], "result.1": Tensor[(2, 4), float32]) {
//   %2 = const[0] : Tensor[(), int32];
//   %3 = const[0.0] : Tensor[(), float32];
//   %4 = const[2, 4] : Tensor[(2,), int64];
//   %5 = broadcast_to(%3, %4) : Tensor[(2, 4), float32] @"%0";
//   %6 = const[5] : Tensor[(), int64];
//   %7:3 = loop(%6, _, %2, %5, %x, captures=1) : (Tensor[(), int32], Tensor[(2, 4), float32], Tensor[(5, 2, 4), float32]) @"%0" {
//     fn @body(%0: Tensor[(), int64] @iteration, %1: Tensor[(), bool] @condition, %2: Tensor[(), int32], %3: Tensor[(2, 4), float32], %4: Tensor[(5, 2, 4), float32] @x) -> (Tensor[(), bool], Tensor[(), int32], Tensor[(2, 4), float32], Tensor[(2, 4), float32]) {
//       %5 = weight : Tensor[(4, 4), float32] @"params['w']";
//       %6 = const[1] : Tensor[(1,), int64];
//       %7 = reshape(%2, %6) : Tensor[(1,), int32] @"%3";
//       %8 = take(%4, %7, axis=0) : Tensor[(1, 2, 4), float32] @"%3";
//       %9 = const[0] : Tensor[(1,), int64];
//       %10 = squeeze(%8, %9) : Tensor[(2, 4), float32] @"%5";
//       %11 = add(%10, %3) : Tensor[(2, 4), float32] @"%5";
//       %12 = nn.batch_matmul(%11, %5) : Tensor[(2, 4), float32] @"%6";
//       %13 = const[0] : Tensor[(1,), int64];
//       %14 = expand_dims(%12, %13) : Tensor[(1, 2, 4), float32] @"%8";
//       %15 = const[1] : Tensor[(), int32];
//       %16 = add(%2, %15) : Tensor[(), int32] @"%9";
//       %17 = const[1] : Tensor[(), bool];
//       %18 = const[0] : Tensor[(1,), int64];
//       %19 = squeeze(%14, %18) : Tensor[(2, 4), float32] @"%0";
//       (%17, %16, %12, %19)
//     }
//   };
//   %8 = const[0] : Tensor[(), int32];
//   %9 = equal(%choice, %8) : Tensor[(), bool] @"%1";
//   %10 = if(%9, %choice, %7.1, captures=2) : Tensor[(2, 4), float32] @"%1" {
//     fn @branch(%0: Tensor[(), int32] @choice, %1: Tensor[(2, 4), float32] @"%0") -> (Tensor[(2, 4), float32]) {
//       (%1)
//     }
//     fn @branch(%0: Tensor[(), int32] @choice, %1: Tensor[(2, 4), float32] @"%0") -> (Tensor[(2, 4), float32]) {
//       %2 = const[1] : Tensor[(), int32];
//       %3 = equal(%0, %2) : Tensor[(), bool] @"%1";
//       %4 = if(%3, %0, %1, captures=2) : Tensor[(2, 4), float32] @"%1" {
//         fn @branch(%0: Tensor[(), int32] @choice, %1: Tensor[(2, 4), float32] @"%0") -> (Tensor[(2, 4), float32]) {
//           %2 = negative(%1) : Tensor[(2, 4), float32] @"%3";
//           (%2)
//         }
//         fn @branch(%0: Tensor[(), int32] @choice, %1: Tensor[(2, 4), float32] @"%0") -> (Tensor[(2, 4), float32]) {
//           %2 = const[0.0] : Tensor[(), float32];
//           %3 = tanh(%2) : Tensor[(), float32] @"%3";
//           %4 = const[2, 4] : Tensor[(2,), int64];
//           %5 = broadcast_to(%3, %4) : Tensor[(2, 4), float32] @"%1";
//           (%5)
//         }
//       };
//       (%4)
//     }
//   };
//   (%7.2, %10)
// }
// ---- stderr
// ---- exit 0
