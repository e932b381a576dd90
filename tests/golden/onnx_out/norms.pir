// RUN: perfc opt %s --passes=none -o %t.onnx
// RUN: perfc import %t.onnx
// Norms that ONNX has in one form only: per channel in groups, channels second, statistics given, dims of the scale.
#[version = "perfc-ir/1"]
def @norms(%x: Tensor[(2, 4, 6, 8), float32]) -> ("batch": Tensor[(2, 4, 6, 8), float32], "groups": Tensor[(2, 4, 6, 8), float32], "last": Tensor[(2, 4, 6, 8), float32], "layer": Tensor[(2, 4, 6, 8), float32], "rms": Tensor[(2, 4, 6, 8), float32], "mvn": Tensor[(2, 4, 6, 8), float32]) {
  %1 = const[1.0, 1.0, 2.0, 2.0] : Tensor[(4,), float32];
  %2 = const[0.0, 0.0, 0.5, 0.5] : Tensor[(4,), float32];
  %3 = nn.batch_norm(%x, %1, %2, epsilon=0.001, training_mode=1) : Tensor[(2, 4, 6, 8), float32];
  %4 = nn.group_norm(%x, %1, %2, epsilon=0.001, num_groups=2) : Tensor[(2, 4, 6, 8), float32];
  %5 = const[1.0, 1.0, 2.0, 2.0, 1.0, 1.0, 2.0, 2.0] : Tensor[(8,), float32];
  %6 = const[0.0, 0.0, 0.5, 0.5, 0.0, 0.0, 0.5, 0.5] : Tensor[(8,), float32];
  %7 = nn.group_norm(%x, %5, %6, channels_last=1, epsilon=0.001, num_groups=2) : Tensor[(2, 4, 6, 8), float32];
  %8 = nn.layer_norm(%x, %5, axis=-2, epsilon=0.001) : Tensor[(2, 4, 6, 8), float32];
  %9 = nn.rms_norm(%x, %5, axis=-1, epsilon=0.001) : Tensor[(2, 4, 6, 8), float32];
  %10 = nn.mean_variance_norm(%x, axes=[2, 3], epsilon=0.001) : Tensor[(2, 4, 6, 8), float32];
  (%3, %4, %7, %8, %9, %10)
}
// ---- perfc opt %s --passes=none -o %t.onnx
// ---- stdout
// ---- stderr
// ---- exit 0
// ---- perfc import %t.onnx
// ---- stdout
// #[version = "perfc-ir/1"]
// def @norms(%x: Tensor[(2, 4, 6, 8), float32]) -> (batch: Tensor[(2, 4, 6, 8), float32], groups: Tensor[(2, 4, 6, 8), float32], last: Tensor[(2, 4, 6, 8), float32], layer: Tensor[(2, 4, 6, 8), float32], rms: Tensor[(2, 4, 6, 8), float32], mvn: Tensor[(2, 4, 6, 8), float32]) {
//   %1 = const[0, 2, 3] : Tensor[(3,), int64] @ints;
//   %2 = mean(%x, %1, keepdims=1) : Tensor[(1, 4, 1, 1), float32] @"nn.batch_norm/ReduceMean";
//   %3 = subtract(%x, %2) : Tensor[(2, 4, 6, 8), float32] @"nn.batch_norm/Sub";
//   %4 = multiply(%3, %3) : Tensor[(2, 4, 6, 8), float32] @"nn.batch_norm/Mul";
//   %5 = mean(%4, %1, keepdims=1) : Tensor[(1, 4, 1, 1), float32] @"nn.batch_norm/ReduceMean_1";
//   %6 = const[0.0010000000474974513] : Tensor[(), float32] @number;
//   %7 = add(%5, %6) : Tensor[(1, 4, 1, 1), float32] @"nn.batch_norm/Add";
//   %8 = sqrt(%7) : Tensor[(1, 4, 1, 1), float32] @"nn.batch_norm/Sqrt";
//   %9 = divide(%3, %8) : Tensor[(2, 4, 6, 8), float32] @"nn.batch_norm/Div";
//   %10 = const[1.0, 1.0, 2.0, 2.0] : Tensor[(4,), float32] @constant;
//   %11 = const[1, 2] : Tensor[(2,), int64] @ints_1;
//   %12 = expand_dims(%10, %11) : Tensor[(4, 1, 1), float32] @"nn.batch_norm/Unsqueeze";
//   %13 = multiply(%9, %12) : Tensor[(2, 4, 6, 8), float32] @"nn.batch_norm/Mul_1";
//   %14 = const[0.0, 0.0, 0.5, 0.5] : Tensor[(4,), float32] @constant_1;
//   %15 = expand_dims(%14, %11) : Tensor[(4, 1, 1), float32] @"nn.batch_norm/Unsqueeze_1";
//   %16 = add(%13, %15) : Tensor[(2, 4, 6, 8), float32] @batch;
//   %17 = nn.group_norm(%x, %10, %14, epsilon=0.0010000000474974513, num_groups=2) : Tensor[(2, 4, 6, 8), float32] @groups;
//   %18 = transpose(%x, perm=[0, 3, 1, 2]) : Tensor[(2, 8, 4, 6), float32] @"nn.group_norm/Transpose";
//   %19 = const[1.0, 1.0, 2.0, 2.0, 1.0, 1.0, 2.0, 2.0] : Tensor[(8,), float32] @constant_2;
//   %20 = const[0.0, 0.0, 0.5, 0.5, 0.0, 0.0, 0.5, 0.5] : Tensor[(8,), float32] @constant_3;
//   %21 = nn.group_norm(%18, %19, %20, epsilon=0.0010000000474974513, num_groups=2) : Tensor[(2, 8, 4, 6), float32] @"nn.group_norm/GroupNormalization";
//   %22 = transpose(%21, perm=[0, 2, 3, 1]) : Tensor[(2, 4, 6, 8), float32] @last;
//   %23 = shape_of(%x, start=2) : Tensor[(2,), int64] @"nn.layer_norm/Shape";
//   %24 = broadcast_to(%19, %23) : Tensor[(6, 8), float32] @"nn.layer_norm/Expand";
//   %25 = nn.layer_norm(%x, %24, axis=-2, epsilon=0.0010000000474974513) : Tensor[(2, 4, 6, 8), float32] @layer;
//   %26 = multiply(%x, %x) : Tensor[(2, 4, 6, 8), float32] @"nn.rms_norm/Mul";
//   %27 = const[3] : Tensor[(1,), int64] @ints_2;
//   %28 = mean(%26, %27, keepdims=1) : Tensor[(2, 4, 6, 1), float32] @"nn.rms_norm/ReduceMean";
//   %29 = add(%28, %6) : Tensor[(2, 4, 6, 1), float32] @"nn.rms_norm/Add";
//   %30 = sqrt(%29) : Tensor[(2, 4, 6, 1), float32] @"nn.rms_norm/Sqrt";
//   %31 = divide(%x, %30) : Tensor[(2, 4, 6, 8), float32] @"nn.rms_norm/Div";
//   %32 = multiply(%31, %19) : Tensor[(2, 4, 6, 8), float32] @rms;
//   %33 = const[2, 3] : Tensor[(2,), int64] @ints_3;
//   %34 = mean(%x, %33, keepdims=1) : Tensor[(2, 4, 1, 1), float32] @"nn.mean_variance_norm/ReduceMean";
//   %35 = subtract(%x, %34) : Tensor[(2, 4, 6, 8), float32] @"nn.mean_variance_norm/Sub";
//   %36 = multiply(%35, %35) : Tensor[(2, 4, 6, 8), float32] @"nn.mean_variance_norm/Mul";
//   %37 = mean(%36, %33, keepdims=1) : Tensor[(2, 4, 1, 1), float32] @"nn.mean_variance_norm/ReduceMean_1";
//   %38 = add(%37, %6) : Tensor[(2, 4, 1, 1), float32] @"nn.mean_variance_norm/Add";
//   %39 = sqrt(%38) : Tensor[(2, 4, 1, 1), float32] @"nn.mean_variance_norm/Sqrt";
//   %40 = divide(%35, %39) : Tensor[(2, 4, 6, 8), float32] @mvn;
//   (%16, %17, %22, %25, %32, %40)
// }
// ---- stderr
// ---- exit 0
