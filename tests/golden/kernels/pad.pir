// RUN: perfc predict %s --emit=kernels --mode eager --dtype fp32 --predictor whitebox --device a100-40gb
// RUN: perfc predict %s --emit=kernels --mode compiled --dtype fp32 --predictor whitebox --device a100-40gb
// COLUMNS: node,operators,bytes,m,n
// Constants: a fill of the result and a copy of the data; cropping: a copy; reflection: one kernel; circular: the middle,
// then each side.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(2, 16, 32, 32), float32]) {
  %1 = const[0, 0, 1, 2, 0, 0, 1, 2] : Tensor[(8,), int64];
  %2 = nn.pad(%x, %1) @constant;
  %3 = const[0, 0, -1, -2, 0, 0, -1, -2] : Tensor[(8,), int64];
  %4 = nn.pad(%2, %3) @crop;
  %5 = const[0, 0, 1, 1, 0, 0, 1, 1] : Tensor[(8,), int64];
  %6 = nn.pad(%4, %5, mode="reflect") @reflect;
  %7 = const[0, 0, 0, 1, 0, 0, 2, 1] : Tensor[(8,), int64];
  %8 = nn.pad(%6, %7, mode="wrap") @circular;
  (%8)
}
// ---- perfc predict %s --emit=kernels --mode eager --dtype fp32 --predictor whitebox --device a100-40gb
// ---- stdout
// constant full 156672 1 39168
// constant nn.pad 262144 1 32768
// crop nn.pad 262144 1 32768
// reflect nn.pad 279104 1088 34
// circular copy 295936 1 36992
// circular copy 9216 1 1152
// circular copy 9216 1 1152
// circular copy 18432 1 2304
// ---- stderr
// ---- exit 0
// ---- perfc predict %s --emit=kernels --mode compiled --dtype fp32 --predictor whitebox --device a100-40gb
// ---- stdout
// circular nn.pad nn.pad nn.pad nn.pad 297216 1152 36
// ---- stderr
// ---- exit 0
