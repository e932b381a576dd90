// RUN: perfc predict %s --emit=kernels --mode eager --dtype fp32 --predictor whitebox --device a100-40gb
// RUN: perfc predict %s --emit=kernels --mode compiled --dtype fp32 --predictor whitebox --device a100-40gb
// COLUMNS: node,operators,bytes,m,n
// A temporal shift, as its TorchScript says it: zeros, then three slices. Eagerly four kernels, each of what it writes;
// compiled one. Then a cache that is a buffer: a token's keys go where they lie, and six rows are read.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(2, 8, 32, 7, 7), float32], %key: Tensor[(2, 8, 1, 64), float32]) {
  %2 = shape_of(%x) @zeros_like;
  %3 = full(%2, launched=1, value=const[0.0]: Tensor[(1,), float32]) @zeros_like;
  %4 = const[1, 0] : Tensor[(2,), int64];
  %5 = const[9223372036854775807, 8] : Tensor[(2,), int64];
  %6 = const[1, 2] : Tensor[(2,), int64];
  %7 = const[1, 1] : Tensor[(2,), int64];
  %8 = strided_slice(%x, %4, %5, %6, %7) @slice;
  %9 = clone(%8) @copy_;
  %10 = const[0, 0] : Tensor[(2,), int64];
  %11 = const[-1, 8] : Tensor[(2,), int64];
  %12 = strided_set(%3, %10, %11, %6, %7, %9, inside=1) @copy_;
  %13 = const[0, 8] : Tensor[(2,), int64];
  %14 = const[-1, 16] : Tensor[(2,), int64];
  %15 = strided_slice(%x, %13, %14, %6, %7) @slice;
  %16 = clone(%15) @copy_;
  %17 = const[1, 8] : Tensor[(2,), int64];
  %18 = const[9223372036854775807, 16] : Tensor[(2,), int64];
  %19 = strided_set(%12, %17, %18, %6, %7, %16, inside=1) @copy_;
  %20 = const[16] : Tensor[(1,), int64];
  %21 = const[9223372036854775807] : Tensor[(1,), int64];
  %22 = const[2] : Tensor[(1,), int64];
  %23 = const[1] : Tensor[(1,), int64];
  %24 = strided_slice(%x, %20, %21, %22, %23) @slice;
  %25 = clone(%24) @copy_;
  %26 = strided_set(%19, %20, %21, %22, %23, %25, inside=1) @copy_;
  %27 = weight : Tensor[(2, 8, 128, 64), float32] @cache;
  %28 = const[5] : Tensor[(1,), int64];
  %29 = const[6] : Tensor[(1,), int64];
  %30 = clone(%key) @cache_copy_;
  %31 = strided_set(%27, %28, %29, %22, %23, %30, inside=1) @cache_copy_;
  %32 = const[0] : Tensor[(1,), int64];
  %33 = strided_slice(%31, %32, %29, %22, %23) @cache_slice;
  %34 = const[-1] : Tensor[(1,), int64];
  %35 = sum_axes(%33, %34, keepdims=0) @sum;
  (%26, %35)
}
// ---- perfc predict %s --emit=kernels --mode eager --dtype fp32 --predictor whitebox --device a100-40gb
// ---- stdout
// zeros_like full 100352 3584 7
// copy_ copy 43904 784 7
// copy_ copy 43904 784 7
// copy_ copy 100352 1792 7
// cache_copy_ copy 8192 16 64
// sum sum_axes 24968 16 6
// ---- stderr
// ---- exit 0
// ---- perfc predict %s --emit=kernels --mode compiled --dtype fp32 --predictor whitebox --device a100-40gb
// ---- stdout
// zeros_like full strided_set strided_set strided_set 194664 3584 7
// cache_copy_ strided_set 8224 16 64
// sum sum_axes 25000 16 6
// ---- stderr
// ---- exit 0
