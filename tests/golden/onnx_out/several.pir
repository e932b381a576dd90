// RUN: perfc opt %s --passes=none -o %t.onnx
// RUN: perfc import %t.onnx
// Operators that several of ONNX compute.
#[version = "perfc-ir/1"]
def @several(%x: Tensor[(2, 4, 5, 6), float32], %y: Tensor[(2, 4, 5, 6), float32], %i: Tensor[(3, 2), int32], %w: Tensor[(9, 4), float32], %n: Tensor[(3, 2), int64]) -> ("pool": Tensor[(2, 4, 2, 6), float32], "atan2": Tensor[(2, 4, 5, 6), float32], "glu": Tensor[(2, 2, 5, 6), float32], "bag": Tensor[(3, 4), float32], "shift": Tensor[(3, 2), int64], "wide": Tensor[(2, 4, 5, 6), float32], "least": Tensor[(2, 4, 1, 6), float32], "where": Tensor[(2, 4, 1, 6), int64], "huber": Tensor[(2, 4, 5, 6), float32]) {
  %5 = nn.avg_pool2d(%x, kernel_size=[3, 1], strides=[2, 1], uneven=1) : Tensor[(2, 4, 2, 6), float32] @pool;
  %6 = atan2(%x, %y) : Tensor[(2, 4, 5, 6), float32] @atan2;
  %7 = nn.glu(%x, axis=1) : Tensor[(2, 2, 5, 6), float32] @glu;
  %8 = nn.embedding_bag(%w, %i, mode="max") : Tensor[(3, 4), float32] @bag;
  %9 = bit_shift(%n, %n, direction="RIGHT") : Tensor[(3, 2), int64] @shift;
  %10 = clip(%x, %y) : Tensor[(2, 4, 5, 6), float32] @wide;
  %11:2 = min_dim(%x, axis=2, keepdims=1) : (Tensor[(2, 4, 1, 6), float32], Tensor[(2, 4, 1, 6), int64]) @least;
  %12 = nn.huber_loss(%x, %y, delta=0.5) : Tensor[(2, 4, 5, 6), float32] @huber;
  (%5, %6, %7, %8, %9, %10, %11.0, %11.1, %12)
}
// ---- perfc opt %s --passes=none -o %t.onnx
// ---- stdout
// ---- stderr
// ---- exit 0
// ---- perfc import %t.onnx
// ---- stdout
// #[version = "perfc-ir/1"]
// def @several(%x: Tensor[(2, 4, 5, 6), float32], %y: Tensor[(2, 4, 5, 6), float32], %i: Tensor[(3, 2), int32], %w: Tensor[(9, 4), float32], %n: Tensor[(3, 2), int64]) -> (pool: Tensor[(2, 4, 2, 6), float32], atan2: Tensor[(2, 4, 5, 6), float32], glu: Tensor[(2, 2, 5, 6), float32], bag: Tensor[(3, 4), float32], shift: Tensor[(3, 2), int64], wide: Tensor[(2, 4, 5, 6), float32], least: Tensor[(2, 4, 1, 6), float32], where: Tensor[(2, 4, 1, 6), int64], huber: Tensor[(2, 4, 5, 6), float32]) {
//   %5 = const[0] : Tensor[(1,), int64] @ints;
//   %6 = const[3] : Tensor[(1,), int64] @ints_1;
//   %7 = const[2] : Tensor[(1,), int64] @ints_2;
//   %8 = strided_slice(%x, %5, %6, %7) : Tensor[(2, 4, 3, 6), float32] @pool;
//   %9 = mean(%8, %7, keepdims=1) : Tensor[(2, 4, 1, 6), float32] @pool_1;
//   %10 = const[5] : Tensor[(1,), int64] @ints_3;
//   %11 = strided_slice(%x, %7, %10, %7) : Tensor[(2, 4, 3, 6), float32] @pool_2;
//   %12 = mean(%11, %7, keepdims=1) : Tensor[(2, 4, 1, 6), float32] @pool_3;
//   %13 = concatenate(%9, %12, axis=2) : Tensor[(2, 4, 2, 6), float32] @pool_4;
//   %14 = copy(%13) : Tensor[(2, 4, 2, 6), float32] @pool_5;
//   %15 = const[0.0] : Tensor[(), float32] @number;
//   %16 = equal(%y, %15) : Tensor[(2, 4, 5, 6), bool] @atan2;
//   %17 = sign(%x) : Tensor[(2, 4, 5, 6), float32] @atan2_1;
//   %18 = const[1.5707963705062866] : Tensor[(), float32] @number_1;
//   %19 = multiply(%17, %18) : Tensor[(2, 4, 5, 6), float32] @atan2_2;
//   %20 = divide(%x, %y) : Tensor[(2, 4, 5, 6), float32] @atan2_3;
//   %21 = atan(%20) : Tensor[(2, 4, 5, 6), float32] @atan2_4;
//   %22 = less(%y, %15) : Tensor[(2, 4, 5, 6), bool] @atan2_5;
//   %23 = less(%x, %15) : Tensor[(2, 4, 5, 6), bool] @atan2_6;
//   %24 = const[-3.1415927410125732] : Tensor[(), float32] @number_2;
//   %25 = const[3.1415927410125732] : Tensor[(), float32] @number_3;
//   %26 = where(%23, %24, %25) : Tensor[(2, 4, 5, 6), float32] @atan2_7;
//   %27 = where(%22, %26, %15) : Tensor[(2, 4, 5, 6), float32] @atan2_8;
//   %28 = add(%21, %27) : Tensor[(2, 4, 5, 6), float32] @atan2_9;
//   %29 = where(%16, %19, %28) : Tensor[(2, 4, 5, 6), float32] @atan2_10;
//   %30:2 = split(%x, axis=1, num_outputs=2) : (Tensor[(2, 2, 5, 6), float32], Tensor[(2, 2, 5, 6), float32]) @glu;
//   %31 = sigmoid(%30.1) : Tensor[(2, 2, 5, 6), float32] @glu_1;
//   %32 = multiply(%30.0, %31) : Tensor[(2, 2, 5, 6), float32] @glu_2;
//   %33 = take(%w, %i, axis=0) : Tensor[(3, 2, 4), float32] @bag;
//   %34 = const[1] : Tensor[(1,), int64] @ints_4;
//   %35 = max(%33, %34, keepdims=0) : Tensor[(3, 4), float32] @bag_1;
//   %36 = cast(%n, to="uint64") : Tensor[(3, 2), uint64] @shift;
//   %37 = const[1] : Tensor[(), uint64] @number_4;
//   %38 = bit_shift(%37, %36, direction="LEFT") : Tensor[(3, 2), uint64] @shift_1;
//   %39 = cast(%38, to="int64") : Tensor[(3, 2), int64] @shift_2;
//   %40 = mod(%n, %39) : Tensor[(3, 2), int64] @shift_3;
//   %41 = subtract(%n, %40) : Tensor[(3, 2), int64] @shift_4;
//   %42 = divide(%41, %39) : Tensor[(3, 2), int64] @shift_5;
//   %43 = maximum(%x, %y) : Tensor[(2, 4, 5, 6), float32] @wide;
//   %44 = copy(%43) : Tensor[(2, 4, 5, 6), float32] @wide_1;
//   %45 = min(%x, %7, keepdims=1) : Tensor[(2, 4, 1, 6), float32] @least;
//   %46 = argmin(%x, axis=2, keepdims=1) : Tensor[(2, 4, 1, 6), int64] @least_1;
//   %47 = subtract(%x, %y) : Tensor[(2, 4, 5, 6), float32] @huber;
//   %48 = abs(%47) : Tensor[(2, 4, 5, 6), float32] @huber_1;
//   %49 = const[0.5] : Tensor[(), float32] @number_5;
//   %50 = less(%48, %49) : Tensor[(2, 4, 5, 6), bool] @huber_2;
//   %51 = subtract(%x, %y) : Tensor[(2, 4, 5, 6), float32] @huber_3;
//   %52 = const[2.0] : Tensor[(), float32] @number_6;
//   %53 = power(%51, %52) : Tensor[(2, 4, 5, 6), float32] @huber_4;
//   %54 = multiply(%53, %49) : Tensor[(2, 4, 5, 6), float32] @huber_5;
//   %55 = subtract(%x, %y) : Tensor[(2, 4, 5, 6), float32] @huber_6;
//   %56 = abs(%55) : Tensor[(2, 4, 5, 6), float32] @huber_7;
//   %57 = multiply(%49, %49) : Tensor[(), float32] @huber_8;
//   %58 = subtract(%56, %57) : Tensor[(2, 4, 5, 6), float32] @huber_9;
//   %59 = multiply(%49, %58) : Tensor[(2, 4, 5, 6), float32] @huber_10;
//   %60 = where(%50, %54, %59) : Tensor[(2, 4, 5, 6), float32] @huber_11;
//   (%14, %29, %32, %35, %42, %44, %45, %46, %60)
// }
// ---- stderr
// ---- exit 0
