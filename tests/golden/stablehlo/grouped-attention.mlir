// RUN: perfc opt %s
// RUN: perfc opt --passes=recognise-patterns,eliminate-dead %s
// Two groups of two heads each: as rows of one product under a causal mask (jax.nn.dot_product_attention), and with keys
// repeated for their heads (jnp.repeat) under a mask that is data, where PyTorch repeats them too.
module @grouped {
  func.func public @main(%q: tensor<2x6x4x8xf32>, %k: tensor<2x6x2x8xf32>, %v: tensor<2x6x2x8xf32>, %seen: tensor<2x6xi1>) -> (tensor<2x6x32xf32>, tensor<2x6x4x8xf32>) {
    %rows = stablehlo.iota dim = 0 : tensor<6xi32>
    %r = stablehlo.broadcast_in_dim %rows, dims = [0] : (tensor<6xi32>) -> tensor<6x6xi32>
    %c = stablehlo.broadcast_in_dim %rows, dims = [1] : (tensor<6xi32>) -> tensor<6x6xi32>
    %causal = stablehlo.compare GE, %r, %c : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
    %scale = stablehlo.constant dense<0.353553385> : tensor<f32>
    %least = stablehlo.constant dense<-1.0e+38> : tensor<f32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reshape %q : (tensor<2x6x4x8xf32>) -> tensor<2x6x2x2x8xf32>
    %1 = stablehlo.dot_general %0, %k, batching_dims = [0, 2] x [0, 2], contracting_dims = [4] x [3] : (tensor<2x6x2x2x8xf32>, tensor<2x6x2x8xf32>) -> tensor<2x2x6x2x6xf32>
    %s = stablehlo.broadcast_in_dim %scale, dims = [] : (tensor<f32>) -> tensor<2x2x6x2x6xf32>
    %2 = stablehlo.multiply %1, %s : tensor<2x2x6x2x6xf32>
    %3 = stablehlo.transpose %2, dims = [3, 0, 1, 2, 4] : (tensor<2x2x6x2x6xf32>) -> tensor<2x2x2x6x6xf32>
    %m = stablehlo.broadcast_in_dim %causal, dims = [3, 4] : (tensor<6x6xi1>) -> tensor<2x2x2x6x6xi1>
    %l = stablehlo.broadcast_in_dim %least, dims = [] : (tensor<f32>) -> tensor<2x2x2x6x6xf32>
    %4 = stablehlo.select %m, %3, %l : tensor<2x2x2x6x6xi1>, tensor<2x2x2x6x6xf32>
    %5 = stablehlo.reduce(%4 init: %low) applies stablehlo.maximum across dimensions = [4] : (tensor<2x2x2x6x6xf32>, tensor<f32>) -> tensor<2x2x2x6xf32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1, 2, 3] : (tensor<2x2x2x6xf32>) -> tensor<2x2x2x6x6xf32>
    %7 = stablehlo.subtract %4, %6 : tensor<2x2x2x6x6xf32>
    %8 = stablehlo.exponential %7 : tensor<2x2x2x6x6xf32>
    %9 = stablehlo.reduce(%8 init: %zero) applies stablehlo.add across dimensions = [4] : (tensor<2x2x2x6x6xf32>, tensor<f32>) -> tensor<2x2x2x6xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2, 3] : (tensor<2x2x2x6xf32>) -> tensor<2x2x2x6x6xf32>
    %11 = stablehlo.divide %8, %10 : tensor<2x2x2x6x6xf32>
    %12 = stablehlo.dot_general %v, %11, batching_dims = [0, 2] x [1, 2], contracting_dims = [1] x [4] : (tensor<2x6x2x8xf32>, tensor<2x2x2x6x6xf32>) -> tensor<2x2x8x2x6xf32>
    %13 = stablehlo.transpose %12, dims = [0, 4, 1, 3, 2] : (tensor<2x2x8x2x6xf32>) -> tensor<2x6x2x2x8xf32>
    %14 = stablehlo.reshape %13 : (tensor<2x6x2x2x8xf32>) -> tensor<2x6x32xf32>

    %20 = stablehlo.broadcast_in_dim %k, dims = [0, 1, 2, 4] : (tensor<2x6x2x8xf32>) -> tensor<2x6x2x2x8xf32>
    %21 = stablehlo.reshape %20 : (tensor<2x6x2x2x8xf32>) -> tensor<2x6x4x8xf32>
    %22 = stablehlo.broadcast_in_dim %v, dims = [0, 1, 2, 4] : (tensor<2x6x2x8xf32>) -> tensor<2x6x2x2x8xf32>
    %23 = stablehlo.reshape %22 : (tensor<2x6x2x2x8xf32>) -> tensor<2x6x4x8xf32>
    %24 = stablehlo.dot_general %q, %21, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x6xf32>
    %25 = stablehlo.broadcast_in_dim %seen, dims = [0, 3] : (tensor<2x6xi1>) -> tensor<2x4x6x6xi1>
    %26 = stablehlo.broadcast_in_dim %least, dims = [] : (tensor<f32>) -> tensor<2x4x6x6xf32>
    %27 = stablehlo.select %25, %24, %26 : tensor<2x4x6x6xi1>, tensor<2x4x6x6xf32>
    %28 = stablehlo.reduce(%27 init: %low) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %29 = stablehlo.broadcast_in_dim %28, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x6xf32>
    %30 = stablehlo.subtract %27, %29 : tensor<2x4x6x6xf32>
    %31 = stablehlo.exponential %30 : tensor<2x4x6x6xf32>
    %32 = stablehlo.reduce(%31 init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6xf32>
    %33 = stablehlo.broadcast_in_dim %32, dims = [0, 1, 2] : (tensor<2x4x6xf32>) -> tensor<2x4x6x6xf32>
    %34 = stablehlo.divide %31, %33 : tensor<2x4x6x6xf32>
    %35 = stablehlo.dot_general %34, %23, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1] : (tensor<2x4x6x6xf32>, tensor<2x6x4x8xf32>) -> tensor<2x4x6x8xf32>
    %36 = stablehlo.transpose %35, dims = [0, 2, 1, 3] : (tensor<2x4x6x8xf32>) -> tensor<2x6x4x8xf32>
    return %14, %36 : tensor<2x6x32xf32>, tensor<2x6x4x8xf32>
  }
}
// ---- perfc opt %s
// ---- stdout
// #[version = "perfc-ir/1"]
// def @grouped(%q: Tensor[(2, 6, 4, 8), float32], %k: Tensor[(2, 6, 2, 8), float32], %v: Tensor[(2, 6, 2, 8), float32], %seen: Tensor[(2, 6), bool]) -> ("result.0": Tensor[(2, 6, 32), float32], "result.1": Tensor[(2, 6, 4, 8), float32]) {
//   %4 = transpose(%q, perm=[0, 2, 1, 3]) : Tensor[(2, 4, 6, 8), float32] @"%12";
//   %5 = transpose(%k, perm=[0, 2, 1, 3]) : Tensor[(2, 2, 6, 8), float32] @"%12";
//   %6 = transpose(%v, perm=[0, 2, 1, 3]) : Tensor[(2, 2, 6, 8), float32] @"%12";
//   %7 = nn.attention(%4, %5, %6, is_causal=1, scale=0.353553385) : Tensor[(2, 4, 6, 8), float32] @"%12";
//   %8 = transpose(%7, perm=[0, 2, 1, 3]) : Tensor[(2, 6, 4, 8), float32] @"%12";
//   %9 = const[2, 6, 32] : Tensor[(3,), int64];
//   %10 = reshape(%8, %9) : Tensor[(2, 6, 32), float32] @"%12";
//   %11 = const[1, 2] : Tensor[(2,), int64];
//   %12 = expand_dims(%seen, %11) : Tensor[(2, 1, 1, 6), bool] @"%27";
//   %13 = transpose(%q, perm=[0, 2, 1, 3]) : Tensor[(2, 4, 6, 8), float32] @"%35";
//   %14 = transpose(%k, perm=[0, 2, 1, 3]) : Tensor[(2, 2, 6, 8), float32] @"%35";
//   %15 = const[2] : Tensor[(1,), int64];
//   %16 = expand_dims(%14, %15) : Tensor[(2, 2, 1, 6, 8), float32] @"%35";
//   %17 = const[2, 2, 2, 6, 8] : Tensor[(5,), int64];
//   %18 = broadcast_to(%16, %17) : Tensor[(2, 2, 2, 6, 8), float32] @"%35";
//   %19 = const[2, 4, 6, 8] : Tensor[(4,), int64];
//   %20 = reshape(%18, %19) : Tensor[(2, 4, 6, 8), float32] @"%35";
//   %21 = transpose(%v, perm=[0, 2, 1, 3]) : Tensor[(2, 2, 6, 8), float32] @"%35";
//   %22 = const[2] : Tensor[(1,), int64];
//   %23 = expand_dims(%21, %22) : Tensor[(2, 2, 1, 6, 8), float32] @"%35";
//   %24 = const[2, 2, 2, 6, 8] : Tensor[(5,), int64];
//   %25 = broadcast_to(%23, %24) : Tensor[(2, 2, 2, 6, 8), float32] @"%35";
//   %26 = const[2, 4, 6, 8] : Tensor[(4,), int64];
//   %27 = reshape(%25, %26) : Tensor[(2, 4, 6, 8), float32] @"%35";
//   %28 = nn.sdpa(%13, %20, %27, %12, scale=1.0) : Tensor[(2, 4, 6, 8), float32] @"%35";
//   %29 = transpose(%28, perm=[0, 2, 1, 3]) : Tensor[(2, 6, 4, 8), float32] @"%35";
//   (%10, %29)
// }
// ---- stderr
// ---- exit 0
// ---- perfc opt --passes=recognise-patterns,eliminate-dead %s
// ---- stdout
// #[version = "perfc-ir/1"]
// def @grouped(%q: Tensor[(2, 6, 4, 8), float32], %k: Tensor[(2, 6, 2, 8), float32], %v: Tensor[(2, 6, 2, 8), float32], %seen: Tensor[(2, 6), bool]) -> ("result.0": Tensor[(2, 6, 32), float32], "result.1": Tensor[(2, 6, 4, 8), float32]) {
//   %4 = transpose(%q, perm=[0, 2, 1, 3]) : Tensor[(2, 4, 6, 8), float32] @"%12";
//   %5 = transpose(%k, perm=[0, 2, 1, 3]) : Tensor[(2, 2, 6, 8), float32] @"%12";
//   %6 = transpose(%v, perm=[0, 2, 1, 3]) : Tensor[(2, 2, 6, 8), float32] @"%12";
//   %7 = nn.attention(%4, %5, %6, is_causal=1, scale=0.353553385) : Tensor[(2, 4, 6, 8), float32] @"%12";
//   %8 = transpose(%7, perm=[0, 2, 1, 3]) : Tensor[(2, 6, 4, 8), float32] @"%12";
//   %9 = const[2, 6, 32] : Tensor[(3,), int64];
//   %10 = reshape(%8, %9) : Tensor[(2, 6, 32), float32] @"%12";
//   %11 = const[1, 2] : Tensor[(2,), int64];
//   %12 = expand_dims(%seen, %11) : Tensor[(2, 1, 1, 6), bool] @"%27";
//   %13 = transpose(%q, perm=[0, 2, 1, 3]) : Tensor[(2, 4, 6, 8), float32] @"%35";
//   %14 = transpose(%k, perm=[0, 2, 1, 3]) : Tensor[(2, 2, 6, 8), float32] @"%35";
//   %15 = const[2] : Tensor[(1,), int64];
//   %16 = expand_dims(%14, %15) : Tensor[(2, 2, 1, 6, 8), float32] @"%35";
//   %17 = const[2, 2, 2, 6, 8] : Tensor[(5,), int64];
//   %18 = broadcast_to(%16, %17) : Tensor[(2, 2, 2, 6, 8), float32] @"%35";
//   %19 = const[2, 4, 6, 8] : Tensor[(4,), int64];
//   %20 = reshape(%18, %19) : Tensor[(2, 4, 6, 8), float32] @"%35";
//   %21 = transpose(%v, perm=[0, 2, 1, 3]) : Tensor[(2, 2, 6, 8), float32] @"%35";
//   %22 = const[2] : Tensor[(1,), int64];
//   %23 = expand_dims(%21, %22) : Tensor[(2, 2, 1, 6, 8), float32] @"%35";
//   %24 = const[2, 2, 2, 6, 8] : Tensor[(5,), int64];
//   %25 = broadcast_to(%23, %24) : Tensor[(2, 2, 2, 6, 8), float32] @"%35";
//   %26 = const[2, 4, 6, 8] : Tensor[(4,), int64];
//   %27 = reshape(%25, %26) : Tensor[(2, 4, 6, 8), float32] @"%35";
//   %28 = nn.sdpa(%13, %20, %27, %12, scale=1.0) : Tensor[(2, 4, 6, 8), float32] @"%35";
//   %29 = transpose(%28, perm=[0, 2, 1, 3]) : Tensor[(2, 6, 4, 8), float32] @"%35";
//   (%10, %29)
// }
// ---- stderr
// ---- exit 0
