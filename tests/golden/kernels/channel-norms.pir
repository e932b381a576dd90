// RUN: perfc predict %s --emit=kernels --mode eager --dtype amp --predictor whitebox --device a100-40gb
// RUN: perfc predict %s --emit=kernels --mode eager --dtype amp --norms half --predictor whitebox --device a100-40gb
// COLUMNS: node,operators,width,bytes
// RMS norms over channels, as timm writes them out: in float32 from the power on, which what follows then has; with
// timm's --fast-norm data and weight are cast to 16 bits and all of it has these (timm/layers/fast_norm.py,
// fast_rms_norm2d). What is multiplied without a norm is no part of one.
#[version = "perfc-ir/1"]
def @main(%x: Tensor[(2, 16, 8, 8), float32]) {
  %1 = weight : Tensor[(16, 16, 1, 1), float32];
  %2 = nn.conv2d(%x, %1) @"conv";
  %3 = const[2.0] : Tensor[(), float32];
  %4 = power(%2, %3) @"norm/pow";
  %5 = const[1] : Tensor[(1,), int64];
  %6 = mean(%4, %5, keepdims=1) @"norm/mean";
  %7 = const[1e-6] : Tensor[(), float32];
  %8 = add(%6, %7) @"norm/add";
  %9 = rsqrt(%8) @"norm/rsqrt";
  %10 = multiply(%2, %9) @"norm/mul";
  %11 = weight : Tensor[(1, 16, 1, 1), float32];
  %12 = multiply(%10, %11) @"norm/mul weight";
  %13 = multiply(%12, %11) @"layer scale";
  (%13)
}
// ---- perfc predict %s --emit=kernels --mode eager --dtype amp --predictor whitebox --device a100-40gb
// ---- stdout
// conv cast 32 1536
// conv cast 32 12288
// conv nn.conv2d 16 8704
// norm/pow cast 32 12288
// norm/pow power 32 16388
// norm/mean mean 32 8712
// norm/add add 32 1028
// norm/rsqrt rsqrt 32 1024
// norm/mul multiply 32 12800
// norm/mul weight multiply 32 16448
// layer scale multiply 32 16448
// ---- stderr
// ---- exit 0
// ---- perfc predict %s --emit=kernels --mode eager --dtype amp --norms half --predictor whitebox --device a100-40gb
// ---- stdout
// conv cast 32 1536
// conv cast 32 12288
// conv nn.conv2d 16 8704
// norm/pow power 16 8194
// norm/mean mean 16 4360
// norm/add add 16 514
// norm/rsqrt rsqrt 16 512
// norm/mul multiply 16 8448
// norm/mul weight cast 32 96
// norm/mul weight multiply 16 8224
// layer scale multiply 32 12352
// ---- stderr
// ---- exit 0
