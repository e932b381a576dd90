// RUN: perfc import %s
"builtin.module"() <{sym_name = "generic"}> ({
  "func.func"() <{function_type = (tensor<10x4xf32>, tensor<6xi64>) -> tensor<6x4xf32>, sym_name = "main"}> ({
  ^bb0(%arg0: tensor<10x4xf32> loc("params['table']"), %arg1: tensor<6x1xi64> loc("ids")):
    %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<10x4xf32>, tensor<6x1xi64>) -> tensor<6x4xf32>
    %1 = "stablehlo.constant"() <{value = dense<[[1.0, 2.0, 3.0, 4.0]]> : tensor<1x4xf32>}> : () -> tensor<1x4xf32>
    %2 = "stablehlo.broadcast_in_dim"(%1) {broadcast_dimensions = dense<[0, 1]> : tensor<2xi64>} : (tensor<1x4xf32>) -> tensor<6x4xf32>
    %3 = "stablehlo.dot_general"(%0, %2) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x6xf32>
    %4 = "stablehlo.slice"(%3) {limit_indices = array<i64: 6, 4>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<6x6xf32>) -> tensor<6x4xf32>
    %5 = "stablehlo.constant"() <{value = dense<"0x0000803F"> : tensor<f32>}> : () -> tensor<f32>
    %6 = "stablehlo.reduce"(%4, %5) <{dimensions = array<i64: 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %8 = "stablehlo.maximum"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%8) : (tensor<f32>) -> ()
    }) : (tensor<6x4xf32>, tensor<f32>) -> tensor<6xf32>
    %7 = "stablehlo.compare"(%6, %6) <{comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xi1>
    "func.return"(%4, %7) : (tensor<6x4xf32>, tensor<6xi1>) -> ()
  }) : () -> ()
}) : () -> ()
// ---- stdout
// #[version = "perfc-ir/1"]
// def @generic(%1: Tensor[(6, 1), int64] @ids) -> ("result.0": Tensor[(6, 4), float32], "result.1": Tensor[(6,), bool]) {
//   %0 = weight : Tensor[(10, 4), float32] @"params['table']";
//   %2 = const[1] : Tensor[(1,), int64];
//   %3 = squeeze(%1, %2) : Tensor[(6,), int64] @"%0";
//   %4 = take(%0, %3, axis=0) : Tensor[(6, 4), float32] @"%0";
//   %5 = const[1.0, 2.0, 3.0, 4.0] : Tensor[(1, 4), float32];
//   %6 = transpose(%5, perm=[1, 0]) : Tensor[(4, 1), float32] @"%3";
//   %7 = const[4, 6] : Tensor[(2,), int64];
//   %8 = broadcast_to(%6, %7) : Tensor[(4, 6), float32] @"%3";
//   %9 = nn.batch_matmul(%4, %8) : Tensor[(6, 6), float32] @"%3";
//   %10 = const[0] : Tensor[(1,), int64];
//   %11 = const[4] : Tensor[(1,), int64];
//   %12 = const[1] : Tensor[(1,), int64];
//   %13 = strided_slice(%9, %10, %11, %12) : Tensor[(6, 4), float32] @"%4";
//   %14 = const[1] : Tensor[(1,), int64];
//   %15 = max(%13, %14, keepdims=1) : Tensor[(6, 1), float32] @"%6";
//   %16 = greater_equal(%15, %15) : Tensor[(6, 1), bool] @"%7";
//   %17 = const[1] : Tensor[(1,), int64];
//   %18 = squeeze(%16, %17) : Tensor[(6,), bool];
//   (%13, %18)
// }
// ---- stderr
// ---- exit 0
