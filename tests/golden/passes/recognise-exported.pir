// RUN: perfc opt %s --passes=recognise-patterns,eliminate-dead --verify-each
// torch.onnx writes addcmul and the variance out: a factor of 1 in a vector of one element, and centred squares, with
// the correction where there is one. Other factors, numbers, and centred data that others read are the program's.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(2, 5, 8), float32], %beta: Tensor[(8,), float32]) {
  %2 = weight : Tensor[(1, 1, 8), float32] @alpha;
  %3 = const[1.0] : Tensor[(1,), float32];
  %4 = multiply(%2, %x);
  %5 = multiply(%4, %3);
  %6 = add(%beta, %5) @addcmul;
  %7 = const[2.0] : Tensor[(1,), float32];
  %8 = multiply(%2, %x);
  %9 = multiply(%8, %7);
  %10 = add(%beta, %9) @other_factor;
  %11 = const[1.0] : Tensor[(), float32];
  %12 = multiply(%2, %x);
  %13 = multiply(%12, %11);
  %14 = add(%beta, %13) @number;
  %15 = const[-1] : Tensor[(1,), int64];
  %16 = const[1] : Tensor[(1,), int64];
  %17 = mean(%x, %15, keepdims=1);
  %18 = subtract(%x, %17);
  %19 = multiply(%18, %18);
  %20 = mean(%19, %15, keepdims=0) @variance;
  %21 = mean(%x, %15, keepdims=1);
  %22 = subtract(%x, %21);
  %23 = multiply(%22, %22);
  %24 = mean(%23, %15, keepdims=1);
  %25 = const[8.0] : Tensor[(), float32];
  %26 = const[7.0] : Tensor[(), float32];
  %27 = multiply(%24, %25);
  %28 = divide(%27, %26) @corrected;
  %29 = mean(%x, %15, keepdims=1);
  %30 = subtract(%x, %29);
  %31 = multiply(%30, %30);
  %32 = mean(%31, %15, keepdims=1) @read_elsewhere;
  %33 = multiply(%30, %32);
  %34 = mean(%x, %16, keepdims=1);
  %35 = subtract(%x, %34);
  %36 = multiply(%35, %35);
  %37 = mean(%36, %15, keepdims=1) @other_axes;
  (%6, %10, %14, %20, %28, %33, %37)
}
// ---- stdout
// #[version = "perfc-ir/1"]
// def @main(%x: Tensor[(2, 5, 8), float32], %beta: Tensor[(8,), float32]) -> (Tensor[(2, 5, 8), float32], Tensor[(2, 5, 8), float32], Tensor[(2, 5, 8), float32], Tensor[(2, 5), float32], Tensor[(2, 5, 1), float32], Tensor[(2, 5, 8), float32], Tensor[(2, 5, 1), float32]) {
//   %2 = weight : Tensor[(1, 1, 8), float32] @alpha;
//   %3 = addcmul(%beta, %2, %x) : Tensor[(2, 5, 8), float32] @addcmul;
//   %4 = const[2.0] : Tensor[(1,), float32];
//   %5 = multiply(%2, %x) : Tensor[(2, 5, 8), float32];
//   %6 = multiply(%5, %4) : Tensor[(2, 5, 8), float32];
//   %7 = add(%beta, %6) : Tensor[(2, 5, 8), float32] @other_factor;
//   %8 = const[1.0] : Tensor[(), float32];
//   %9 = multiply(%2, %x) : Tensor[(2, 5, 8), float32];
//   %10 = multiply(%9, %8) : Tensor[(2, 5, 8), float32];
//   %11 = add(%beta, %10) : Tensor[(2, 5, 8), float32] @number;
//   %12 = const[-1] : Tensor[(1,), int64];
//   %13 = const[1] : Tensor[(1,), int64];
//   %14 = variance(%x, %12, correction=0.0, keepdims=0) : Tensor[(2, 5), float32] @variance;
//   %15 = variance(%x, %12, correction=1.0, keepdims=1) : Tensor[(2, 5, 1), float32] @corrected;
//   %16 = mean(%x, %12, keepdims=1) : Tensor[(2, 5, 1), float32];
//   %17 = subtract(%x, %16) : Tensor[(2, 5, 8), float32];
//   %18 = multiply(%17, %17) : Tensor[(2, 5, 8), float32];
//   %19 = mean(%18, %12, keepdims=1) : Tensor[(2, 5, 1), float32] @read_elsewhere;
//   %20 = multiply(%17, %19) : Tensor[(2, 5, 8), float32];
//   %21 = mean(%x, %13, keepdims=1) : Tensor[(2, 1, 8), float32];
//   %22 = subtract(%x, %21) : Tensor[(2, 5, 8), float32];
//   %23 = multiply(%22, %22) : Tensor[(2, 5, 8), float32];
//   %24 = mean(%23, %12, keepdims=1) : Tensor[(2, 5, 1), float32] @other_axes;
//   (%3, %7, %11, %14, %15, %20, %24)
// }
// ---- stderr
// ---- exit 0
