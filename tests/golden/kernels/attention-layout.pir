// RUN: perfc predict %s --emit=kernels --mode eager --dtype fp32 --predictor whitebox --device a100-40gb
// RUN: perfc predict %s --emit=kernels --mode eager --dtype bf16 --predictor whitebox --device a100-40gb
// COLUMNS: node,operators,width,m,n
// Memory-efficient attention writes (batch, queries, heads, channels); flash attention writes as its queries lie, in
// which rotated heads, joined, are in order: what merges the heads copies then. Heads of 20 are padded to 24.
#[version = "perfc-ir/1"]
def @main(%a: Tensor[(2, 4, 16, 32), float32], %b: Tensor[(2, 4, 16, 20), float32]) {
  %2 = concatenate(%a, %a, axis=-1) @"rotate";
  %3 = nn.sdpa(%2, %2, %2) @"attention";
  %4 = transpose(%3, perm=[0, 2, 1, 3]);
  %5 = const[2, 16, 256] : Tensor[(3,), int64];
  %6 = reshape(%4, %5) @"merge";
  %7 = nn.sdpa(%b, %b, %b) @"padded";
  %8 = transpose(%7, perm=[0, 2, 1, 3]);
  %9 = const[2, 16, 80] : Tensor[(3,), int64];
  %10 = reshape(%8, %9) @"merge padded";
  (%6, %10)
}
// ---- perfc predict %s --emit=kernels --mode eager --dtype fp32 --predictor whitebox --device a100-40gb
// ---- stdout
// rotate concatenate 32 128 64
// attention nn.sdpa 32 16 64
// padded nn.sdpa 32 16 20
// ---- stderr
// ---- exit 0
// ---- perfc predict %s --emit=kernels --mode eager --dtype bf16 --predictor whitebox --device a100-40gb
// ---- stdout
// rotate concatenate 16 128 64
// attention nn.sdpa 16 16 64
// merge reshape 16 32 256
// padded full 16 1 3072
// padded nn.pad 16 1 2560
// padded full 16 1 3072
// padded nn.pad 16 1 2560
// padded full 16 1 3072
// padded nn.pad 16 1 2560
// padded nn.sdpa 16 16 20
// merge padded reshape 16 32 80
// ---- stderr
// ---- exit 0
