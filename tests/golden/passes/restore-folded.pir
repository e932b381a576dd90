// RUN: perfc opt %s --passes=restore-folded,eliminate-dead --verify-each
// RUN: perfc opt %s --passes=restore-folded,recognise-patterns,fold-batch-norm,eliminate-dead --verify-each
// Eager PyTorch runs what an exporter folded: norms behind convolutions with a bias and without, pads before them, and
// what differs from side to side, since no convolution of PyTorch's pads so.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(1, 3, 8, 8), float32], %y: Tensor[(2, 6), float32], %z: Tensor[(1, 8, 8, 3), float32]) {
  %3 = weight : Tensor[(16, 3, 3, 3), float32];
  %4 = weight : Tensor[(16,), float32];
  %5 = nn.conv2d(%x, %3, %4, folded_norm="batch_norm") @alone;
  %6 = nn.conv2d(%x, %3, %4, folded_norm="bias batch_norm") @biased;
  %7 = nn.conv2d(%x, %3, folded_norm="batch_norm") @zeros;
  %8 = nn.conv2d(%x, %3, folded_pad=1, padding=[1, 1, 1, 1]) @padded;
  %9 = nn.conv2d(%x, %3, %4, folded_norm="batch_norm", padding=[0, 0, 1, 1], strides=[2, 2]) @both;
  %10 = weight : Tensor[(6, 4), float32];
  %11 = weight : Tensor[(4,), float32];
  %12 = nn.dense(%y, %10, %11, folded_norm="batch_norm") @dense;
  %13 = nn.conv2d(%x, %3, padding=[1, 1, 1, 1]) @left;
  %14 = weight : Tensor[(3, 3, 3, 3), float32];
  %15 = nn.conv2d(%z, %14, data_layout="NHWC", kernel_layout="HWIO", padding=[0, 0, 1, 0]) @last;
  (%5, %6, %7, %8, %9, %12, %13, %15)
}
// ---- perfc opt %s --passes=restore-folded,eliminate-dead --verify-each
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(1, 3, 8, 8), float32], %y: Tensor[(2, 6), float32], %z: Tensor[(1, 8, 8, 3), float32]) -> (Tensor[(1, 16, 6, 6), float32], Tensor[(1, 16, 6, 6), float32], Tensor[(1, 16, 6, 6), float32], Tensor[(1, 16, 8, 8), float32], Tensor[(1, 16, 4, 4), float32], Tensor[(2, 4), float32], Tensor[(1, 16, 8, 8), float32], Tensor[(1, 7, 6, 3), float32]) {
//   %3 = weight : Tensor[(16, 3, 3, 3), float32];
//   %4 = weight : Tensor[(16,), float32];
//   %5 = nn.conv2d(%x, %3) : Tensor[(1, 16, 6, 6), float32] @alone;
//   %6 = weight : Tensor[(16,), float32] @"alone.weight";
//   %7 = weight : Tensor[(16,), float32] @"alone.bias";
//   %8 = table weight : Tensor[(16,), float32] @"alone.running_mean";
//   %9 = table weight : Tensor[(16,), float32] @"alone.running_var";
//   %10 = nn.batch_norm(%5, %6, %7, %8, %9, axis=1) : Tensor[(1, 16, 6, 6), float32] @alone;
//   %11 = nn.conv2d(%x, %3, %4) : Tensor[(1, 16, 6, 6), float32] @biased;
//   %12 = weight : Tensor[(16,), float32] @"biased.weight";
//   %13 = weight : Tensor[(16,), float32] @"biased.bias";
//   %14 = table weight : Tensor[(16,), float32] @"biased.running_mean";
//   %15 = table weight : Tensor[(16,), float32] @"biased.running_var";
//   %16 = nn.batch_norm(%11, %12, %13, %14, %15, axis=1) : Tensor[(1, 16, 6, 6), float32] @biased;
//   %17 = nn.conv2d(%x, %3) : Tensor[(1, 16, 6, 6), float32] @zeros;
//   %18 = weight : Tensor[(16,), float32] @"zeros.weight";
//   %19 = weight : Tensor[(16,), float32] @"zeros.bias";
//   %20 = table weight : Tensor[(16,), float32] @"zeros.running_mean";
//   %21 = table weight : Tensor[(16,), float32] @"zeros.running_var";
//   %22 = nn.batch_norm(%17, %18, %19, %20, %21, axis=1) : Tensor[(1, 16, 6, 6), float32] @zeros;
//   %23 = const[0, 0, 1, 1, 0, 0, 1, 1] : Tensor[(8,), int64];
//   %24 = const[0.0] : Tensor[(), float32];
//   %25 = nn.pad(%x, %23, %24) : Tensor[(1, 3, 10, 10), float32] @padded;
//   %26 = nn.conv2d(%25, %3, padding=[0, 0, 0, 0]) : Tensor[(1, 16, 8, 8), float32] @padded;
//   %27 = const[0, 0, 0, 0, 0, 0, 1, 1] : Tensor[(8,), int64];
//   %28 = const[0.0] : Tensor[(), float32];
//   %29 = nn.pad(%x, %27, %28) : Tensor[(1, 3, 9, 9), float32] @both;
//   %30 = nn.conv2d(%29, %3, padding=[0, 0, 0, 0], strides=[2, 2]) : Tensor[(1, 16, 4, 4), float32] @both;
//   %31 = weight : Tensor[(16,), float32] @"both.weight";
//   %32 = weight : Tensor[(16,), float32] @"both.bias";
//   %33 = table weight : Tensor[(16,), float32] @"both.running_mean";
//   %34 = table weight : Tensor[(16,), float32] @"both.running_var";
//   %35 = nn.batch_norm(%30, %31, %32, %33, %34, axis=1) : Tensor[(1, 16, 4, 4), float32] @both;
//   %36 = weight : Tensor[(6, 4), float32];
//   %37 = nn.dense(%y, %36) : Tensor[(2, 4), float32] @dense;
//   %38 = weight : Tensor[(4,), float32] @"dense.weight";
//   %39 = weight : Tensor[(4,), float32] @"dense.bias";
//   %40 = table weight : Tensor[(4,), float32] @"dense.running_mean";
//   %41 = table weight : Tensor[(4,), float32] @"dense.running_var";
//   %42 = nn.batch_norm(%37, %38, %39, %40, %41, axis=1) : Tensor[(2, 4), float32] @dense;
//   %43 = nn.conv2d(%x, %3, padding=[1, 1, 1, 1]) : Tensor[(1, 16, 8, 8), float32] @left;
//   %44 = weight : Tensor[(3, 3, 3, 3), float32];
//   %45 = const[0, 0, 0, 0, 0, 1, 0, 0] : Tensor[(8,), int64];
//   %46 = const[0.0] : Tensor[(), float32];
//   %47 = nn.pad(%z, %45, %46) : Tensor[(1, 9, 8, 3), float32] @last;
//   %48 = nn.conv2d(%47, %44, data_layout="NHWC", kernel_layout="HWIO", padding=[0, 0, 0, 0]) : Tensor[(1, 7, 6, 3), float32] @last;
//   (%10, %16, %22, %26, %35, %42, %43, %48)
// }
// ---- stderr
// ---- exit 0
// ---- perfc opt %s --passes=restore-folded,recognise-patterns,fold-batch-norm,eliminate-dead --verify-each
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(1, 3, 8, 8), float32], %y: Tensor[(2, 6), float32], %z: Tensor[(1, 8, 8, 3), float32]) -> (Tensor[(1, 16, 6, 6), float32], Tensor[(1, 16, 6, 6), float32], Tensor[(1, 16, 6, 6), float32], Tensor[(1, 16, 8, 8), float32], Tensor[(1, 16, 4, 4), float32], Tensor[(2, 4), float32], Tensor[(1, 16, 8, 8), float32], Tensor[(1, 7, 6, 3), float32]) {
//   %3 = weight : Tensor[(16, 3, 3, 3), float32];
//   %4 = weight : Tensor[(16, 3, 3, 3), float32];
//   %5 = weight : Tensor[(16,), float32] @"alone.bias";
//   %6 = nn.conv2d(%x, %4) : Tensor[(1, 16, 6, 6), float32] @alone;
//   %7 = nn.bias_add(%6, %5, axis=1) : Tensor[(1, 16, 6, 6), float32] @alone;
//   %8 = weight : Tensor[(16, 3, 3, 3), float32];
//   %9 = weight : Tensor[(16,), float32] @"biased.bias";
//   %10 = nn.conv2d(%x, %8) : Tensor[(1, 16, 6, 6), float32] @biased;
//   %11 = nn.bias_add(%10, %9, axis=1) : Tensor[(1, 16, 6, 6), float32] @biased;
//   %12 = weight : Tensor[(16, 3, 3, 3), float32];
//   %13 = weight : Tensor[(16,), float32] @"zeros.bias";
//   %14 = nn.conv2d(%x, %12) : Tensor[(1, 16, 6, 6), float32] @zeros;
//   %15 = nn.bias_add(%14, %13, axis=1) : Tensor[(1, 16, 6, 6), float32] @zeros;
//   %16 = const[0, 0, 1, 1, 0, 0, 1, 1] : Tensor[(8,), int64];
//   %17 = const[0.0] : Tensor[(), float32];
//   %18 = nn.pad(%x, %16, %17) : Tensor[(1, 3, 10, 10), float32] @padded;
//   %19 = nn.conv2d(%18, %3, padding=[0, 0, 0, 0]) : Tensor[(1, 16, 8, 8), float32] @padded;
//   %20 = const[0, 0, 0, 0, 0, 0, 1, 1] : Tensor[(8,), int64];
//   %21 = const[0.0] : Tensor[(), float32];
//   %22 = nn.pad(%x, %20, %21) : Tensor[(1, 3, 9, 9), float32] @both;
//   %23 = weight : Tensor[(16, 3, 3, 3), float32];
//   %24 = weight : Tensor[(16,), float32] @"both.bias";
//   %25 = nn.conv2d(%22, %23, padding=[0, 0, 0, 0], strides=[2, 2]) : Tensor[(1, 16, 4, 4), float32] @both;
//   %26 = nn.bias_add(%25, %24, axis=1) : Tensor[(1, 16, 4, 4), float32] @both;
//   %27 = weight : Tensor[(6, 4), float32];
//   %28 = weight : Tensor[(4,), float32] @"dense.bias";
//   %29 = nn.dense(%y, %27) : Tensor[(2, 4), float32] @dense;
//   %30 = nn.bias_add(%29, %28, axis=1) : Tensor[(2, 4), float32] @dense;
//   %31 = nn.conv2d(%x, %3, padding=[1, 1, 1, 1]) : Tensor[(1, 16, 8, 8), float32] @left;
//   %32 = weight : Tensor[(3, 3, 3, 3), float32];
//   %33 = const[0, 0, 0, 0, 0, 1, 0, 0] : Tensor[(8,), int64];
//   %34 = const[0.0] : Tensor[(), float32];
//   %35 = nn.pad(%z, %33, %34) : Tensor[(1, 9, 8, 3), float32] @last;
//   %36 = nn.conv2d(%35, %32, data_layout="NHWC", kernel_layout="HWIO", padding=[0, 0, 0, 0]) : Tensor[(1, 7, 6, 3), float32] @last;
//   (%7, %11, %15, %19, %26, %30, %31, %36)
// }
// ---- stderr
// ---- exit 0
